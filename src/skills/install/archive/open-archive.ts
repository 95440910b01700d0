import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readSmall } from '../../../machine/files/index.ts'
import { runProgram } from '../../../machine/host/index.ts'
import { sha256 } from '../../../kernel/index.ts'
import { download } from '../download.ts'
import { candidatesOf, packageOf } from '../found.ts'
import { type OpenedSource, skillFilesIn } from '../git-source.ts'
import type { Locator } from '../locator.ts'
import type { GitAccess } from '../repository.ts'
import { installError, MESSAGES } from '../messages.ts'
import { ARCHIVE_LIMITS, type ArchiveFile } from './limits.ts'
import type { Unpacked } from './unpack.ts'

const UNPACK_MS = 20_000
const MEMORY_MB = 256

type Access = Pick<GitAccess, 'signal' | 'onBytes'>

/** Opens a zip or tar.gz. Throws FILE_NOT_FOUND, SKILL_INVALID, LIMIT_EXCEEDED, NETWORK_FAILED. */
export async function openArchive(
  locator: Extract<Locator, { type: 'archive' | 'archive-url' }>,
  { signal, onBytes }: Access,
): Promise<OpenedSource> {
  const shown = locator.type === 'archive' ? locator.path : locator.url
  const archive =
    locator.type === 'archive'
      ? readArchive(locator.path)
      : await download(locator.url, { maxBytes: ARCHIVE_LIMITS.archiveBytes, signal, onBytes })
  const files = (await unpack(archive, shown, signal)).filter(({ path }) => !isOfSystem(path))
  const skillFiles = skillFilesIn(
    files.map((file) => ({ ...file, kind: 'file' as const })),
    '',
  )
  const digest = sha256(archive)
  return {
    ...candidatesOf(skillFiles),
    read: async (chosen) =>
      chosen.map((candidate) => {
        const prefix = candidate.path === '' ? '' : `${candidate.path}/`
        const own = files.filter(({ path }) => path.startsWith(prefix))
        return packageOf(
          candidate,
          own.map((file) => ({ ...file, path: file.path.slice(prefix.length) })),
          [],
        )
      }),
    lockedAs: ({ path }) => ({
      type: 'archive',
      sha256: digest,
      path,
      ...(locator.type === 'archive-url' && { url: locator.url }),
    }),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function isOfSystem(path: string): boolean {
  return path.split('/').some((part) => part === '__MACOSX' || part === '.DS_Store')
}

function readArchive(path: string): Uint8Array {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile()) throw installError('FILE_NOT_FOUND', MESSAGES.noArchive(path))
  if (stats.size > ARCHIVE_LIMITS.archiveBytes)
    throw installError(
      'LIMIT_EXCEEDED',
      MESSAGES.archiveRefused(path, `has more than ${ARCHIVE_LIMITS.archiveBytes} bytes`),
    )
  return readSmall(path, { maxBytes: ARCHIVE_LIMITS.archiveBytes }).bytes
}

/** The permission model of Node: the process reads its own code, writes nothing and starts nothing. */
async function unpack(archive: Uint8Array, shown: string, signal?: AbortSignal): Promise<readonly ArchiveFile[]> {
  const script = scriptPath()
  const ended = await runProgram({
    command: [
      process.execPath,
      `--max-old-space-size=${MEMORY_MB}`,
      '--permission',
      `--allow-fs-read=${dirname(script)}`,
      script,
    ],
    environment: {},
    input: archive,
    timeoutMs: UNPACK_MS,
    maxOutputBytes: 2 * ARCHIVE_LIMITS.totalBytes,
    maxErrorBytes: 2_000,
    signal,
  })
  if (ended.type !== 'ended' || ended.code !== 0) {
    const why = ended.type === 'failed' ? ended.why : 'could not be read'
    throw installError('SKILL_INVALID', MESSAGES.archiveRefused(shown, why), Buffer.from(ended.stderr ?? []).toString())
  }
  const output = Buffer.from(ended.stdout)
  const end = output.indexOf(10)
  const head = JSON.parse(output.subarray(0, end).toString('utf8')) as Unpacked
  if ('refused' in head)
    throw installError(head.isLimit ? 'LIMIT_EXCEEDED' : 'SKILL_INVALID', MESSAGES.archiveRefused(shown, head.refused))
  let at = end + 1
  return head.files.map(({ path, size, executable }) => {
    const bytes = output.subarray(at, at + size)
    at += size
    return { path, executable, bytes }
  })
}

/** Beside this file, or beside the library when this is part of the bundled command. */
function scriptPath(): string {
  const here = import.meta.dirname
  const places = ['unpack.ts', 'unpack.js', '../skills/install/archive/unpack.js'].map((place) => join(here, place))
  return places.find((place) => existsSync(place)) ?? join(here, 'unpack.js')
}

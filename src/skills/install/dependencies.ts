import { mkdirSync, statSync } from 'node:fs'
import { dirname, basename } from 'node:path'
import { makeDirectory, sha256 } from '../../kernel/index.ts'
import { Tree } from '../../machine/files/index.ts'
import { findOnPath, runProgram, safePath } from '../../machine/host/index.ts'
import type { InstallProposal } from '../format/index.ts'
import { download } from './download.ts'
import type { GitAccess } from './repository.ts'
import { installError, MESSAGES } from './messages.ts'

/** How a person's own installers are run. */
export interface InstallerAccess extends Pick<GitAccess, 'signal' | 'onBytes' | 'home'> {
  /** See `safePath`: installers are found there, and find theirs. */
  readonly path: string
  /** Variables for proxies, and nothing else of the person's environment. */
  readonly variables: Readonly<Record<string, string>>
}

/** The programs that install, of a person's own PATH. */
const INSTALLERS: ReadonlySet<string> = new Set(['apt-get', 'brew', 'go', 'npm', 'uv'])

/** Where installers are found: on the PATH of the person, but not in the workspace, where agents may put programs. */
export function safeInstallers({ path, workspace, ...access }: InstallerAccess & { readonly workspace: string }): {
  readonly access: InstallerAccess
  readonly has: (name: string) => boolean
} {
  const safe = safePath(path, workspace)
  return { access: { ...access, path: safe }, has: (name) => INSTALLERS.has(name) && 'path' in findOnPath(name, safe) }
}

const INSTALL_MS = 15 * 60_000
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
const MAX_ERROR_BYTES = 16_384
const MAX_DOWNLOAD_BYTES = 256 * 1024 * 1024

/** Why a proposal is not run by Nexus; undefined when it is. */
export function whyNotRun({ problem, commands, download: from, sha256: digest }: InstallProposal): string | undefined {
  if (problem !== undefined) return problem
  if (commands[0]?.[0] === 'sudo') return 'it needs the rights of root'
  return from && digest === undefined ? 'it has no sha256, so the download cannot be checked' : undefined
}

/**
 * Runs the commands of a proposal one after the other, with the person's rights and no shell. A download is checked against its digest before
 * anything is written. Throws SKILL_INVALID for other content, NETWORK_FAILED, FAILED where a program fails, with the end of its output.
 */
export async function runInstall(proposal: InstallProposal, access: InstallerAccess): Promise<void> {
  const { commands, download: from, sha256: digest } = proposal
  if (from) await place(from, digest ?? '', access)
  for (const command of commands.slice(from?.commands ?? 0)) await runOne(command, access)
}

async function place(
  { url, file }: NonNullable<InstallProposal['download']>,
  digest: string,
  access: InstallerAccess,
): Promise<void> {
  const bytes = await download(url, { ...access, maxBytes: MAX_DOWNLOAD_BYTES })
  const got = sha256(bytes)
  if (got !== digest) throw installError('SKILL_INVALID', MESSAGES.otherDownload(url, digest, got))
  makeDirectory(dirname(file), { mkdirSync, statSync })
  using tree = new Tree(dirname(file))
  await tree.write(basename(file), { bytes, mode: 0o644 })
}

async function runOne(
  [name = '', ...args]: readonly string[],
  { path, home, variables, signal }: InstallerAccess,
): Promise<void> {
  const found = findOnPath(name, path)
  if ('why' in found) throw installError('FILE_NOT_FOUND', MESSAGES.noInstaller(name))
  const ended = await runProgram({
    command: [found.path, ...args],
    environment: { ...variables, HOME: home, DEBIAN_FRONTEND: 'noninteractive' },
    ...{ path, timeoutMs: INSTALL_MS, maxOutputBytes: MAX_OUTPUT_BYTES, maxErrorBytes: MAX_ERROR_BYTES, signal },
  })
  if (ended.type === 'ended' && ended.code === 0) return
  const why = ended.type === 'failed' ? ended.why : `ended with ${ended.signal ?? `code ${ended.code}`}`
  const said = new TextDecoder().decode(ended.stderr ?? new Uint8Array()).trimEnd()
  throw installError('INSTALL_FAILED', MESSAGES.installerFailed([name, ...args], why, said.split('\n').slice(-5)))
}

import { closeSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { type FileStamp, NexusError } from '../../kernel/index.ts'
import { createPace, throwIfAborted } from '../pace.ts'
import { type Holding, type OpenDirectory, openRoot } from './beneath.ts'
import { type OpenedFile, readInto, stampOf } from './open.ts'

const MAX_PATH_BYTES = 4_096
const CHUNK_BYTES = 1_048_576

export interface ReadContainedOptions {
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
  /** How directories are held; for tests. Default: what works here. */
  readonly holding?: Holding
}

/** A file's bytes, with the identity they had when they were read. */
export interface ContainedFile {
  readonly bytes: Uint8Array
  readonly path: string
  readonly stamp: FileStamp
  readonly executable: boolean
}

/**
 * Reads one regular file below `root`, whatever the path says and whoever renames directories meanwhile: each part is opened in the
 * directory opened before it, and no link is followed. `root` is a real path. `..` counts by text and may not leave the root.
 * Throws INVALID_ARGUMENT (empty, absolute, NUL, too long, a directory or special file), PATH_OUTSIDE (leaves the root, a link),
 * FILE_NOT_FOUND, LIMIT_EXCEEDED (more than `maxBytes`), SKILL_INVALID (not readable), CANCELLED.
 */
export async function readContained(
  root: string,
  relativePath: string,
  options: ReadContainedOptions,
): Promise<ContainedFile> {
  throwIfAborted(options.signal)
  const parts = pathParts(relativePath)
  const file = openParts(openRoot(root, options.holding), parts)
  try {
    return {
      bytes: await readAll(file, relativePath, options),
      path: [root.replace(/\/+$/, ''), ...parts].join('/'),
      stamp: stampOf(file.stats),
      executable: (file.stats.mode & 0o111) !== 0,
    }
  } finally {
    closeSync(file.fd)
  }
}

/** Why a text cannot be a relative path at all; undefined when it can. */
function unusable(path: string): string | undefined {
  if (path === '') return 'is empty'
  if (path.includes('\0')) return 'holds a NUL character'
  if (!path.isWellFormed()) return 'is not valid Unicode'
  if (isAbsolute(path)) return 'is absolute'
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`
  return undefined
}

/** The parts of a relative path, `.` and `..` resolved by text. */
export function pathParts(path: string): string[] {
  const shown = JSON.stringify(path.slice(0, 200))
  const why = unusable(path)
  const fix = 'give a path relative to the skill, such as references/guide.md'
  if (why !== undefined) throw new NexusError('INVALID_ARGUMENT', `the path ${shown} ${why}`, { fix })
  const parts: string[] = []
  for (const part of path.split(process.platform === 'win32' ? /[\\/]/ : '/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) {
      throw new NexusError('PATH_OUTSIDE', `the path ${shown} leaves the directory it must stay in`, { fix })
    }
  }
  if (parts.length === 0) {
    const cause = Object.assign(new Error('a directory'), { code: 'EISDIR' })
    throw new NexusError('INVALID_ARGUMENT', `the path ${shown} is a directory, not a regular file`, { cause })
  }
  return parts
}

function openParts(root: OpenDirectory, parts: readonly string[]): OpenedFile {
  let directory = root
  try {
    for (const part of parts.slice(0, -1)) {
      const next = directory.directory(part)
      directory.close()
      directory = next
    }
    return directory.file(parts.at(-1) ?? '')
  } finally {
    directory.close()
  }
}

async function readAll(
  file: OpenedFile,
  path: string,
  { maxBytes, signal }: ReadContainedOptions,
): Promise<Uint8Array> {
  const tooLarge = (size: number): NexusError =>
    new NexusError('LIMIT_EXCEEDED', `${JSON.stringify(path)} has ${size} bytes, the limit is ${maxBytes}`)
  if (file.stats.size > maxBytes) throw tooLarge(file.stats.size)
  const pace = createPace(signal)
  const chunks: Uint8Array[] = []
  let total = 0
  for (;;) {
    // One byte more than the file says, so that its end is seen without another round.
    const chunk = new Uint8Array(Math.max(1, Math.min(CHUNK_BYTES, Math.max(0, file.stats.size - total) + 1)))
    const count = readInto(file.fd, chunk, { position: total })
    total += count
    if (total > maxBytes) throw tooLarge(total)
    chunks.push(chunk.subarray(0, count))
    if (count < chunk.length) return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks)
    await pace()
  }
}

import { closeSync, type Stats } from 'node:fs'
import {
  type Directory,
  FileError,
  type Holding,
  type OpenedFile,
  openRoot,
  pathParts,
  readAll,
} from '../files/index.ts'
import type { FileStamp } from '../../kernel/index.ts'
import { createPace, withSkillFailures } from './failures.ts'

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
 * Reads one regular file below `root`, whatever the path says, and while directories are renamed: each part is opened in the
 * directory opened before it, and no link is followed. `root` is a real path. `..` counts by text and may not leave the root.
 * Throws INVALID_ARGUMENT (empty, absolute, NUL, too long, a directory or special file), PATH_OUTSIDE (leaves the root, a link),
 * FILE_NOT_FOUND, LIMIT_EXCEEDED (more than `maxBytes`), SKILL_INVALID (not readable), CANCELLED.
 */
export function readContained(
  root: string,
  relativePath: string,
  { maxBytes, signal, holding }: ReadContainedOptions,
): Promise<ContainedFile> {
  return withSkillFailures(async () => {
    const pace = createPace(signal)
    await pace()
    const parts = partsOfFile(relativePath)
    const file = openParts(openRoot(root, { isReal: true, holding }), parts)
    try {
      return {
        bytes: await readAll(file, relativePath, { maxBytes, pace }),
        path: [root.replace(/\/+$/, ''), ...parts].join('/'),
        stamp: stampOf(file.stats),
        executable: (file.stats.mode & 0o111) !== 0,
      }
    } finally {
      closeSync(file.fd)
    }
  })
}

/** Identity of a file when it was read: another one has other values. */
export function stampOf(stats: Stats): FileStamp {
  return { mtimeMs: stats.mtimeMs, size: stats.size, inode: stats.ino }
}

/** The parts of a relative path; the root itself is not a file. Throws FileError. */
export function partsOfFile(path: string): string[] {
  const parts = pathParts(path)
  if (!path.isWellFormed()) throw new FileError('EINVAL', path)
  if (parts.length === 0) throw new FileError('EISDIR', path)
  return parts
}

function openParts(root: Directory, parts: readonly string[]): OpenedFile {
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

import { closeSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { asFileError, Directory, type Holding } from './directory.ts'
import { FileError, shownPath } from './errors.ts'
import { bytesOf, nameOf } from './names.ts'
import { openDirectoryOnly, type OpenedFile, openRootDirectory } from './open.ts'

export interface RootOptions {
  /** The path is a real one: a root that meanwhile became a link, or is reached through one, is refused with EXDEV. */
  readonly isReal?: boolean
  /** For tests. Default: what works here. */
  readonly holding?: Holding | undefined
}

/** Opens a directory that the caller vouches for. Links in `path` itself are followed, unless it is said to be real. Throws FileError. */
export function openRoot(path: string, { isReal = false, holding }: RootOptions = {}): Directory {
  const root = resolve(path)
  const opened = openAt(root, isReal)
  const held = holding ?? (descriptorsWork(opened) ? 'descriptors' : 'paths')
  try {
    // Held by path, every comparison is with the real one.
    const real = isReal || held === 'paths' ? realPath(opened, root, held) : root
    if (isReal && real !== root)
      throw new FileError('EXDEV', root, { detail: `is reached through a link; its real path is ${shownPath(real)}` })
    return new Directory(opened.fd, real, held === 'paths' ? [{ path: real, stats: opened.stats }] : undefined)
  } catch (error) {
    closeSync(opened.fd)
    throw error
  }
}

function openAt(root: string, isReal: boolean): OpenedFile {
  const at = bytesOf(root)
  try {
    return isReal ? openDirectoryOnly(at) : openRootDirectory(at)
  } catch (error) {
    throw asFileError(error, root, at)
  }
}

function realPath({ fd }: OpenedFile, root: string, holding: Holding): string {
  const real =
    holding === 'descriptors'
      ? readlinkSync(`/proc/self/fd/${fd}`, 'buffer')
      : realpathSync.native(bytesOf(root), 'buffer')
  return nameOf(real)
}

function descriptorsWork({ fd, stats }: OpenedFile): boolean {
  try {
    const seen = statSync(`/proc/self/fd/${fd}`)
    return seen.ino === stats.ino && seen.dev === stats.dev
  } catch {
    // No /proc here (not Linux, or not mounted): the fallback takes over.
    return false
  }
}

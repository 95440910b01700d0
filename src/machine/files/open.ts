import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'

// Windows lacks some of them; 0 changes nothing there, and the checks after opening still hold.
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0, O_NOCTTY = 0, O_DIRECTORY = 0 }: typeof constants = constants

/** macOS only: no component of the path may be a link. Unverified on a real Mac. */
const O_NOFOLLOW_ANY = process.platform === 'darwin' ? 0x20000000 : 0

/** An open file and what it is. The caller closes `fd`. */
export interface OpenedFile {
  readonly fd: number
  readonly stats: Stats
}

const WITHOUT_WAITING = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY

/**
 * Opens for reading without ever waiting (FIFO, terminal) and without following a link at the end of the path. What it is must be looked
 * at before anything is read: reading from a device or a FIFO may have effects.
 */
export function openUnseen(path: string | Buffer): number {
  return openSync(path, WITHOUT_WAITING)
}

/** The same, with what it is. */
export function openWithoutWaiting(path: string | Buffer): OpenedFile {
  return opened(openUnseen(path))
}

/** The same, following links: for a file that its user named. */
export function openAnyWithoutWaiting(path: string | Buffer): OpenedFile {
  return opened(openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY))
}

/** Opens a directory; a link at the end of the path is not followed (on macOS: nowhere in it). */
export function openDirectoryOnly(path: string | Buffer): OpenedFile {
  return opened(openSync(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW | O_NOFOLLOW_ANY))
}

/** The same, following links: for a root, which its user named. */
export function openRootDirectory(path: string | Buffer): OpenedFile {
  return opened(openSync(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK))
}

function opened(fd: number): OpenedFile {
  try {
    return { fd, stats: fstatSync(fd) }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

export function kindOf(stats: Stats): string {
  if (stats.isFile()) return 'a regular file'
  if (stats.isDirectory()) return 'a directory'
  if (stats.isSymbolicLink()) return 'a link'
  if (stats.isFIFO()) return 'a FIFO'
  if (stats.isSocket()) return 'a socket'
  return 'a device'
}

/**
 * Reads an open file into `buffer` until the file ends or the buffer is full; returns the number of bytes. A full buffer means
 * that there may be more. With `size`, what the file had when it was opened, it also ends there, which saves a call to the system.
 */
export function readInto(fd: number, buffer: Uint8Array, { position = 0, size = 0 } = {}): number {
  let length = 0
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, position + length)
    length += count
    if (count === 0 || length === size) break
  }
  return length
}

/** kept: files that a later process of the same user believes, so nobody else may have written them. */
import { closeSync, fstatSync, fsyncSync, lstatSync, mkdirSync, openSync, readdirSync, realpathSync } from 'node:fs'
import { renameSync, rmSync, type Stats, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { openUnseen, readInto } from './open.ts'

/** Where files are kept, or why they cannot be. */
export type KeptPlace =
  | { readonly directory: string; readonly why?: undefined }
  | { readonly directory?: undefined; readonly why: string }

/**
 * `<home>/cache/<name>`, made when it is missing. `why` names the first directory, from the root down, that another user could change or
 * that is a link. Throws what the file system throws.
 */
export function keptPlace(home: string, name: string): KeptPlace {
  const parent = realpathSync.native(dirname(home))
  const own = join(parent, basename(home))
  for (const each of waysTo(parent)) if (!isSafe(lstatSync(each))) return { why: othersCanChange(each) }
  const directory = join(own, 'cache', name)
  for (const each of [own, dirname(directory), directory]) {
    const stats = lstatSync(each, { throwIfNoEntry: false })
    if (stats === undefined) mkdirSync(each, { mode: 0o700 })
    else if (!isOurs(stats) || !stats.isDirectory() || canOthersWrite(stats)) return { why: othersCanChange(each) }
  }
  return { directory }
}

/** The content of a kept file; undefined when there is none, or when it may be of someone else. Never throws. */
export function readKept(path: string, maxBytes: number): Buffer | undefined {
  return withKept(path, maxBytes, (fd, size) => {
    const bytes = Buffer.allocUnsafe(size)
    return readInto(fd, bytes) === size ? bytes : undefined
  })
}

/** Gives each line to `take`, so that no more than a part of the file is in memory. False when not all of it was read, or `take` threw. */
export function readKeptLines(path: string, maxBytes: number, take: (line: string) => void): boolean {
  const isWhole = withKept(path, maxBytes, (fd, size) => {
    const part = Buffer.allocUnsafe(Math.min(size, PART_BYTES))
    let rest = ''
    for (let position = 0; position < size;) {
      const length = readInto(fd, part, { position })
      if (length === 0) return false
      position += length
      const lines = (rest + part.toString('latin1', 0, length)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(line)
    }
    return rest === ''
  })
  return isWhole === true
}

const PART_BYTES = 65_536

function withKept<T>(path: string, maxBytes: number, use: (fd: number, size: number) => T): T | undefined {
  try {
    const fd = openUnseen(path)
    try {
      const stats = fstatSync(fd)
      const isPrivate = stats.isFile() && isOurs(stats) && (stats.mode & 0o777) === 0o600 && stats.nlink === 1
      return isPrivate && stats.size <= maxBytes ? use(fd, stats.size) : undefined
    } finally {
      closeSync(fd)
    }
  } catch {
    // It is missing, or not ours to read.
    return undefined
  }
}

/**
 * Replaces a kept file in one step, and removes all but the newest files of the directory. Never throws: a full disk, or parts that throw,
 * keep nothing.
 */
export function writeKept(path: string, parts: Iterable<string | Buffer>, mostFiles: number): void {
  const part = `${path}.${process.pid}.part`
  try {
    const fd = openSync(part, 'wx', 0o600)
    try {
      for (const each of parts) writeFileSync(fd, each, 'latin1')
      // On disk before it has its name: after a power cut a kept file is whole.
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(part, path)
    removeOldest(dirname(path), mostFiles)
  } catch {
    removeQuietly(part)
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // The directory is closed by now: nothing more can be done here.
  }
}

function removeOldest(directory: string, most: number): void {
  const files = readdirSync(directory).map((name) => {
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return { path, at: stats !== undefined && stats.isFile() ? stats.mtimeMs : 0 }
  })
  const oldest = files.sort((a, b) => b.at - a.at).filter(({ at }, index) => index >= most || at === 0)
  for (const { path } of oldest) removeQuietly(path)
}

/** The directory and all above it, from the root down. */
export function waysTo(directory: string): string[] {
  const above = dirname(directory)
  return above === directory ? [directory] : [...waysTo(above), directory]
}

/** No other user but root can replace what is in it. In a sticky directory only its owner can. */
function isSafe(stats: Stats): boolean {
  return (isOurs(stats) || stats.uid === 0) && (!canOthersWrite(stats) || (stats.mode & 0o1000) !== 0)
}

/** False on systems without users. */
function isOurs({ uid }: Stats): boolean {
  return process.geteuid !== undefined && uid === process.geteuid()
}

function canOthersWrite({ mode }: Stats): boolean {
  return (mode & 0o022) !== 0
}

function othersCanChange(path: string): string {
  return `another user could change ${path}`
}

/** tree: reads and writes below one directory without ever following a link: every step is taken from an open directory. */
import { randomBytes } from 'node:crypto'
import {
  chmodSync, closeSync, constants, fchmodSync, fchownSync, fstatSync, futimesSync, linkSync, lstatSync, mkdirSync, openSync, readdirSync,
  readlinkSync, readSync, renameSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeSync,
} from 'node:fs' // oxfmt-ignore
import { posix } from 'node:path'
import { isOwnerGone, ownerToken } from '../runner/process-tree.ts'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
/** Of open(2) on x64 and arm64; node does not name it. */
const O_PATH = 0o10000000
const MAX_OPEN = 256
/** Directories in each other that are looked into and removed. */
export const MAX_DEPTH = 128
const BLOCK_BYTES = 1024 * 1024
const OWNER = ownerToken()

/** Names of files that are being written; they say which process writes them, and are renamed when whole. */
const PART_NAME = /^\.nexus-part-(\d+-\d+-\d+)-[0-9a-f]{8}$/

/** A new name for a file that is being written. */
export function partName(): string {
  return `.nexus-part-${OWNER}-${randomBytes(4).toString('hex')}`
}

/** Whether a name is that of a file being written: no, yes, or by a process that is gone. */
export function partState(name: string): 'no' | 'writing' | 'left' {
  const owner = PART_NAME.exec(name)?.[1]
  if (owner === undefined) return 'no'
  return isOwnerGone(owner) ? 'left' : 'writing'
}

/** What lies at a path. `other` is a device, a pipe or a socket. */
export interface Entry {
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  /** Changes whenever content, mode or place changes; of a directory only with its mode. */
  readonly stamp: string
  readonly size: number
  /** Permission bits without setuid, setgid and sticky. */
  readonly mode: number
  /** Text of a link. */
  readonly target?: string
}

/** Whom new entries belong to; undefined leaves them to the process. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** A directory and all below it. Paths are relative, with forward slashes; `''` is the directory itself. Close it after use. */
export class Tree {
  readonly #directories = new Map<string, number>()

  constructor(path: string) {
    this.#directories.set('', openSync(path, O_RDONLY | O_DIRECTORY))
  }

  close(): void {
    for (const descriptor of this.#directories.values()) closeSync(descriptor)
    this.#directories.clear()
  }

  /** Names in a directory, unsorted. */
  names(directory: string): string[] {
    return readdirSync(`/proc/self/fd/${this.#open(directory)}`)
  }

  /** What lies at `path`; undefined when nothing does, or when the way to it is not made of directories. */
  entry(path: string): Entry | undefined {
    let place: string
    try {
      place = this.#place(path)
    } catch (error) {
      if (isAbsence(error)) return undefined
      throw error
    }
    const found = lstatSync(place, { bigint: true, throwIfNoEntry: false })
    if (!found) return undefined
    const mode = Number(found.mode & 0o777n)
    const size = Number(found.size)
    if (found.isDirectory()) return { kind: 'directory', stamp: `d${mode}`, size: 0, mode }
    const stamp = `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}:${found.mode}`
    if (found.isSymbolicLink()) return { kind: 'link', stamp, size, mode, target: readlinkSync(place) }
    return { kind: found.isFile() ? 'file' : 'other', stamp, size, mode }
  }

  /** Uid and gid of a directory. */
  ownerOf(directory: string): Owner {
    const { uid, gid } = fstatSync(this.#open(directory))
    return { uid, gid }
  }

  makeDirectory(path: string, options: { mode: number; owner: Owner | undefined }): void {
    mkdirSync(this.#place(path), { mode: 0o700 })
    const descriptor = this.#open(path)
    if (options.owner) fchownSync(descriptor, options.owner.uid, options.owner.gid)
    fchmodSync(descriptor, options.mode)
  }

  makeLink(path: string, target: string): void {
    symlinkSync(target, this.#place(path))
  }

  /** Removes a file, a link or an empty directory. */
  remove(path: string, kind: Entry['kind']): void {
    if (kind !== 'directory') return unlinkSync(this.#place(path))
    this.#forget(path)
    rmdirSync(this.#place(path))
  }

  /** Gives a directory of ours the mode back that lets us in. */
  openUp(directory: string): void {
    // O_PATH needs no permission on the directory, and chmod through it cannot meet a link put there meanwhile.
    const descriptor = openSync(this.#place(directory), O_PATH | O_DIRECTORY | O_NOFOLLOW)
    try {
      chmodSync(`/proc/self/fd/${descriptor}`, 0o700)
    } finally {
      closeSync(descriptor)
    }
  }

  /** Gives what lies at `path` a name beside it that no program looks for, in one step; returns the new path. */
  moveAside(path: string): string {
    const aside = `${path}.nexus-removed-${randomBytes(4).toString('hex')}`
    // What is known below keeps its descriptor, and the old path must not lead there.
    this.#forget(path)
    renameSync(this.#place(path), this.#place(aside))
    return aside
  }

  /** Removes whatever lies at `path`, with all below it. Throws when that is deeper than anybody nests directories. */
  removeAll(path: string, depth = 0): void {
    const found = this.entry(path)
    if (!found) return
    if (found.kind === 'directory') {
      // Every further level costs the whole way down again.
      if (depth > MAX_DEPTH) throw new Error(`more than ${MAX_DEPTH} directories in each other`)
      if ((found.mode & 0o700) !== 0o700) this.openUp(path)
      for (const name of this.names(path)) this.removeAll(posix.join(path, name), depth + 1)
    }
    this.remove(path, found.kind)
  }

  /** Copies a regular file from another tree: written beside, then renamed, so that a reader sees the old or the new. */
  copyFrom(
    source: Tree,
    path: string,
    options: { to?: string; mode: number; owner: Owner | undefined; mustBeNew?: boolean },
  ): void {
    const { to = path, mustBeNew = false } = options
    const part = this.#place(posix.join(posix.dirname(to), partName()))
    const input = openSync(source.#place(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      writePart(part, input, options)
      if (mustBeNew) moveToNew(part, this.#place(to))
      else renameSync(part, this.#place(to))
    } catch (error) {
      rmSync(part, { force: true })
      throw error
    } finally {
      closeSync(input)
    }
  }

  #place(path: string): string {
    const name = posix.basename(path)
    if (name === '' || name === '.' || name === '..') throw new Error(`not a path below the directory: ${path}`)
    return `/proc/self/fd/${this.#open(posix.dirname(path))}/${name}`
  }

  #open(directory: string): number {
    const key = directory === '.' ? '' : directory
    const known = this.#directories.get(key)
    if (known !== undefined) return known
    // Before the way is looked up, so that nothing on it is closed while it is used.
    if (this.#directories.size >= MAX_OPEN) this.#forget(undefined)
    const descriptor = openSync(this.#place(key), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    this.#directories.set(key, descriptor)
    return descriptor
  }

  /** Closes what is known below a path, or everything but the root. */
  #forget(path: string | undefined): void {
    for (const [key, descriptor] of this.#directories) {
      if (key === '' || (path !== undefined && key !== path && !key.startsWith(`${path}/`))) continue
      closeSync(descriptor)
      this.#directories.delete(key)
    }
  }
}

/** True for the errors of a path that does not exist without following links. */
export function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error))
}

/** The code of an error of the file system; empty for others. The runner is staged without the kernel, so this is its own. */
export function codeOf(error: unknown): string {
  return (error as Partial<NodeJS.ErrnoException>).code ?? ''
}

function writePart(part: string, input: number, { mode, owner }: { mode: number; owner: Owner | undefined }): void {
  const found = fstatSync(input)
  if (!found.isFile()) throw new Error('not a regular file')
  const output = openSync(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, found.size + 1))
    for (let got = readSync(input, block); got > 0; got = readSync(input, block)) {
      for (let done = 0; done < got;) done += writeSync(output, block, done, got - done)
    }
    if (owner) fchownSync(output, owner.uid, owner.gid)
    fchmodSync(output, mode)
    futimesSync(output, found.atimeMs / 1000, found.mtimeMs / 1000)
  } finally {
    closeSync(output)
  }
}

/** Unlike rename(2), link(2) never replaces what another writer has put there meanwhile. */
function moveToNew(part: string, to: string): void {
  try {
    linkSync(part, to)
    unlinkSync(part)
  } catch (error) {
    // Some file systems have no links; what is there by now must still not be replaced.
    const hasLinks = !['EPERM', 'ENOTSUP', 'ENOSYS'].includes(codeOf(error))
    if (hasLinks || lstatSync(to, { throwIfNoEntry: false })) throw error
    renameSync(part, to)
  }
}

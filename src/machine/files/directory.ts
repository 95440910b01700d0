import {
  type BigIntStats, chmodSync, closeSync, constants, fchmodSync, fchownSync, fstatSync, fsync, linkSync, lstatSync, mkdirSync, openSync,
  readlinkSync, renameSync, rmdir, rmdirSync, type Stats, symlinkSync, unlinkSync,
} from 'node:fs' // oxfmt-ignore
import { codeOf, FileError } from './errors.ts'
import { below, bytesOf, checkName, nameOf } from './names.ts'
import { kindOf, openDirectoryOnly, type OpenedFile, openWithoutWaiting } from './open.ts'

/** How often the fallback compares path and file; each round halves the chance of a racing attacker several times. */
const ROUNDS = 8
/** A flag of open(2) on x64 and arm64; Node does not name it. */
const O_PATH = 0o10000000

/** The system takes no path of more than 4,096 bytes. */
const MAX_SHORT_PATH = 500

/** How directories are held: `descriptors` where /proc/self/fd works, else `paths`, which can only read. */
export type Holding = 'descriptors' | 'paths'

/** Whom a new entry belongs to; undefined leaves it to the process. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** A directory that is held by its path, and what it was when it was opened. */
export interface Held {
  readonly path: string
  readonly stats: Stats
}

/**
 * An open directory. A name is looked up in this very directory, whatever happens to its path meanwhile, and links are never followed.
 * Each method is one or two calls to the system and throws `FileError`. The caller that opened it closes it.
 */
export class Directory {
  readonly path: string
  /** -1 when closed, so that no descriptor that was given out again is used. */
  #fd: number
  /** This directory and those above it; undefined when it is held by its descriptor. */
  readonly #chain: readonly Held[] | undefined

  constructor(fd: number, path: string, chain?: readonly Held[]) {
    this.#fd = fd
    this.path = path
    this.#chain = chain
  }

  /** Where directories are held by path: throws EAGAIN when this one is elsewhere by now. What was listed there is then not ours. */
  checkPlace(): void {
    for (let round = 0; this.#chain && round < 4 * ROUNDS; round++)
      if (!this.#chain.every(isStillThere)) throw new FileError('EAGAIN', this.path)
  }

  get holding(): Holding {
    return this.#chain ? 'paths' : 'descriptors'
  }

  get place(): string | Buffer {
    return this.#chain ? bytesOf(this.path) : `/proc/self/fd/${this.#fd}`
  }

  /** Device and inode, which stay the same wherever it is moved. */
  identity(): string {
    const { dev, ino } = fstatSync(this.#fd, { bigint: true })
    return `${dev}:${ino}`
  }

  stats(): Stats {
    return fstatSync(this.#fd)
  }

  /** The entry of a name, without following it; undefined when it is not there. */
  look(name: string): Stats | undefined {
    checkName(name)
    return this.#try(name, (at) => lstatSync(at, { throwIfNoEntry: false }))
  }

  /** The same with times in nanoseconds. */
  lookExactly(name: string): BigIntStats | undefined {
    checkName(name)
    return this.#try(name, (at) => lstatSync(at, { bigint: true, throwIfNoEntry: false }))
  }

  /** The entry by the directory's path, at half the cost. Where another program moves things meanwhile, the entry may be another one's: only for comparing. */
  lookByPath(name: string): Stats | undefined {
    if (this.#chain || this.path.length > MAX_SHORT_PATH) return this.look(name)
    try {
      return lstatSync(bytesOf(below(this.path, name)), { throwIfNoEntry: false })
    } catch {
      // The path leads elsewhere by now.
      return undefined
    }
  }

  /** Throws ELOOP for a link, ENOTDIR for anything else that is not a directory. */
  directory(name: string): Directory {
    const path = below(this.path, name)
    const { fd, stats } = this.#opened(name, openDirectoryOnly)
    return new Directory(fd, path, this.#chain && [...this.#chain, { path, stats }])
  }

  /** Opens for reading, never waiting. Throws ELOOP for a link, EISDIR, and ENXIO for a FIFO, socket or device. The caller closes `fd`. */
  file(name: string): OpenedFile {
    const file = this.#opened(name, openWithoutWaiting)
    if (file.stats.isFile()) return file
    closeSync(file.fd)
    const path = below(this.path, name)
    if (file.stats.isDirectory()) throw new FileError('EISDIR', path)
    throw new FileError('ENXIO', path, { detail: kindOf(file.stats) })
  }

  /** The directory around this one, which must be the one that `identity` names. Throws EAGAIN when this one was moved. */
  parent(path: string, identity: string): Directory {
    const { fd } = this.#try('..', (at) => openDirectoryOnly(at))
    const parent = new Directory(fd, path)
    if (parent.identity() === identity) return parent
    parent.close()
    throw new FileError('EAGAIN', this.path)
  }

  linkText(name: string): string {
    checkName(name)
    return nameOf(this.#try(name, (at) => readlinkSync(at, 'buffer')))
  }

  /** Makes a file that was not there and opens it; the caller closes it. The umask takes from the mode. Throws EEXIST, also for a link. */
  create(name: string, mode: number): number {
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
    return this.#change(name, (at) => openSync(at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode))
  }

  /** Default mode: 777 without the umask. */
  makeDirectory(name: string, { mode, owner }: { mode?: number; owner?: Owner | undefined }): void {
    this.#change(name, (at) => mkdirSync(at, { mode: mode === undefined ? 0o777 : 0o700 }))
    if (mode === undefined && owner === undefined) return
    const made = this.directory(name)
    try {
      if (owner) fchownSync(made.#fd, owner.uid, owner.gid)
      if (mode !== undefined) fchmodSync(made.#fd, mode)
    } finally {
      made.close()
    }
  }

  makeLink(name: string, target: string): void {
    const text = bytesOf(target)
    this.#change(name, (at) => symlinkSync(text, at))
  }

  /** Removes anything but a directory. */
  unlink(name: string): void {
    this.#change(name, unlinkSync)
  }

  removeDirectory(name: string): void {
    this.#change(name, (at) => rmdirSync(at))
  }

  /** The same in another thread, for a directory that had many entries. */
  async removeLargeDirectory(name: string): Promise<void> {
    const at = this.#change(name, (place) => place)
    await new Promise<void>((resolve, reject) => {
      rmdir(at, (error) => (error ? reject(asFileError(error, below(this.path, name), at)) : resolve()))
    })
  }

  /** Renames within the directory, or into another; what has the new name is replaced. */
  rename(name: string, to: string, directory: Directory = this): void {
    this.#change(name, (at) => directory.#change(to, (target) => renameSync(at, target)))
  }

  /** Gives a file a second name, in the directory or in another. Throws EEXIST: unlike `rename` it never replaces. */
  link(name: string, to: string, directory: Directory = this): void {
    this.#change(name, (at) => directory.#change(to, (target) => linkSync(at, target)))
  }

  /** Sets the mode of a directory or file in it, also of one without access rights. */
  setMode(name: string, mode: number, kind: 'directory' | 'file' = 'directory'): void {
    const { O_NOFOLLOW } = constants
    const only = kind === 'directory' ? constants.O_DIRECTORY : 0
    // O_PATH needs no permission on it, and chmod through it cannot meet a link put there meanwhile.
    const fd = this.#change(name, (at) => openSync(at, O_PATH | only | O_NOFOLLOW))
    try {
      this.#change(name, () => chmodSync(`/proc/self/fd/${fd}`, mode))
    } finally {
      closeSync(fd)
    }
  }

  /** Returns when names that were made or removed in it would survive a loss of power. */
  sync(): Promise<void> {
    return syncFile(this.#fd)
  }

  close(): void {
    const fd = this.#fd
    this.#fd = -1
    if (fd >= 0) closeSync(fd)
  }

  #at(name: string): string | Buffer {
    if (this.#fd < 0) throw new FileError('EBADF', this.path)
    const bytes = bytesOf(this.#chain ? below(this.path, name) : name)
    if (this.#chain) return bytes
    const directory = `/proc/self/fd/${this.#fd}/`
    return typeof bytes === 'string' ? directory + bytes : Buffer.concat([Buffer.from(directory), bytes])
  }

  #try<T>(name: string, step: (at: string | Buffer) => T): T {
    const at = this.#at(name)
    try {
      return step(at)
    } catch (error) {
      throw asFileError(error, below(this.path, name), at)
    }
  }

  /** Without descriptors an attacker could have it done elsewhere. */
  #change<T>(name: string, step: (at: string | Buffer) => T): T {
    checkName(name)
    if (this.#chain) throw new FileError('ENOTSUP', below(this.path, name))
    return this.#try(name, step)
  }

  #opened(name: string, open: (at: string | Buffer) => OpenedFile): OpenedFile {
    checkName(name)
    const opened = this.#try(name, open)
    if (this.#chain) checkPlace(this.#chain, { path: below(this.path, name), ...opened })
    return opened
  }
}

/** Returns when a file, or the names of a directory, would survive a loss of power. (`promisify` would load half of Node.) */
export function syncFile(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (error) => (error ? reject(error) : resolve()))
  })
}

/** Closes the file when its path, or one above it, leads elsewhere by now. */
function checkPlace(chain: readonly Held[], opened: OpenedFile & { readonly path: string }): void {
  for (let round = 0; round < ROUNDS; round++) {
    if (chain.every(isStillThere) && isStillThere(opened) && chain.every(isStillThere)) continue
    closeSync(opened.fd)
    throw new FileError('EAGAIN', opened.path)
  }
}

function isStillThere({ path, stats }: Held): boolean {
  const now = lstatSync(bytesOf(path), { throwIfNoEntry: false })
  return now !== undefined && now.ino === stats.ino && now.dev === stats.dev
}

/** The system's error under the path that is meant. A link has one code, however it was met. */
export function asFileError(cause: unknown, path: string, at: string | Buffer): FileError {
  if (cause instanceof FileError) return cause
  const code = codeOf(cause)
  const isLink = ['ELOOP', 'ENOTDIR', 'EMLINK'].includes(code) && isLinkAt(at)
  return new FileError(isLink ? 'ELOOP' : code, path, { cause })
}

function isLinkAt(at: string | Buffer): boolean {
  try {
    return lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  } catch {
    // Only the code of an error depends on it.
    return false
  }
}

import { closeSync, type Stats } from 'node:fs'
import { Chain } from './chain.ts'
import type { Directory, Owner } from './directory.ts'
import { codeOf, FileError, isAbsence } from './errors.ts'
import { type Kind, kindOfEntry, listNames, type ListOptions, type Named } from './list.ts'
import { readInto } from './open.ts'
import type { Pace } from './pace.ts'
import { readAll } from './read.ts'
import { removeBelow, type Removed, type RemoveOptions } from './remove.ts'
import { openRoot, type RootOptions } from './root.ts'
import { type StoppedBy, walk, type WalkOptions } from './walk.ts'
import { copyFile, type CopyOptions, writeFile, type WriteOptions } from './write.ts'

const PART_BYTES = 65_536
const SECOND_NS = 1_000_000_000n

export interface Entry {
  readonly kind: Kind
  /** Changes whenever content, mode or place changes; of a directory only with its mode. */
  readonly stamp: string
  readonly size: number
  /** Permission bits without setuid, setgid and sticky. */
  readonly mode: number
  readonly target?: string
  /** Besides of a directory, for `isStill`: inode and time of its last change, as `Stats` has them. */
  readonly inode?: number
  readonly changedMs?: number
}

/** A file's bytes, and what it was when it was opened. */
export interface FileRead {
  readonly bytes: Uint8Array
  readonly size: number
  readonly mode: number
}

export interface TreeWrite extends Omit<WriteOptions, 'beforeRename'> {
  readonly bytes: Uint8Array
  /** Directories on the way that are missing are made, with mode 777 without the umask. */
  readonly makesParents?: boolean
  /** New entries get the owner of the directory that they are made in. Only root may give files away. */
  readonly inheritsOwner?: boolean
  /** `Entry.stamp` of the file that is replaced. */
  readonly replaces?: string
}

/**
 * One directory and all below it, by paths: relative, with forward slashes, as `pathParts` and `walk` give them; `''` is the directory itself.
 * Bytes of names that are not UTF-8 are U+DC80 to U+DCFF in them. No step follows a link, so nothing outside is read or changed.
 * It remembers where it was last, so steps that are near each other cost little. Await a step before the next. Close it after use.
 */
export class Tree {
  readonly #root: Directory
  readonly #chain: Chain

  /** The root is opened as by `openRoot`. Throws FileError, as every method. */
  constructor(path: string, options?: RootOptions) {
    this.#root = openRoot(path, options)
    this.#chain = new Chain(this.#root)
  }

  close(): void {
    this.#chain.close()
    this.#root.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  /** Entries of a directory, unsorted. */
  async list(path: string, options?: ListOptions): Promise<{ entries: Named[]; isComplete: boolean }> {
    return listNames(this.#at(path), options)
  }

  /** Visits everything below the root. Other steps may be taken meanwhile. */
  walk(options: WalkOptions): Promise<StoppedBy> {
    return walk(this.#root, options)
  }

  /** The entry at `path`; undefined when nothing does, or when the way to it is not made of directories. */
  entry(path: string): Entry | undefined {
    try {
      const { directory, name } = this.#around(path)
      return entryIn(directory, name)
    } catch (error) {
      if (isAbsence(error)) return undefined
      throw error
    }
  }

  /** Inode and time of the last change of what lies at `path`: of a directory also of its names. Undefined as for `entry`. */
  changeOf(path: string): { readonly inode: bigint; readonly atNs: bigint } | undefined {
    try {
      const { directory, name } = this.#around(path)
      const found = directory.lookExactly(name)
      return found && { inode: found.ino, atNs: found.ctimeNs }
    } catch (error) {
      if (isAbsence(error)) return undefined
      throw error
    }
  }

  ownerOf(path: string): Owner {
    return ownerOf(this.#at(path))
  }

  /** A regular file. Throws ENOENT, ELOOP, EISDIR, ENXIO for a FIFO, socket or device, EFBIG for more than `maxBytes`. */
  async read(path: string, options: { readonly maxBytes: number; readonly pace?: Pace }): Promise<FileRead> {
    const { directory, name } = this.#around(path)
    const file = directory.file(name)
    try {
      const { size, mode } = file.stats
      return { bytes: await readAll(file, path, options), size, mode: mode & 0o777 }
    } finally {
      closeSync(file.fd)
    }
  }

  /** Gives the bytes of a regular file in parts; each is valid until the next. Throws as `read`. */
  async readParts(path: string, take: (part: Uint8Array) => void, pace?: Pace): Promise<void> {
    const { directory, name } = this.#around(path)
    const { fd } = directory.file(name)
    const buffer = Buffer.allocUnsafe(PART_BYTES)
    try {
      for (let position = 0, got = PART_BYTES; got === PART_BYTES; position += got) {
        got = readInto(fd, buffer, { position })
        take(buffer.subarray(0, got))
        const pause = pace?.()
        if (pause) await pause
      }
    } finally {
      closeSync(fd)
    }
  }

  /** See `writeFile`, and `TreeWrite`. Throws ESTALE when another file than `replaces` is there. */
  async write(path: string, { makesParents, inheritsOwner = false, replaces, ...options }: TreeWrite): Promise<void> {
    const { directory, name } = this.#around(path, makesParents && { inheritsOwner })
    const check = (): void => {
      if (entryIn(directory, name)?.stamp !== replaces) throw new FileError('ESTALE', path)
    }
    const owner = inheritsOwner && !directory.look(name) ? ownerOf(directory) : undefined
    await writeFile(directory, name, {
      ...options,
      owner: options.owner ?? owner,
      beforeRename: replaces === undefined ? undefined : check,
    })
  }

  /** Copies a file of another tree; see `copyFile`. `to` is its path here, by default the same. */
  async copyFrom(
    source: Tree,
    path: string,
    options: CopyOptions & { readonly to?: string },
  ): Promise<Entry | undefined> {
    const { directory, name } = source.#around(path)
    const from = directory.file(name)
    try {
      const target = this.#around(options.to ?? path)
      const found = await copyFile(target.directory, target.name, { ...options, from })
      return found && entryIn(target.directory, target.name, found)
    } finally {
      closeSync(from.fd)
    }
  }

  /** Moves what lies at `path` of another tree of the same file system, in one step. What is at `to` is replaced, but no directory. */
  moveFrom(source: Tree, path: string, to: string): void {
    const { directory, name } = source.#around(path)
    const target = this.#around(to)
    directory.rename(name, target.name, target.directory)
  }

  /** Gives a name of the root, not a directory, a second path. Throws EEXIST. */
  link(name: string, to: string): void {
    const target = this.#around(to)
    this.#root.link(name, target.name, target.directory)
  }

  /** Gives a file of a directory elsewhere a second name here, never following it. Throws EXDEV for another file system. */
  linkFrom(source: Directory, name: string, to: string): void {
    const target = this.#around(to)
    source.link(name, target.name, target.directory)
  }

  makeDirectory(path: string, options: { readonly mode: number; readonly owner?: Owner | undefined }): void {
    const { directory, name } = this.#around(path)
    directory.makeDirectory(name, options)
  }

  makeLink(path: string, target: string): void {
    const { directory, name } = this.#around(path)
    directory.makeLink(name, target)
  }

  /** Removes a file, a link or an empty directory. */
  remove(path: string, kind: Kind): void {
    const { directory, name } = this.#around(path)
    if (kind === 'directory') directory.removeDirectory(name)
    else directory.unlink(name)
  }

  /** Removes whatever lies at `path`, with all below it; see `removeBelow`. */
  async removeAll(path: string, options?: RemoveOptions): Promise<Removed> {
    try {
      const { directory, name } = this.#around(path)
      return await removeBelow(directory, name, options)
    } catch (error) {
      if (isAbsence(error)) return { entries: 0, failures: [], stoppedBy: undefined, isGone: true }
      throw error
    }
  }

  /** Gives a directory of ours the mode that lets us in. */
  openUp(path: string): void {
    const { directory, name } = this.#around(path)
    directory.setMode(name, 0o700)
  }

  /** Gives what lies at `path` another name in its directory, in one step. What has that name is replaced. */
  rename(path: string, to: string): void {
    const { directory, name } = this.#around(path)
    directory.rename(name, to)
  }

  #at(path: string): Directory {
    return this.#chain.goTo(path === '.' ? '' : path)
  }

  /** The directory that `path` lies in. The chain ends there, so what is below is opened anew next time. */
  #around(
    path: string,
    makesParents?: false | { readonly inheritsOwner: boolean },
  ): { directory: Directory; name: string } {
    const slash = path.lastIndexOf('/')
    const above = slash < 0 ? '' : path.slice(0, slash)
    const name = path.slice(slash + 1)
    if (!makesParents) return { directory: this.#at(above), name }
    for (const [index, part] of above.split('/').entries()) {
      if (part !== '') makeOne(this.#at(above.split('/').slice(0, index).join('/')), part, makesParents)
    }
    return { directory: this.#at(above), name }
  }
}

function ownerOf(directory: Directory): Owner {
  const { uid, gid } = directory.stats()
  return { uid, gid }
}

function makeOne(directory: Directory, name: string, { inheritsOwner }: { readonly inheritsOwner: boolean }): void {
  const owner = inheritsOwner ? ownerOf(directory) : undefined
  try {
    if (!directory.look(name)) directory.makeDirectory(name, { owner })
  } catch (error) {
    // Another process made it at the same time; when it is not a directory, entering it fails.
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** The entry of a name in a directory, or of what was found there. */
export function entryIn(directory: Directory, name: string, found = directory.lookExactly(name)): Entry | undefined {
  if (!found) return undefined
  const kind = kindOfEntry(found)
  const mode = Number(found.mode & 0o777n)
  if (kind === 'directory') return { kind, stamp: `d${mode}`, size: 0, mode }
  const stamp = `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}:${found.mode}`
  const changedMs = Number(found.ctimeNs / SECOND_NS) * 1000 + Number(found.ctimeNs % SECOND_NS) / 1e6
  const entry = { kind, stamp, size: Number(found.size), mode, inode: Number(found.ino), changedMs }
  return kind === 'link' ? { ...entry, target: directory.linkText(name) } : entry
}

/**
 * Whether an entry is still as it was, by numbers alone, which cost a third of a stamp. The system sets the time of an inode's last change
 * whenever its bytes, mode, owner, times or names change, and lets no program set it.
 */
export function isStill({ kind, size, mode, inode, changedMs }: Entry, found: Stats): boolean {
  if (kindOfEntry(found) !== kind || (found.mode & 0o777) !== mode) return false
  return kind === 'directory' || (found.ctimeMs === changedMs && found.ino === inode && found.size === size)
}

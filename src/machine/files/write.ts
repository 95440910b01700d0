import {
  type BigIntStats,
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  futimesSync,
  readFileSync,
  statSync,
} from 'node:fs'
import { writeSync } from 'node:fs'
import { type Directory, type Owner, syncFile } from './directory.ts'
import { codeOf, FileError } from './errors.ts'
import { below, checkName } from './names.ts'
import { type OpenedFile, readInto } from './open.ts'
import { createPace, type Pace } from './pace.ts'

const CHUNK_BYTES = 262_144
/** Smallest hole that is kept: a block of usual file systems. */
const BLOCK_BYTES = 4_096
const PERMISSIONS = 0o777

/** Names of files that are being written; they say which process writes them, and are renamed when whole. */
const PART_NAME = /^\.nexus-part-(\d+-\d+-\d+)-[0-9a-f]{8}$/

/** A new name for a file that is being written. */
export function partName(): string {
  return `.nexus-part-${ownerToken()}-${Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString('hex')}`
}

/** Whether a name is that of a file being written: no, yes, or by a process that is gone. */
export function partState(name: string): 'no' | 'writing' | 'left' {
  const owner = PART_NAME.exec(name)?.[1]
  if (owner === undefined) return 'no'
  return isOwnerGone(owner) ? 'left' : 'writing'
}

export interface WriteOptions {
  /** Permission bits. Default: those of the file that is replaced, else 666 without the umask. */
  readonly mode?: number
  /** Default: the owner of the file that is replaced, where the system allows it. */
  readonly owner?: Owner | undefined
  /** Never replaces: throws EEXIST when the name is taken, also by a link. */
  readonly mustBeNew?: boolean
  /** For a directory that nobody reads before it is whole: the file is new, and written under its own name. */
  readonly isStaged?: boolean
  /** Returns only when it would survive a loss of power. */
  readonly isDurable?: boolean
  /** Called right before the new content gets its name; what it throws leaves the old one. */
  readonly beforeRename?: (() => void) | undefined
  readonly pace?: Pace
}

/**
 * Writes a file whole: beside, then renamed, so that a reader sees the old one or the new one. The mode stays; times, access lists and
 * extended attributes are new. Throws ELOOP for a link, EISDIR, ENXIO for what is not a file, and EMLINK for a file with a second name.
 */
export async function writeFile(
  directory: Directory,
  name: string,
  { bytes, ...options }: WriteOptions & { readonly bytes: Uint8Array },
): Promise<void> {
  const before = options.mustBeNew || options.isStaged ? undefined : replaceable(directory, name)
  const { mode = before?.mode, owner = before?.owner, pace = createPace() } = options
  await replace(directory, name, {
    ...options,
    // Until it is whole no other user reads it; without a mode the umask decides.
    partMode: mode === undefined ? 0o666 : 0o600,
    fill: async (fd) => {
      await writeSlices(fd, bytes, pace)
      give(fd, mode, owner, options.owner === undefined)
    },
  })
}

async function writeSlices(fd: number, bytes: Uint8Array, pace: Pace): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += writeSync(fd, bytes, at, Math.min(CHUNK_BYTES, bytes.length - at))
    const pause = pace()
    if (pause) await pause
  }
}

export interface CopyOptions {
  readonly mode: number
  readonly owner?: Owner | undefined
  readonly mustBeNew?: boolean
  /** See `WriteOptions`. */
  readonly isStaged?: boolean
  readonly pace?: Pace
}

/**
 * Copies an open file with its times, whole or not at all; holes stay holes. What has the name is replaced, but no directory.
 * Returns what a staged file is then.
 */
export async function copyFile(
  to: Directory,
  name: string,
  { from, ...options }: CopyOptions & { readonly from: OpenedFile },
): Promise<BigIntStats | undefined> {
  const { mode, owner, isStaged, pace = createPace() } = options
  let made: BigIntStats | undefined
  await replace(to, name, {
    ...options,
    fill: async (fd) => {
      await copyBytes(from, fd, pace)
      give(fd, mode, owner, false)
      futimesSync(fd, from.stats.atimeMs / 1000, from.stats.mtimeMs / 1000)
      if (isStaged) made = fstatSync(fd, { bigint: true })
    },
  })
  return made
}

interface Filling extends Pick<WriteOptions, 'mustBeNew' | 'isStaged' | 'isDurable' | 'beforeRename'> {
  readonly partMode?: number
  readonly fill: (fd: number) => Promise<void>
}

async function replace(directory: Directory, name: string, filling: Filling): Promise<void> {
  const { fill, mustBeNew, isStaged, isDurable, partMode = 0o600 } = filling
  checkName(name)
  const part = isStaged ? name : partName()
  const fd = directory.create(part, partMode)
  try {
    try {
      await fill(fd)
      if (isDurable) await syncFile(fd)
    } finally {
      closeSync(fd)
    }
    filling.beforeRename?.()
    if (mustBeNew) moveToNew(directory, part, name)
    else if (!isStaged) directory.rename(part, name)
  } catch (error) {
    removeQuietly(directory, part)
    throw error
  }
  if (isDurable) await directory.sync()
}

/** Unlike rename(2), link(2) never replaces what another writer has put there meanwhile. */
function moveToNew(directory: Directory, part: string, name: string): void {
  try {
    directory.link(part, name)
  } catch (error) {
    // Some file systems have no links; what is there by now must still not be replaced.
    const hasLinks = !['EPERM', 'ENOTSUP', 'ENOSYS'].includes(codeOf(error))
    if (hasLinks || directory.look(name)) throw error
    return directory.rename(part, name)
  }
  directory.unlink(part)
}

function removeQuietly(directory: Directory, part: string): void {
  try {
    directory.unlink(part)
  } catch {
    // It was renamed already, or its directory is gone or closed. A later look finds it by its name.
  }
}

/** Attributes of a file that is to be replaced; undefined when there is none. */
function replaceable(directory: Directory, name: string): { mode: number; owner: Owner } | undefined {
  const stats = directory.look(name)
  if (!stats) return undefined
  const path = below(directory.path, name)
  if (stats.isSymbolicLink()) throw new FileError('ELOOP', path)
  if (stats.isDirectory()) throw new FileError('EISDIR', path)
  if (!stats.isFile()) throw new FileError('ENXIO', path)
  if (stats.nlink > 1) throw new FileError('EMLINK', path)
  return { mode: stats.mode & PERMISSIONS, owner: { uid: stats.uid, gid: stats.gid } }
}

function give(fd: number, mode: number | undefined, owner: Owner | undefined, isOptional: boolean): void {
  const { uid, gid } = fstatSync(fd)
  if (owner && (owner.uid !== uid || owner.gid !== gid)) {
    try {
      fchownSync(fd, owner.uid, owner.gid)
    } catch (error) {
      // The file of another user in a directory of ours: it becomes ours, as with every editor.
      if (!isOptional || codeOf(error) !== 'EPERM') throw error
    }
  }
  if (mode !== undefined) fchmodSync(fd, mode)
}

async function copyBytes({ fd: from, stats: { size, blocks } }: OpenedFile, to: number, pace: Pace): Promise<void> {
  const hasHoles = blocks * 512 < size
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size + 1))
  const zeros = Buffer.alloc(hasHoles ? BLOCK_BYTES : 0)
  let length = 0
  for (let got = buffer.length; got === buffer.length;) {
    got = readInto(from, buffer, { position: length, size })
    const step = hasHoles ? BLOCK_BYTES : CHUNK_BYTES
    for (let at = 0; at < got; at += step) {
      const block = buffer.subarray(at, Math.min(at + step, got))
      if (!hasHoles || !block.equals(zeros.subarray(0, block.length))) writeAll(to, block, length + at)
    }
    length += got
    const pause = pace()
    if (pause) await pause
  }
  if (hasHoles) ftruncateSync(to, length)
}

function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done, position + done)
}

/** Names this process for good, as part of a file name: pid namespace, pid and start time. Without /proc only its pid. */
export function ownerToken(): string {
  return `${pidNamespace()}-${process.pid}-${startTimeOf(process.pid)}`
}

/** True when the process of a token is gone. One of another pid namespace, such as another container, counts as living. */
export function isOwnerGone(token: string): boolean {
  const [namespace, pid = -1, start] = token.split('-').map(Number)
  if (namespace !== pidNamespace()) return false
  const present = startTimeOf(pid)
  // A process of another user may be hidden in /proc.
  return present === 0 ? !isRunning(pid) : present !== start
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function pidNamespace(): number {
  return statSync('/proc/self/ns/pid', { throwIfNoEntry: false })?.ino ?? 0
}

/** Start of a process in clock ticks since boot; 0 when there is none. */
function startTimeOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name of the program, which may contain anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  } catch {
    // The process is gone.
    return 0
  }
}

/** scan: lists a tree in slices, so that a large workspace does not hold up the event loop. */
import {
  createPace,
  type Directory,
  type Entry,
  entryIn,
  isStill,
  type Met,
  type Pace,
  partState,
  type Tree,
} from '../../files/index.ts'
import type { NexusError } from '../../../kernel/index.ts'
import { REQUESTS, sandboxError } from '../messages.ts'

/** Rights of the owner, without which an entry could not be taken back. */
const NEEDED = { directory: 0o700, file: 0o400, link: 0, other: 0 } as const
/** Longest path that is mirrored, in characters. No program opens a longer one (PATH_MAX), but who changes directory step by step comes there. */
const MAX_PATH = 4_096
const NO_LIMITS: MirrorLimits = { maxFiles: Infinity, maxBytes: Infinity }

/** Bounds of a workspace that is mirrored. */
export interface MirrorLimits {
  /** Files, directories and links together. */
  readonly maxFiles: number
  readonly maxBytes: number
}

/** The entries of a tree, parents before their children. */
export interface Listing {
  readonly entries: ReadonlyMap<string, Entry>
  /** Devices, pipes and sockets, which are not mirrored. */
  readonly others: readonly string[]
  /** Devices with the number 0: in the upper directory of an overlay each is a removal. */
  readonly gone: readonly string[]
  /** Entries with a path that no program can open, which are not mirrored. */
  readonly deep: readonly string[]
  /** Half-written files of processes of ours that were killed. */
  readonly leftovers: readonly string[]
  /** False when there is more than `maxEntries`. */
  readonly isComplete: boolean
}

/** How to list. */
export interface ListOptions {
  /** With more, it throws. */
  readonly limits?: MirrorLimits
  readonly maxEntries?: number
  readonly pace?: Pace
  /** Opens directories and files without access rights; otherwise such directories are read as empty. */
  readonly opens?: boolean
  /** The entry of before, which is given again when nothing changed. */
  readonly known?: (path: string) => Entry | undefined
  /** Asked for each directory; when true, it is listed and what is in it is not. */
  readonly leavesOut?: (path: string) => boolean
}

/** Lists everything. Throws LIMIT_EXCEEDED when there is more than the limits allow, and what the pace throws. */
export async function listTree(tree: Tree, options: ListOptions): Promise<Listing> {
  const { limits = NO_LIMITS, maxEntries = Infinity, pace = createPace(), leavesOut } = options
  const listing: OpenListing = { entries: new Map(), others: [], gone: [], deep: [], leftovers: [] }
  let bytes = 0
  const stoppedBy = await tree.walk({
    pace,
    maxEntries,
    visit: (met) => {
      const entry = take(met, listing, options)
      bytes += entry?.size ?? 0
      if (listing.entries.size > limits.maxFiles)
        throw tooLarge(`more than ${limits.maxFiles} files`, 'execution.workspace.maxFiles')
      if (bytes > limits.maxBytes) throw tooLarge(`more than ${limits.maxBytes} bytes`, 'execution.workspace.maxBytes')
      return entry !== undefined && !(entry.kind === 'directory' && leavesOut?.(met.path))
    },
    onClosed: (path, error) => {
      if (options.opens || path === '') throw error
    },
  })
  return { ...listing, isComplete: stoppedBy === undefined }
}

/** A listing that is being made. */
interface OpenListing {
  readonly entries: Map<string, Entry>
  readonly others: string[]
  readonly gone: string[]
  readonly deep: string[]
  readonly leftovers: string[]
}

/** Puts one path where it belongs; returns the entry when it is one to mirror. */
function take({ path, name, directory }: Met, listing: OpenListing, options: ListOptions): Entry | undefined {
  const part = partState(name)
  if (part === 'left') listing.leftovers.push(path)
  const entry = part === 'no' ? entryAt(directory, name, options.known?.(path)) : undefined
  if (entry === undefined) return undefined
  if (path.length > MAX_PATH) listing.deep.push(path)
  else if (entry.kind === 'other') listing[isGone(directory, name) ? 'gone' : 'others'].push(path)
  else return keep(path, options.opens ? opened({ name, directory }, entry) : entry, listing)
  return undefined
}

/**
 * Each file is looked at: times of directories say only which names changed. The look by path is for comparing; where it shows anything else
 * than what is known, the entry is looked at in its very directory.
 */
function entryAt(directory: Directory, name: string, known: Entry | undefined): Entry | undefined {
  const found = known && directory.lookByPath(name)
  return found && isStill(known, found) ? known : entryIn(directory, name)
}

function isGone(directory: Directory, name: string): boolean {
  const found = directory.look(name)
  return found?.isCharacterDevice() === true && found.rdev === 0
}

function keep(path: string, entry: Entry, { entries }: OpenListing): Entry {
  entries.set(path, entry)
  return entry
}

/** A directory or file that a command closed is taken back open: it could not be copied otherwise. */
function opened({ name, directory }: Pick<Met, 'name' | 'directory'>, entry: Entry): Entry {
  const needed = NEEDED[entry.kind]
  if ((entry.mode & needed) === needed) return entry
  directory.setMode(name, entry.mode | needed, entry.kind === 'directory' ? 'directory' : 'file')
  return entryIn(directory, name) ?? entry
}

/** Throws the first failure: a mirror that keeps what it should not have is given up. */
export async function removeWhole(tree: Tree, path: string): Promise<void> {
  const { failures } = await tree.removeAll(path)
  if (failures[0]) throw failures[0]
}

function tooLarge(what: string, option: string): NexusError {
  return sandboxError(REQUESTS.tooLargeToMirror({ what, setting: option }))
}

/** scan: lists a tree in slices, so that a large workspace does not hold up the event loop. */
import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { NexusError } from '../../kernel/index.ts'
import { protectedPlace } from './protected.ts'
import { type Entry, isAbsence, partState, type Tree } from './tree.ts'

/** Entries between two turns of the event loop: about 2 ms of work. */
const SLICE = 256

/** Bounds of a workspace that is mirrored. */
export interface MirrorLimits {
  /** Files, directories and links together. */
  readonly maxFiles: number
  readonly maxBytes: number
}

/** What a tree holds, parents before their children. */
export interface Listing {
  readonly entries: ReadonlyMap<string, Entry>
  /** Devices, pipes and sockets, which are not mirrored. */
  readonly others: readonly string[]
  /** Half-written files of processes of ours that were killed. */
  readonly leftovers: readonly string[]
}

/** How to list. */
export interface ListOptions {
  readonly limits: MirrorLimits
  readonly signal?: AbortSignal | undefined
  /** Told of directories that may not be read, which count as empty; without it they are an error. */
  readonly onClosed?: () => void
}

/** Lists everything. Throws LIMIT_EXCEEDED when there is more than the limits allow, and the signal's reason. */
export async function listTree(tree: Tree, options: ListOptions): Promise<Listing> {
  const { limits, signal, onClosed } = options
  const listing = { entries: new Map<string, Entry>(), others: [] as string[], leftovers: [] as string[] }
  const waiting = ['']
  let bytes = 0
  for (let seen = 0, directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const name of namesOf(tree, directory, onClosed)) {
      if (++seen % SLICE === 0) {
        await setImmediate()
        signal?.throwIfAborted()
      }
      const path = posix.join(directory, name)
      const entry = take(tree, path, listing)
      if (entry?.kind === 'directory') waiting.push(path)
      bytes += entry?.size ?? 0
    }
    if (listing.entries.size > limits.maxFiles) throw tooLarge(`more than ${limits.maxFiles} files`, 'mirror.maxFiles')
    if (bytes > limits.maxBytes) throw tooLarge(`more than ${limits.maxBytes} bytes`, 'mirror.maxBytes')
  }
  return listing
}

/** Puts one path where it belongs; returns the entry when it is one to mirror. */
function take(
  tree: Tree,
  path: string,
  listing: { entries: Map<string, Entry>; others: string[]; leftovers: string[] },
): Entry | undefined {
  const part = partState(posix.basename(path))
  if (part === 'left') listing.leftovers.push(path)
  const entry = part === 'no' ? tree.entry(path) : undefined
  if (entry?.kind === 'other') {
    listing.others.push(path)
    return undefined
  }
  if (entry) listing.entries.set(path, entry)
  return entry
}

/** What a look for protected places found. */
export interface ProtectedFound {
  /** Outermost protected places. */
  readonly found: string[]
  /** Directories that could not be looked into. */
  readonly closed: string[]
  /** False when there was more to look at than allowed. */
  readonly isComplete: boolean
}

/** Looks for protected places; at most `maxEntries` entries are looked at. */
export async function listProtected(
  tree: Tree,
  options: { maxEntries: number; signal?: AbortSignal | undefined },
): Promise<ProtectedFound> {
  const found: string[] = []
  const closed: string[] = []
  const waiting = ['']
  let seen = 0
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const at = directory
    const names = namesOf(tree, at, () => closed.push(at))
    const here = new Set(names.map((name) => posix.join(at, name)))
    for (const path of here) {
      if (++seen > options.maxEntries) return { found, closed, isComplete: false }
      if (seen % SLICE === 0) {
        await setImmediate()
        options.signal?.throwIfAborted()
      }
      const kind = tree.entry(path)?.kind
      if (kind === undefined) continue
      if (protectedPlace(path, kind, (other) => here.has(other)) !== undefined) found.push(path)
      else if (kind === 'directory') waiting.push(path)
    }
  }
  return { found, closed, isComplete: true }
}

/** A directory that vanished since it was listed has nothing to offer; for one that we may not read `onClosed` decides. */
function namesOf(tree: Tree, directory: string, onClosed?: () => unknown): string[] {
  try {
    return tree.names(directory)
  } catch (error) {
    const isClosed = onClosed !== undefined && (error as NodeJS.ErrnoException).code === 'EACCES'
    if (directory === '' || !(isAbsence(error) || isClosed)) throw error
    if (isClosed) onClosed()
    return []
  }
}

function tooLarge(what: string, option: string): NexusError {
  return new NexusError('LIMIT_EXCEEDED', `the workspace holds ${what}, too much to mirror for the sandbox`, {
    fix: `choose a smaller directory as workspace, raise ${option} of the sandbox, or run as a normal user, where nothing is copied`,
  })
}

/** scan: lists a tree in slices, so that a large workspace does not hold up the event loop. */
import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { NexusError } from '../../kernel/index.ts'
import { REQUESTS, sandboxError } from '../messages.ts'
import { namesOf, SLICE } from '../guard/look.ts'
import { type Entry, partState, type Tree } from '../guard/tree.ts'

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
  const listing: OpenListing = { entries: new Map(), others: [], leftovers: [] }
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
    if (listing.entries.size > limits.maxFiles)
      throw tooLarge(`more than ${limits.maxFiles} files`, 'execution.workspace.maxFiles')
    if (bytes > limits.maxBytes) throw tooLarge(`more than ${limits.maxBytes} bytes`, 'execution.workspace.maxBytes')
  }
  return listing
}

/** A listing that is being made. */
interface OpenListing {
  readonly entries: Map<string, Entry>
  readonly others: string[]
  readonly leftovers: string[]
}

/** Puts one path where it belongs; returns the entry when it is one to mirror. */
function take(tree: Tree, path: string, listing: OpenListing): Entry | undefined {
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

function tooLarge(what: string, option: string): NexusError {
  return sandboxError(REQUESTS.tooLargeToMirror({ what, setting: option }))
}

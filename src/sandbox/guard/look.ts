/** look: finds protected places in a workspace, in slices, so that a large one does not hold up the event loop. */
import { posix } from 'node:path'
import { isAbsence, isClosed, paceOf, type Met, type Tree } from '../../files/index.ts'
import { protectedPlace, TOP_PLACES } from './protected.ts'

/**
 * Longest path that is searched and mirrored, in characters. No program opens a longer one (PATH_MAX), so nothing acts on what is there by
 * itself. When a command moves it further up, the search after that command finds it.
 */
export const MAX_PATH = 4_096

/** What a look for protected places found. */
export interface ProtectedFound {
  /** Outermost protected places. */
  readonly found: string[]
  /** Directories that could not be looked into. */
  readonly closed: string[]
  /** False when there was more to look at than allowed. */
  readonly isComplete: boolean
}

/** How to look. */
export interface InspectOptions {
  /** Entries that are looked at below the fixed places. */
  readonly maxEntries: number
  readonly signal?: AbortSignal | undefined
  /** Told of each place as soon as it is found; the search waits for it. */
  readonly onFound?: (path: string) => Promise<void>
}

/** Looks for protected places: first for those of the top by name, which nothing can hide, then at every entry. */
export async function listProtected(tree: Tree, options: InspectOptions): Promise<ProtectedFound> {
  const { maxEntries, signal, onFound } = options
  const found = new Set<string>()
  const closed = new Set<string>()
  const add = async (path: string): Promise<false> => {
    if (!found.has(path)) await onFound?.(path)
    found.add(path)
    return false
  }
  for (const path of topPlaces(tree)) await add(path)
  const stoppedBy = await tree.walk({
    maxEntries,
    pace: paceOf(signal),
    visit: (met) => (isProtected(met) ? add(met.path) : met.path.length <= MAX_PATH),
    onClosed: (path, error) => {
      if (path === '' || !isClosed(error)) throw error
      closed.add(closedPart(tree, path))
    },
  })
  return { found: [...found], closed: [...closed], isComplete: stoppedBy === undefined }
}

function isProtected({ path, kind, siblings }: Met): boolean {
  const directory = posix.dirname(path)
  const isThere = (other: string): boolean =>
    posix.dirname(other) === directory && siblings.some(({ name }) => name === posix.basename(other))
  return protectedPlace(path, kind, isThere) !== undefined
}

function topPlaces(tree: Tree): string[] {
  return TOP_PLACES.filter((path) => {
    const kind = kindOf(tree, path)
    return kind !== undefined && protectedPlace(path, kind, (other) => kindOf(tree, other) !== undefined) === path
  })
}

/** Undefined also for what lies in a directory that lets nobody in. */
function kindOf(tree: Tree, path: string): string | undefined {
  try {
    return tree.entry(path)?.kind
  } catch (error) {
    if (!isClosed(error)) throw error
    return undefined
  }
}

/** A directory that can be listed and not entered closes those in it: it is the one to open. */
function closedPart(tree: Tree, path: string): string {
  const above = posix.dirname(path)
  if (above === '.') return path
  try {
    tree.entry(path)
    return path
  } catch (error) {
    if (!isClosed(error) && !isAbsence(error)) throw error
    return closedPart(tree, above)
  }
}

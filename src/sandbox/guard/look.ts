/** look: finds protected places in a workspace, in slices, so that a large one does not hold up the event loop. */
import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type Exists, isRepository, marksFirst, type Protection } from './protected.ts'
import { codeOf, isAbsence, MAX_DEPTH, type Tree } from './tree.ts'

/** Entries between two turns of the event loop: about 2 ms of work. */
export const SLICE = 256

/** What a look for protected places found. */
export interface ProtectedFound {
  /** Outermost protected places. */
  readonly found: string[]
  /** Directories that could not be looked into. */
  readonly closed: string[]
  /** Directories that git would use as a repository although they are not called `.git`. */
  readonly repositories: string[]
  /** False when there was more to look at than allowed. */
  readonly isComplete: boolean
}

/** How to look. */
export interface InspectOptions {
  readonly protection: Protection
  /** Directories that were repositories before; what makes others one is found. Absent in the first look. */
  readonly repositories?: readonly string[]
  /** Entries that are looked at below the fixed places. */
  readonly maxEntries: number
  readonly signal?: AbortSignal | undefined
  /** Told of each place as soon as it is found. */
  readonly onFound?: (path: string) => void
}

/**
 * Looks for protected places: first for those of the top by name, which nothing can hide, then at every entry,
 * the upper ones first.
 */
export function listProtected(tree: Tree, options: InspectOptions): Promise<ProtectedFound> {
  return new Search(tree, options).all()
}

class Search {
  readonly #tree: Tree
  readonly #options: InspectOptions
  readonly #found = new Set<string>()
  readonly #closed = new Set<string>()
  readonly #repositories: string[] = []
  readonly #waiting = ['']
  #seen = 0
  #isComplete = true

  constructor(tree: Tree, options: InspectOptions) {
    this.#tree = tree
    this.#options = options
  }

  async all(): Promise<ProtectedFound> {
    for (const path of this.#topPlaces()) this.#add(path)
    for (let at = 0; at < this.#waiting.length && this.#seen <= this.#options.maxEntries; at++) {
      await this.#lookInto(this.#waiting[at] as string)
      // The list would hold every directory of the workspace.
      this.#waiting[at] = ''
    }
    return {
      found: [...this.#found],
      closed: [...this.#closed],
      repositories: this.#repositories,
      isComplete: this.#isComplete,
    }
  }

  async #lookInto(directory: string): Promise<void> {
    const names = namesOf(this.#tree, directory, () => this.#closed.add(directory))
    const here = new Set(marksFirst(names).map((name) => posix.join(directory, name)))
    const parts = directory === '' ? [] : directory.split('/')
    if (isRepository(parts, (path) => here.has(path))) this.#repositories.push(directory)
    for (const path of here) {
      if (++this.#seen > this.#options.maxEntries) {
        this.#isComplete = false
        return
      }
      if (this.#seen % SLICE === 0) {
        await setImmediate()
        this.#options.signal?.throwIfAborted()
      }
      this.#lookAt(path, { directory, here })
    }
  }

  #lookAt(path: string, { directory, here }: { directory: string; here: Set<string> }): void {
    const kind = kindOf(this.#tree, path, () => this.#closed.add(directory))
    if (kind === undefined || this.#found.has(path)) return
    if (this.#isProtected(path, kind, (other) => here.has(other))) {
      this.#add(path)
      // Taken away, it no longer makes the directory a repository.
      if (this.#options.repositories) here.delete(path)
    } else if (kind === 'directory' && path.split('/').length <= MAX_DEPTH) this.#waiting.push(path)
    else if (kind === 'directory') this.#isComplete = false
  }

  #isProtected(path: string, kind: string, exists: Exists): boolean {
    const { protection, repositories } = this.#options
    const wasRepository = (directory: string): boolean => repositories?.includes(directory) ?? true
    return protection.placeOf(path, kind, { exists, wasRepository }) !== undefined
  }

  #topPlaces(): string[] {
    const exists: Exists = (path) => kindOf(this.#tree, path) !== undefined
    return this.#options.protection.topPlaces.filter((path) => {
      const kind = kindOf(this.#tree, path)
      return (
        kind !== undefined &&
        this.#isProtected(path, kind, exists) &&
        !this.#isProtected(posix.dirname(path), 'directory', exists)
      )
    })
  }

  #add(path: string): void {
    if (this.#found.has(path)) return
    this.#found.add(path)
    this.#options.onFound?.(path)
  }
}

/** Undefined also for what lies in a directory that lets nobody in. */
function kindOf(tree: Tree, path: string, onClosed?: () => unknown): string | undefined {
  try {
    return tree.entry(path)?.kind
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error
    onClosed?.()
    return undefined
  }
}

/** A directory that vanished since it was listed has nothing to offer; for one that we may not read `onClosed` decides. */
export function namesOf(tree: Tree, directory: string, onClosed?: () => unknown): string[] {
  try {
    return tree.names(directory)
  } catch (error) {
    const isClosed = onClosed !== undefined && codeOf(error) === 'EACCES'
    if (directory === '' || !(isAbsence(error) || isClosed)) throw error
    if (isClosed) onClosed()
    return []
  }
}

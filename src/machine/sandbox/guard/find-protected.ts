/** Finds protected places in a workspace, in slices, so that a large one does not hold up the event loop. */
import { posix } from 'node:path'
import { below, type FileError, isClosed, type Met, type Named, paceOf, type Tree } from '../../files/index.ts'
import { type Exists, isGitMark, isRepository, type Protection } from './protected.ts'

/**
 * Longest path that is searched and mirrored, in characters. No program opens a longer one (PATH_MAX), but who changes directory step by
 * step comes there. So what a command makes there is taken away whole.
 */
export const MAX_PATH = 4_096

/** Result of a search for protected places. */
export interface ProtectedFound {
  /** Outermost protected places. */
  readonly found: string[]
  /** Directories that could not be read. */
  readonly closed: string[]
  /** Entries with a longer path than is searched. */
  readonly deep: string[]
  /** Directories that git would use as a repository although they are not called `.git`. */
  readonly repositories: string[]
  /** False when there was more to inspect than allowed. */
  readonly isComplete: boolean
}

/** How to search. */
export interface InspectOptions {
  readonly protection: Protection
  /** Directories that were repositories before; what makes others one is found. Absent in the first search. */
  readonly repositories?: readonly string[]
  /** Entries that are inspected below the fixed places. */
  readonly maxEntries: number
  readonly signal?: AbortSignal | undefined
  /** Called with each place as soon as it is found; the search waits for it. */
  readonly onFound?: (path: string) => Promise<void>
}

/** Searches for protected places: first for those of the top by name, which nothing can hide, then at every entry. */
export function listProtected(tree: Tree, options: InspectOptions): Promise<ProtectedFound> {
  return new Search(tree, options).all()
}

class Search {
  readonly #tree: Tree
  readonly #options: InspectOptions
  readonly #found = new Set<string>()
  readonly #closed = new Set<string>()
  readonly #deep: string[] = []
  readonly #repositories: string[] = []
  /** The directory that is looked at, and the names in it that were not taken away. */
  #siblings: readonly Named[] | undefined
  #directory = ''
  #here = new Set<string>()

  constructor(tree: Tree, options: InspectOptions) {
    this.#tree = tree
    this.#options = options
  }

  async all(): Promise<ProtectedFound> {
    const { maxEntries, signal } = this.#options
    for (const path of this.#topPlaces()) await this.#add(path)
    const stoppedBy = await this.#tree.walk({
      maxEntries,
      pace: paceOf(signal),
      // Files that complete a repository come first: without them the rest is plain again.
      order: (a, b) => Number(isGitMark(b.name)) - Number(isGitMark(a.name)),
      visit: (met) => this.#visit(met),
      onClosed: (path, error) => this.#noteClosed(path, error),
    })
    return {
      found: [...this.#found],
      closed: [...this.#closed],
      deep: this.#deep,
      repositories: this.#repositories,
      isComplete: stoppedBy === undefined,
    }
  }

  /** False, at once or later, for what is not to be looked into. */
  #visit({ path, name, kind, siblings }: Met): boolean | Promise<false> {
    if (siblings !== this.#siblings) this.#begin(path.slice(0, Math.max(0, path.length - name.length - 1)), siblings)
    if (this.#found.has(path)) return false
    if (path.length > MAX_PATH) return this.#addDeep(path)
    if (!this.#isProtected(path, kind, this.#isHere)) return true
    // Taken away, it no longer makes the directory a repository.
    if (this.#options.repositories) this.#here.delete(name)
    return this.#add(path)
  }

  #begin(directory: string, siblings: readonly Named[]): void {
    this.#siblings = siblings
    this.#directory = directory
    this.#here = new Set(siblings.map(({ name }) => name))
    if (!this.#here.has('HEAD')) return
    const parts = directory === '' ? [] : directory.split('/')
    if (isRepository(parts, this.#isHere)) this.#repositories.push(directory)
  }

  readonly #isHere: Exists = (path) => {
    const name = posix.basename(path)
    return this.#here.has(name) && path === below(this.#directory, name)
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

  async #add(path: string): Promise<false> {
    if (this.#found.has(path)) return false
    this.#found.add(path)
    await this.#options.onFound?.(path)
    return false
  }

  async #addDeep(path: string): Promise<false> {
    this.#deep.push(path)
    await this.#options.onFound?.(path)
    return false
  }

  #noteClosed(path: string, error: FileError): void {
    if (path === '' || !isClosed(error)) throw error
    this.#closed.add(this.#closedPart(path))
  }

  /** A directory that can be listed and not entered closes those in it: it is the one to open. */
  #closedPart(path: string): string {
    try {
      this.#tree.entry(path)
      return path
    } catch (error) {
      if (!isClosed(error)) throw error
      const above = posix.dirname(path)
      return above === '.' ? path : this.#closedPart(above)
    }
  }
}

/** Undefined also below a directory without access rights. */
function kindOf(tree: Tree, path: string): string | undefined {
  try {
    return tree.entry(path)?.kind
  } catch (error) {
    if (!isClosed(error)) throw error
    return undefined
  }
}

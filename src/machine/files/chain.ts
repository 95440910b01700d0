import type { Directory } from './directory.ts'
import { below } from './names.ts'

/** Directories of a chain that stay open, from the lowest up; those above are opened again from below. */
const MAX_OPEN = 32

interface Link {
  /** Its path from the root of the chain. */
  readonly at: string
  readonly identity: string
  /** Missing while it is closed. */
  directory: Directory | undefined
}

/**
 * The way from a root down to one directory, however deep: each step is taken from the directory before, and back up through `..`, which
 * must be the directory that the way came from. Needs a bounded number of descriptors, and no path that the system would find too long.
 */
export class Chain {
  readonly #links: Link[] = []
  readonly #root: Directory

  /** The root stays open when the chain is closed. */
  constructor(root: Directory) {
    this.#root = root
  }

  get end(): Directory {
    return this.#links.at(-1)?.directory ?? this.#root
  }

  /** Goes one level down. Throws FileError, and stays where it is. */
  enter(name: string): Directory {
    const directory = this.end.directory(name)
    this.#links.push({ at: below(this.#at, name), directory, identity: directory.identity() })
    // Held by path, a directory is only right together with those above it.
    const closing = directory.holding === 'descriptors' ? this.#links.at(-1 - MAX_OPEN) : undefined
    closing?.directory?.close()
    if (closing) closing.directory = undefined
    return directory
  }

  /** Goes one level up. Throws EAGAIN when the directory below was moved elsewhere; the chain is then back at its root. */
  leave(): Directory {
    const left = this.#links.pop()
    const above = this.#links.at(-1)
    try {
      if (left?.directory && above && !above.directory) {
        above.directory = left.directory.parent(below(this.#root.path, above.at), above.identity)
      }
    } catch (error) {
      left?.directory?.close()
      this.close()
      throw error
    }
    left?.directory?.close()
    return this.end
  }

  /** Goes to a directory by its path from the root, `''`. Throws FileError; the chain is then somewhere above. */
  goTo(path: string): Directory {
    // Compared as a whole: to split a long path at each step would cost more than the step.
    while (this.#links.length > 0 && !isAt(path, this.#at)) this.leave()
    const rest = this.#at === '' ? path : path.slice(this.#at.length + 1)
    if (rest !== '') for (const name of rest.split('/')) this.enter(name)
    return this.end
  }

  get #at(): string {
    return this.#links.at(-1)?.at ?? ''
  }

  close(): void {
    for (const { directory } of this.#links.splice(0)) directory?.close()
  }
}

function isAt(path: string, directory: string): boolean {
  return path.startsWith(directory) && (path.length === directory.length || path[directory.length] === '/')
}

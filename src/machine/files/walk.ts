import { Chain } from './chain.ts'
import type { Directory } from './directory.ts'
import { FileError, isAbsence } from './errors.ts'
import { type Kind, listNames, type Named } from './list.ts'
import { below } from './names.ts'
import { createPace, type Pace } from './pace.ts'

export interface Met {
  /** Relative to where the walk began, with forward slashes. */
  readonly path: string
  readonly name: string
  readonly kind: Kind
  /** The directory it lies in, open while the visit lasts, and what else lies in that. */
  readonly directory: Directory
  readonly siblings: readonly Named[]
}

/** Limits of a walk. Each is Infinity when not given. */
export interface WalkLimits {
  readonly maxEntries?: number
  readonly maxMs?: number
}

export interface WalkOptions extends WalkLimits {
  /** Asked for each entry, and awaited; a directory is not entered when the answer is false. */
  readonly visit: (met: Met) => unknown
  /** Told of a directory that cannot be listed, which is left out. Default: the walk rejects. One that vanished is left out silently. */
  readonly onClosed?: (path: string, error: FileError) => void
  /** Order of the entries of a directory; default that of the system. */
  readonly order?: (a: Named, b: Named) => number
  readonly pace?: Pace
}

/** Which limit ended work; undefined when none did. */
export type StoppedBy = 'entries' | 'time' | undefined

/**
 * Visits everything below a directory, an entry before what lies in it, without following links: in slices, in time linear in what there is,
 * however deep. Rejects with FileError, with what `visit` throws, and with what the pace throws.
 */
export async function walk(root: Directory, options: WalkOptions): Promise<StoppedBy> {
  const walker = new Walker(root, options)
  try {
    return await walker.run()
  } finally {
    walker.close()
  }
}

/** A directory on the way, with those below it that are still to be entered. */
interface Level {
  readonly path: string
  readonly ahead: string[]
}

class Walker {
  readonly #options: WalkOptions
  readonly #chain: Chain
  readonly #levels: Level[] = []
  readonly #pace: Pace
  readonly #until: number
  #seen = 0
  #stoppedBy: StoppedBy

  constructor(root: Directory, options: WalkOptions) {
    this.#options = options
    this.#chain = new Chain(root)
    this.#pace = options.pace ?? createPace()
    this.#until = performance.now() + (options.maxMs ?? Infinity)
  }

  async run(): Promise<StoppedBy> {
    await this.#list('')
    for (let level = this.#levels.at(-1); level && !this.#stoppedBy; level = this.#levels.at(-1)) {
      const name = level.ahead.pop()
      if (name !== undefined) await this.#enter(name, below(level.path, name))
      else this.#leave(level)
    }
    return this.#stoppedBy
  }

  close(): void {
    this.#chain.close()
  }

  #leave({ path }: Level): void {
    this.#levels.pop()
    if (this.#levels.length === 0) return
    try {
      this.#chain.leave()
    } catch (error) {
      // Another process moved it while we were in it. The chain is back at its root, and so are we.
      this.#levels.length = 1
      this.#leaveOut(path, error)
    }
  }

  async #enter(name: string, path: string): Promise<void> {
    try {
      this.#chain.enter(name)
    } catch (error) {
      return this.#leaveOut(path, error)
    }
    if (!(await this.#list(path))) this.#chain.leave()
  }

  /** False when it cannot be listed. */
  async #list(path: string): Promise<boolean> {
    const { maxEntries = Infinity, order, visit } = this.#options
    const directory = this.#chain.end
    let siblings: Named[]
    try {
      const { entries, isComplete } = await listNames(directory, { max: maxEntries - this.#seen, pace: this.#pace })
      if (!isComplete) this.#stoppedBy = 'entries'
      siblings = order ? entries.sort(order) : entries
    } catch (error) {
      this.#leaveOut(path, error)
      return false
    }
    const ahead: string[] = []
    this.#levels.push({ path, ahead })
    for (const { name, kind } of siblings) {
      this.#seen++
      const answer = visit({ path: below(path, name), name, kind, directory, siblings })
      const isEntered = (answer instanceof Promise ? await answer : answer) !== false
      if (isEntered && kind === 'directory') ahead.push(name)
      const pause = this.#pace()
      if (pause) await pause
      if (this.#until === Infinity || performance.now() <= this.#until) continue
      this.#stoppedBy = 'time'
      break
    }
    // The next one is taken from the end.
    ahead.reverse()
    return true
  }

  #leaveOut(path: string, error: unknown): void {
    if (!(error instanceof FileError)) throw error
    if (path !== '' && isAbsence(error)) return
    if (!this.#options.onClosed) throw error
    this.#options.onClosed(path, error)
  }
}

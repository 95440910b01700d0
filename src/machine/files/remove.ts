import { Chain } from './chain.ts'
import type { Directory } from './directory.ts'
import { codeOf, FileError, isAbsence, isClosed } from './errors.ts'
import { kindOfEntry, listNames, type Named } from './list.ts'
import { createPace, type Pace } from './pace.ts'
import type { StoppedBy, WalkLimits } from './walk.ts'

/** Names that are listed before they are removed. */
const BATCH = 65_536
/** Entries that a directory had, from which on its own removal takes the system so long that another thread waits for it. */
const LARGE = 10_000
const MAX_NAMED = 20
const OWNER_ALL = 0o700

export interface Removed {
  readonly entries: number
  /** Paths that could not be removed, the first twenty. */
  readonly failures: readonly FileError[]
  readonly stoppedBy: StoppedBy
  /** True when nothing is left. */
  readonly isGone: boolean
}

export interface RemoveOptions extends WalkLimits {
  readonly pace?: Pace
}

/**
 * Removes what has a name in a directory, with all below it: links are removed and never followed, directories without access rights are opened
 * first, other file systems are left. Works in slices, in linear time, however deep. What cannot be removed is reported and the rest goes on.
 * Rejects only with what the pace throws.
 */
export async function removeBelow(root: Directory, name: string, options: RemoveOptions = {}): Promise<Removed> {
  const removal = new Removal(root, options)
  try {
    return await removal.run(name)
  } finally {
    removal.close()
  }
}

interface Level {
  readonly name: string
  ahead: Named[]
  /** False when there was more than was listed. */
  isListed: boolean
  /** Names of what could not be removed. */
  readonly staying: Set<string>
  /** Since it was listed, and in all. */
  removed: number
  total: number
}

class Removal {
  readonly #options: RemoveOptions
  readonly #root: Directory
  readonly #chain: Chain
  readonly #levels: Level[] = []
  readonly #failures: FileError[] = []
  readonly #pace: Pace
  readonly #until: number
  readonly #device: number
  #entries = 0
  #stoppedBy: StoppedBy

  constructor(root: Directory, options: RemoveOptions) {
    this.#options = options
    this.#root = root
    this.#chain = new Chain(root)
    this.#pace = options.pace ?? createPace()
    this.#until = performance.now() + (options.maxMs ?? Infinity)
    this.#device = root.stats().dev
  }

  async run(name: string): Promise<Removed> {
    const top = this.#push('')
    this.#attempt(top, name, () => {
      const found = this.#root.look(name)
      if (found) top.ahead.push({ name, kind: kindOfEntry(found) })
    })
    for (let level = top; !this.#isOver(); level = this.#levels.at(-1) ?? top) {
      const next = level.ahead.pop()
      if (next) await this.#take(level, next)
      else if (level === top) break
      else if (level.isListed || level.removed === 0) await this.#leave(level)
      else await this.#list(level)
      const pause = this.#pace()
      if (pause) await pause
    }
    const isGone = this.#stoppedBy === undefined && top.staying.size === 0
    return { entries: this.#entries, failures: this.#failures, stoppedBy: this.#stoppedBy, isGone }
  }

  close(): void {
    this.#chain.close()
  }

  #push(name: string): Level {
    const level: Level = { name, ahead: [], isListed: true, staying: new Set(), removed: 0, total: 0 }
    this.#levels.push(level)
    return level
  }

  #isOver(): boolean {
    if (this.#entries >= (this.#options.maxEntries ?? Infinity)) this.#stoppedBy = 'entries'
    else if (performance.now() > this.#until) this.#stoppedBy = 'time'
    return this.#stoppedBy !== undefined
  }

  async #take(level: Level, { name, kind }: Named): Promise<void> {
    if (kind === 'directory' && this.#enter(level, name)) return this.#list(this.#push(name))
    if (kind !== 'directory') this.#remove(level, name, () => this.#chain.end.unlink(name))
  }

  #enter(level: Level, name: string): boolean {
    try {
      openUp(this.#chain.end, name)
      if (this.#chain.enter(name).stats().dev === this.#device) return true
      const { path } = this.#chain.end
      this.#chain.leave()
      throw new FileError('EBUSY', path)
    } catch (error) {
      this.#removeOther(level, name, error)
      return false
    }
  }

  async #list(level: Level): Promise<void> {
    level.removed = 0
    try {
      const max = BATCH + level.staying.size
      const { entries, isComplete } = await listNames(this.#chain.end, { max, pace: this.#pace })
      level.ahead = entries.filter(({ name }) => !level.staying.has(name))
      level.isListed = isComplete
    } catch (error) {
      level.isListed = true
      this.#fail(level, '', error)
    }
  }

  /** Goes up and removes the directory that is left. */
  async #leave(level: Level): Promise<void> {
    const { path } = this.#chain.end
    this.#levels.pop()
    const above = this.#levels.at(-1) as Level
    try {
      this.#chain.leave()
    } catch (error) {
      // Another process moved it while we were in it: there is no way back to what is above.
      this.#levels.length = 1
      this.#fail(this.#levels[0] as Level, path, error)
      return
    }
    if (level.staying.size > 0) above.staying.add(level.name)
    else await this.#removeEmptied(above, level)
  }

  async #removeEmptied(above: Level, { name, total }: Level): Promise<void> {
    const directory = this.#chain.end
    try {
      if (total < LARGE) directory.removeDirectory(name)
      else await directory.removeLargeDirectory(name)
      this.#count(above)
    } catch (error) {
      this.#removeOther(above, name, error)
    }
  }

  /** For what was a directory when it was listed, and is something else by now. */
  #removeOther(level: Level, name: string, error: unknown): void {
    if (isAbsence(error)) this.#remove(level, name, () => this.#chain.end.unlink(name))
    else this.#fail(level, name, error)
  }

  #remove(level: Level, name: string, step: () => void): void {
    if (this.#attempt(level, name, step)) this.#count(level)
  }

  #count(level: Level): void {
    level.removed++
    level.total++
    this.#entries++
  }

  /** False when it failed, or when it is gone already. */
  #attempt(level: Level, name: string, step: () => void): boolean {
    try {
      step()
      return true
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#fail(level, name, error)
      return false
    }
  }

  #fail(level: Level, name: string, error: unknown): void {
    if (!(error instanceof FileError)) throw error
    level.staying.add(name)
    if (this.#failures.length < MAX_NAMED) this.#failures.push(error)
  }
}

/** Lets us into a directory of ours, and lets us change it. */
function openUp(directory: Directory, name: string): void {
  try {
    const mode = directory.look(name)?.mode ?? OWNER_ALL
    if ((mode & OWNER_ALL) !== OWNER_ALL) directory.setMode(name, OWNER_ALL)
  } catch (error) {
    // It belongs to another user: the attempt to remove what is in it shows whether we may.
    if (!isClosed(error)) throw error
  }
}

/** watch: looks at what running commands use, and ends the one that uses too much. */
import { statfsSync } from 'node:fs'
import type { CommandLimits } from './protocol.ts'
import { reachedBy, reachedDisk, reachedTogether } from './reached.ts'
import { sharesOf, usageOf } from './usage.ts'

/** Time between two looks. Until the next one a command may use more than its limit. */
export const LOOK_MS = 200

export interface Watched {
  /** Bubblewrap, above all processes of the command. */
  readonly pid: number
  /** Directories that it can fill. */
  readonly directories: readonly string[]
  /** Ends it, with the note that says why. */
  end(note: string): void
}

interface Looked {
  readonly watched: Watched
  /** Free bytes at the beginning, by directory. */
  readonly free: ReadonlyMap<string, number>
}

export class Watch {
  readonly #limits: CommandLimits
  readonly #all = new Set<Looked>()
  #timer: NodeJS.Timeout | undefined

  constructor(limits: CommandLimits) {
    this.#limits = limits
  }

  /** Watches until the result is called. */
  add(watched: Watched): () => void {
    const free = new Map(watched.directories.map((directory) => [directory, freeBytes(directory)]))
    const looked = { watched, free }
    this.#all.add(looked)
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS)
    return () => {
      this.#all.delete(looked)
      if (this.#all.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  #look(): void {
    const all = [...this.#all].map((looked) => ({ ...looked, usage: usageOf(looked.watched.pid) }))
    const { memoryBytes, projectMemoryBytes } = this.#limits
    const total = all.reduce((sum, { usage }) => sum + usage.memoryBytes, 0)
    // The fast sum has pages twice that processes share: only when it is over a limit they are counted by their shares.
    const exact = all.map((each) => {
      if (each.usage.memoryBytes <= memoryBytes && total <= projectMemoryBytes) return each
      return { ...each, usage: { ...each.usage, memoryBytes: sharesOf(each.watched.pid) } }
    })
    for (const { watched, usage, free } of exact) {
      const note = reachedBy(usage, this.#limits) ?? this.#ofDisk(free)
      if (note !== undefined) watched.end(note)
    }
    const together = reachedTogether(
      exact.map(({ usage }) => usage),
      this.#limits,
    )
    // The one that uses most has to go.
    if (together) exact.toSorted((a, b) => b.usage[together.by] - a.usage[together.by])[0]?.watched.end(together.note)
  }

  #ofDisk(atBeginning: Looked['free']): string | undefined {
    for (const [directory, free] of atBeginning) {
      // A disk that was nearly full already does not end every command at once.
      const least = Math.min(this.#limits.freeDiskBytes, free / 2)
      if (freeBytes(directory) < least) return reachedDisk(least)
    }
    return undefined
  }
}

function freeBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    // It vanished with its command.
    return Number.POSITIVE_INFINITY
  }
}

/** pool: the mirrors of one workspace, and whose turn it is. */
import type { Mirror } from '../mirror/mirror.ts'

/** Commands of one workspace that may run at the same time; each has a mirror of its own. */
const MAX_MIRRORS = 4

/** The mirrors of one workspace. Copying in and out is done by one at a time, so that no half-carried change is copied. */
export class Pool {
  readonly #free: Mirror[] = []
  readonly #waiting: (() => void)[] = []
  #made = 0
  #last: Promise<unknown> = Promise.resolve()

  async take(create: () => Promise<Mirror>): Promise<Mirror> {
    for (;;) {
      const free = this.#free.pop()
      if (free) return free
      if (this.#made < MAX_MIRRORS) {
        this.#made++
        try {
          return await create()
        } catch (error) {
          this.giveUp()
          throw error
        }
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** A mirror that no command uses. */
  get free(): Mirror | undefined {
    return this.#free.at(-1)
  }

  giveBack(mirror: Mirror): void {
    this.#free.push(mirror)
    this.#waiting.shift()?.()
  }

  giveUp(): void {
    this.#made--
    this.#waiting.shift()?.()
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    // The next one waits for the end of this one, however it ended; the error goes to the caller of `result`.
    this.#last = result.catch(() => undefined)
    return result
  }
}

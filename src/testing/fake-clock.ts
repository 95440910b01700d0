import type { Clock } from '../kernel/index.ts'

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves the time on and wakes the sleepers on the way, each at its own moment; work they start may sleep again. */
  advance(ms: number): Promise<void>
  /** How many sleeps are under way. */
  readonly sleeping: number
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Makes a clock that shows `startMs` (epoch milliseconds). */
export function createFakeClock(startMs = 0): FakeClock {
  let nowMs = startMs
  const sleepers = new Set<Sleeper>()
  const nextUntil = (end: number): Sleeper | undefined =>
    [...sleepers].filter((sleeper) => sleeper.at <= end).sort((a, b) => a.at - b.at)[0]
  return {
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise<void>((resolve, reject) => {
        const onAbort = (): void => {
          sleepers.delete(sleeper)
          reject(signal?.reason as Error)
        }
        const wake = (): void => {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', onAbort)
          resolve()
        }
        const sleeper: Sleeper = { at: nowMs + Math.max(0, ms), wake }
        if (signal?.aborted) {
          reject(signal.reason as Error)
          return
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', onAbort, { once: true })
      }),
    async advance(ms) {
      const end = nowMs + ms
      await settle()
      for (let sleeper = nextUntil(end); sleeper; sleeper = nextUntil(end)) {
        nowMs = Math.max(nowMs, sleeper.at)
        sleeper.wake()
        await settle()
      }
      nowMs = end
    },
    get sleeping() {
      return sleepers.size
    },
  }
}

/** Lets everything that was just woken run on. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

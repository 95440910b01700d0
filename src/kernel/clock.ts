/** The time. Injected everywhere, so that tests can own it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Resolves after `ms` (24 days at most), or rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Timers of Node fire at once beyond this. */
const MAX_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error)
        return
      }
      const onAbort = (): void => {
        clearTimeout(timer)
        reject(signal?.reason as Error)
      }
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
        Math.min(ms, MAX_TIMER_MS),
      )
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}

/** The project of a single-user installation. */
export const DEFAULT_PROJECT = 'default'

/** A new id: the time in milliseconds and 74 random bits, hex without dashes (UUID version 7); sorts by creation. */
export function newId(nowMs: number = Date.now()): string {
  // Node fetches the random bits of many UUIDs at once. Of this one, version 4, the version is replaced; its variant stays.
  const random = crypto.randomUUID().replaceAll('-', '')
  return `${Math.trunc(nowMs).toString(16).padStart(12, '0')}7${random.slice(13)}`
}

/** The result of the work; undefined when it takes longer than `ms` (24 days at most). The work goes on. */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, ms, undefined)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

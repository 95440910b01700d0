/** The time. Injected everywhere, so that tests can own it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Resolves after `ms` (24 days at most), or rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Timers of Node fire at once beyond this. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The real time. */
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

/** A new id: the time in milliseconds and 80 random bits, hex without dashes (UUID version 7); sorts by creation. */
export function newId(nowMs: number = Date.now()): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const view = new DataView(bytes.buffer)
  view.setUint16(0, Math.floor(nowMs / 2 ** 32))
  view.setUint32(2, nowMs % 2 ** 32)
  view.setUint8(6, (view.getUint8(6) & 0x0f) | 0x70)
  view.setUint8(8, (view.getUint8(8) & 0x3f) | 0x80)
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

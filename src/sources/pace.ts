import { NexusError } from '../kernel/index.ts'

/** Longest stretch of synchronous work, so that a server's event loop stays alive. */
const SLICE_MS = 4

/** Lets other work run in between: call it after every item, and await what it returns when it returns something. */
export type Pace = () => Promise<void> | undefined

/** A pace that also ends the work: throws NexusError CANCELLED once the signal is aborted. */
export function createPace(signal?: AbortSignal): Pace {
  let since = performance.now()
  return () => {
    throwIfAborted(signal)
    if (performance.now() - since < SLICE_MS) return undefined
    return yieldToEventLoop(signal).then(() => {
      since = performance.now()
    })
  }
}

/** Lets timers, I/O and other waiting callbacks run once. Throws NexusError CANCELLED once the signal is aborted. */
export async function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve))
  throwIfAborted(signal)
}

/** Throws NexusError CANCELLED when the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new NexusError('CANCELLED', 'the caller cancelled', { cause: signal.reason })
}

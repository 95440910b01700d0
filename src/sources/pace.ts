import { NexusError } from '../kernel/index.ts'

/** Longest stretch of synchronous work, so that a server's event loop stays alive. Source: reference/performance §3.3. */
const SLICE_MS = 4

/** Lets long synchronous work breathe: call it after every item, and await what it returns when it returns something. */
export type Pace = () => Promise<void> | undefined

/** Items that cost less than a microsecond each, between two questions to the pace. */
export const STRIDE = 64

/** A pace that also ends the work: throws NexusError CANCELLED once the signal is aborted. */
export function createPace(signal?: AbortSignal, sliceMs: number = SLICE_MS): Pace {
  // The cheapest clock there is. It may be set, so one that goes back ends a stretch as well.
  let since = Date.now()
  return () => {
    throwIfAborted(signal)
    const elapsedMs = Date.now() - since
    if (elapsedMs >= 0 && elapsedMs < sliceMs) return undefined
    return rest(signal).then(() => {
      since = Date.now()
    })
  }
}

/** Lets everything else that waits run once. Throws NexusError CANCELLED once the signal is aborted. */
export async function rest(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve))
  throwIfAborted(signal)
}

/** Throws NexusError CANCELLED when the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new NexusError('CANCELLED', 'the caller cancelled', { cause: signal.reason })
}

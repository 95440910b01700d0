import { createPace as createAnyPace, type Pace, yieldToEventLoop as yieldOnce } from '../files/index.ts'
import { NexusError } from '../../kernel/index.ts'

export type { Pace }

/** A pace that also ends the work: throws NexusError CANCELLED once the signal is aborted. */
export function createPace(signal?: AbortSignal): Pace {
  return createAnyPace(() => throwIfAborted(signal))
}

/** Lets timers, I/O and other waiting callbacks run once. Throws NexusError CANCELLED once the signal is aborted. */
export async function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  await yieldOnce()
  throwIfAborted(signal)
}

/** Throws NexusError CANCELLED when the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new NexusError('CANCELLED', 'the caller cancelled', { cause: signal.reason })
}

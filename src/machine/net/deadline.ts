/** deadline: time limits as signals whose reason is the error that the caller gets. */
import { isNexusError, type NexusError } from '../../kernel/index.ts'
import { MESSAGES, netError, type TimeLimit } from './messages.ts'
import type { NetLimits } from './types.ts'

/** A request as its parts see it: where it goes, within which limits, and until when. */
export interface Run {
  readonly origin: string
  readonly limits: NetLimits
  readonly signal: AbortSignal
}

/** Ends with the signal given, or after the limit `what`. */
export function startDeadline({ origin, limits, signal }: Run, what: TimeLimit) {
  const controller = new AbortController()
  const ms = limits[what]
  const timer = setTimeout(() => controller.abort(netError(MESSAGES.slow({ origin, what, ms }))), ms)
  // A response that was abandoned keeps no process alive once its server closed the connection.
  if (what === 'totalMs') timer.unref()
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    clear: () => clearTimeout(timer),
  }
}

/** The result of `work`, or the reason of the deadline, whichever is first. */
export async function within<T>(run: Run, what: TimeLimit, work: (run: Run) => Promise<T>): Promise<T> {
  const { signal, clear } = startDeadline(run, what)
  const bounded = { ...run, signal }
  try {
    return await beforeAbort(work(bounded), bounded)
  } finally {
    clear()
  }
}

/** Also for work that does not end with the signal, such as a lookup. */
export async function beforeAbort<T>(work: Promise<T>, { origin, signal }: Run): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(abortError(signal, origin))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** The error of an aborted signal: ours as it is, anything else is a cancellation by the caller. */
export function abortError({ reason }: AbortSignal, origin: string): NexusError {
  return isNexusError(reason) ? reason : netError(MESSAGES.cancelled({ origin }), reason)
}

/** deadline: time limits as signals whose reason is the error that the caller gets. */
import { isNexusError, type NexusError } from '../../kernel/index.ts'
import { coded } from './errors.ts'
import type { NetLimits } from './types.ts'

const REACHED = {
  connectMs: 'it accepted no connection',
  headersMs: 'it sent no complete response headers',
  idleMs: 'it stopped sending the body',
  totalMs: 'the response was not complete',
}
type TimeLimit = keyof typeof REACHED

/** A request as its parts see it: where it goes, within which limits, and until when. */
export interface Run {
  readonly origin: string
  readonly limits: NetLimits
  readonly signal: AbortSignal
}

/** Ends with the signal given, or after the limit `what`. */
export function startDeadline(run: Run, what: TimeLimit) {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(timeout(run, what)), run.limits[what])
  // A response that was abandoned keeps no process alive once its server closed the connection.
  if (what === 'totalMs') timer.unref()
  return { signal: AbortSignal.any([run.signal, controller.signal]), clear: () => clearTimeout(timer) }
}

export function timeout({ origin, limits }: Pick<Run, 'origin' | 'limits'>, what: TimeLimit): NexusError {
  return coded('TIMEOUT')(
    `The request to ${origin} ended after ${limits[what]} ms: ${REACHED[what]}.`,
    'Try again later, or raise the time limit.',
  )
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
  if (isNexusError(reason)) return reason
  return coded('CANCELLED')(`The request to ${origin} was cancelled.`, 'Send it again if you still need it.', reason)
}

import { isJsonObject, type JsonObject, type Outcome } from '../kernel/index.ts'
import { PARALLEL_ARGUMENT } from './arguments.ts'
import { toFailure } from './failure.ts'
import { CALLS, failedBy } from './messages.ts'

export interface BatchOptions {
  /** Most calls at one time when the batch is concurrent. Default 10. Source: contracts §1.9. */
  readonly maxConcurrent?: number
  readonly signal?: AbortSignal
}

/** One call of a batch and its answer; `ran` is false when it was never begun. */
export interface Answered<C> {
  readonly call: C
  readonly outcome: Outcome
  readonly ran: boolean
}

/**
 * Runs the calls of one model step and answers every one, in their order. One after the other, and none after the
 * first failure; all at once when any call has `_parallel: true`. After an abort nothing more is begun.
 * `run` should not throw; what it throws is a failure of that call. Source: contracts §1.9.
 */
export async function runBatch<C extends { readonly arguments: JsonObject }>(
  calls: readonly C[],
  run: (call: C) => Promise<Outcome>,
  options: BatchOptions = {},
): Promise<readonly Answered<C>[]> {
  return isParallelBatch(calls) ? runConcurrent(calls, run, options) : runInTurn(calls, run, options)
}

/** True when one of the calls asks that all run at once. */
export function isParallelBatch(calls: readonly { readonly arguments: JsonObject }[]): boolean {
  return calls.some(
    (call) => Object.hasOwn(call.arguments, PARALLEL_ARGUMENT) && call.arguments[PARALLEL_ARGUMENT] === true,
  )
}

const DEFAULT_CONCURRENT = 10
const HALTED = failedBy('CANCELLED', CALLS.halted())
const CANCELLED = failedBy('CANCELLED', CALLS.notStarted())

async function runInTurn<C>(
  calls: readonly C[],
  run: (call: C) => Promise<Outcome>,
  { signal }: BatchOptions,
): Promise<Answered<C>[]> {
  const answers: Answered<C>[] = []
  let isHalted = false
  for (const call of calls) {
    const answer: Answered<C> =
      isHalted && !signal?.aborted ? { call, outcome: HALTED, ran: false } : await answerOne(call, run, signal)
    isHalted ||= answer.outcome.type === 'failed'
    answers.push(answer)
  }
  return answers
}

async function runConcurrent<C>(
  calls: readonly C[],
  run: (call: C) => Promise<Outcome>,
  options: BatchOptions,
): Promise<Answered<C>[]> {
  const answers: Answered<C>[] = []
  const queue = calls.entries()
  const worker = async (): Promise<void> => {
    // All workers draw from the one iterator, so each call is begun once.
    for (const [index, call] of queue) answers[index] = await answerOne(call, run, options.signal)
  }
  const workers = Math.max(1, Math.min(options.maxConcurrent ?? DEFAULT_CONCURRENT, calls.length))
  await Promise.all(Array.from({ length: workers }, worker))
  return answers
}

async function answerOne<C>(
  call: C,
  run: (call: C) => Promise<Outcome>,
  signal: AbortSignal | undefined,
): Promise<Answered<C>> {
  if (signal?.aborted) return { call, outcome: CANCELLED, ran: false }
  try {
    return { call, outcome: await run(call), ran: true }
  } catch (error) {
    return { call, outcome: toFailure(error, nameOf(call)), ran: true }
  }
}

/** Calls carry the tool's name under `tool` where there is one. */
function nameOf(call: unknown): string {
  return isJsonObject(call) && typeof call.tool === 'string' ? call.tool : 'unknown'
}

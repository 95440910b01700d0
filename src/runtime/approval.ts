/** ask: what becomes of a decision that is not yet, or not, allowed. */
import { type Call, type Decision, failed, type Outcome } from '../kernel/index.ts'
import type { Parts } from './types.ts'

/** Turns `ask` into allow or deny. Without anybody to ask it is a denial that says so. */
export async function settle(
  decision: Decision,
  call: Call,
  { approve, signal }: { approve: Parts['approve']; signal: AbortSignal },
): Promise<Decision> {
  if (decision.type !== 'ask') return decision
  if (!approve) return { type: 'deny', rule: decision.rule, reason: `${decision.question} Nobody is there to ask.` }
  const { rule } = decision
  try {
    if (await approve(call, decision.question, signal)) return { type: 'allow', rule: `${rule}, approved` }
    return { type: 'deny', rule, reason: 'A person said no.' }
  } catch (error) {
    // Whoever asks may fail or be cancelled: without an answer nothing runs.
    const why = signal.aborted
      ? 'cancelled while a person was asked'
      : `nobody could be asked: ${error instanceof Error ? error.message : String(error)}`
    return { type: 'deny', rule, reason: `${decision.question} There was no answer (${why}).` }
  }
}

/** What a call comes to that was not allowed. */
export function refused(call: Call, decision: Exclude<Decision, { type: 'allow' }>, signal: AbortSignal): Outcome {
  if (signal.aborted)
    return failed('CANCELLED', `The call of '${call.tool}' was cancelled before it began.`, { error: 'CANCELLED' })
  const reason = decision.type === 'deny' ? decision.reason : decision.question
  const message = `The call of '${call.tool}' was refused (${decision.rule}): ${reason}`
  return failed('PERMISSION_DENIED', message, { error: 'CALL_DENIED' })
}

/** Asking a person about a call. */
import { type Call, type Decision, errorMessage } from '../kernel/index.ts'
import type { Parts } from './types.ts'

/** Turns `ask` into allow or deny. Without `approve` it is a denial with that reason. */
export async function resolveAsk(
  decision: Decision,
  call: Call,
  { approve, signal }: { approve: Parts['approve']; signal: AbortSignal },
): Promise<Decision> {
  if (decision.type !== 'ask') return decision
  if (!approve) return denied(decision, `${decision.question} Nobody is there to ask.`)
  try {
    if (await approve(call, decision.question, signal)) {
      const { rule, chain, limits } = decision
      return { type: 'allow', rule: `${rule}, approved`, chain, limits }
    }
    return denied(decision, 'A person said no.')
  } catch (error) {
    // `approve` is the caller's code: when it fails or is cancelled, nothing may run.
    const why = signal.aborted ? 'cancelled while a person was asked' : `nobody could be asked: ${errorMessage(error)}`
    return denied(decision, `${decision.question} There was no answer (${why}).`)
  }
}

function denied({ rule, chain, limits }: Decision, reason: string): Decision {
  return { type: 'deny', rule, chain, limits, reason }
}

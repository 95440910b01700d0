/** The decision of a call: authorize it, ask a person when policy says so, and word a refusal. */
import { decide } from '../authorize/index.ts'
import { type Call, type Decision, failed, type Outcome, type Skill } from '../kernel/index.ts'
import type { Registry } from '../tools/index.ts'
import type { AgentProfile, Parts } from './types.ts'

/** The one place where a call is decided. */
export function authorize(
  { registry, profile }: { readonly registry: Registry; readonly profile: AgentProfile },
  call: Pick<Call, 'tool' | 'arguments' | 'agentId' | 'origin'>,
  skill: Skill | undefined,
): Decision {
  return decide({
    call,
    tool: registry.get(call.tool),
    policy: profile.policy,
    knownTools: registry.names,
    ...(skill && { skill }),
  })
}

/** Turns `ask` into allow or deny. Without `approve` it is a denial with that reason. */
export async function resolveAsk(
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
    // `approve` is the caller's code: when it fails or is cancelled, nothing may run.
    const why = signal.aborted
      ? 'cancelled while a person was asked'
      : `nobody could be asked: ${error instanceof Error ? error.message : String(error)}`
    return { type: 'deny', rule, reason: `${decision.question} There was no answer (${why}).` }
  }
}

/** The outcome of a call that was not allowed. */
export function refusedOutcome(
  call: Call,
  decision: Exclude<Decision, { type: 'allow' }>,
  signal: AbortSignal,
): Outcome {
  if (signal.aborted)
    return failed('CANCELLED', `The call of '${call.tool}' was cancelled before it began.`, { error: 'CANCELLED' })
  const reason = decision.type === 'deny' ? decision.reason : decision.question
  const message = `The call of '${call.tool}' was refused (${decision.rule}): ${reason}`
  return failed('PERMISSION_DENIED', message, { error: 'CALL_DENIED' })
}

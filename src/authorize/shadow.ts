/** shadow: what the rules of another agent would decide about the same call. They never decide. */
import { type Decision, type ShadowDecision, toSafeLine } from '../kernel/index.ts'
import { decide, type DecideInput, type Layer } from './decide.ts'
import type { PolicyRules } from './policy.ts'

export interface Shadow {
  /** Id of the agent that the rules belong to. */
  readonly agent: string
  readonly policy: PolicyRules
  readonly layers?: readonly Layer[]
  /** Where the calls are made, for the list of differences. Default: empty. */
  readonly scope?: string
}

/** The same decision, with what the shadow says where that differs in type or limits. Never throws. */
export function withShadow(decision: Decision, input: DecideInput, shadow: Shadow | undefined): Decision {
  const difference = shadow && differenceOf(decision, input, shadow)
  return difference ? { ...decision, shadow: difference } : decision
}

function differenceOf(
  { type: own, limits }: Decision,
  input: DecideInput,
  { agent, policy, layers = [], scope = '' }: Shadow,
): ShadowDecision | undefined {
  try {
    const other = decide({ ...input, policy, layers })
    // Nothing of a denied call runs, so its limits do not matter.
    const isSame = own === other.type && (own === 'deny' || JSON.stringify(limits) === JSON.stringify(other.limits))
    return isSame ? undefined : { agent, type: other.type, rule: other.rule, own, scope }
  } catch (error) {
    // Layers of programs may throw. The call of the agent goes on, and its row says that nothing was compared.
    return { agent, type: 'failed', rule: toSafeLine(String(error)).slice(0, MAX_REASON).toWellFormed(), own, scope }
  }
}

const MAX_REASON = 200

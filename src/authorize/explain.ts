import type { Decision, Ruling } from '../kernel/index.ts'
import { decide, type DecideInput, layersOf, rulingOf } from './decide.ts'
import { deniedCapabilities, matchPolicy, type PolicyMatch } from './policy.ts'

/** The answer of one layer; `silent` when the call is none of its business. */
export interface ExplainStep {
  readonly layer: string
  readonly says: Decision['type'] | 'silent'
  /** The line that spoke; empty when silent. */
  readonly rule: string
  /** The same for a person. */
  readonly text: string
}

/** Why a call is decided as it is: every layer in order, every line of policy that covers the tool, and the result. */
export interface Explanation {
  readonly decision: Decision
  readonly steps: readonly ExplainStep[]
  /** Every line that covers the tool, the one that spoke first. */
  readonly matches: readonly PolicyMatch[]
  /** Capabilities taken away, such as `network`. */
  readonly deniedCapabilities: readonly string[]
}

/** Explains a decision; `decision` is exactly what `decide` gives. */
export function explain(input: DecideInput): Explanation {
  return {
    decision: decide(input),
    steps: layersOf(input).map((layer) => toStep(layer.name, rulingOf(layer, input))),
    matches: input.tool ? matchPolicy(input.policy, input.tool.name) : [],
    deniedCapabilities: input.tool ? deniedCapabilities(input.policy, input.tool) : [],
  }
}

/** The explanation as lines for a terminal, the decision last. */
export function explanationLines({
  steps,
  matches,
  decision,
  deniedCapabilities: taken,
}: Explanation): readonly string[] {
  const spoken = steps.filter(({ says }) => says !== 'silent').map(({ layer, text }) => `${layer}: ${text}`)
  const lines = matches.map(({ list, path }) => `line: ${list} ${path.join(' > ')}`)
  const narrowed = taken.length > 0 ? [`without: ${taken.join(', ')}`] : []
  return [...spoken, ...lines, ...narrowed, `decision: ${decision.type} (${decision.rule})`]
}

function toStep(layer: string, ruling: Ruling | undefined): ExplainStep {
  if (!ruling) return { layer, says: 'silent', rule: '', text: 'nothing to say' }
  const { type, rule, reason } = ruling
  const why = reason === undefined ? '' : `: ${reason}`
  return { layer, says: type, rule, text: `${type} by ${rule}${why}` }
}

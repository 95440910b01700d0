import { type Call, type Decision, nearest, type Skill, type Tool, toSafeLine } from '../kernel/index.ts'
import { ALIASES, toPolicyName } from './names.ts'
import { decideByPolicy, type PolicyRules } from './policy.ts'

/** Everything a decision may depend on. */
export interface DecideInput {
  readonly call: Pick<Call, 'tool' | 'arguments' | 'agentId' | 'origin'>
  /** Undefined when no tool has that name. */
  readonly tool: Tool | undefined
  /** The skill the call is about, when it names one. */
  readonly skill?: Skill
  readonly policy: PolicyRules
  /** Names of the tools that exist, for "did you mean". */
  readonly knownTools?: readonly string[]
}

/** Decides one call. Pure: the same input gives the same answer. */
export type Decide = (input: DecideInput) => Decision

/** One voice in a decision. It says nothing (undefined) when the call is none of its business. */
export interface Layer {
  readonly name: 'trust' | 'tool' | 'confirmation' | 'policy'
  readonly decide: (input: DecideInput) => Decision | undefined
}

/** Who has a say, in the order in which equals are heard. Each can only make the answer stricter. */
export const LAYERS: readonly Layer[] = [
  { name: 'trust', decide: decideByTrust },
  { name: 'tool', decide: decideByExistence },
  { name: 'confirmation', decide: decideByConfirmation },
  { name: 'policy', decide: ({ tool, policy }) => tool && decideByPolicy(policy, tool.name) },
]

/**
 * The one place where a call is decided: the strictest of all layers, the first of equals.
 * A denial's reason is written for the model, the question for a person. Source: decisions, "layers".
 */
export const decide: Decide = (input) => {
  const decision = strictest(LAYERS.map((layer) => layer.decide(input)).filter((said) => said !== undefined))
  return decision?.type === 'ask' ? { ...decision, question: toQuestion(input) } : (decision ?? NOBODY_SPOKE)
}

const NOBODY_SPOKE: Decision = { type: 'deny', rule: 'none', reason: 'no policy configured' }
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

/** The strictest decision (deny over ask over allow), the first of equals; undefined for none. */
export function strictest(decisions: readonly Decision[]): Decision | undefined {
  const level = Math.max(...decisions.map(({ type }) => STRICTNESS[type]))
  return decisions.find(({ type }) => STRICTNESS[type] === level)
}

function decideByTrust({ skill }: DecideInput): Decision | undefined {
  if (!skill || skill.origin.trusted) return undefined
  const name = toSafeLine(skill.name)
  return {
    type: 'deny',
    rule: 'trust',
    reason: `the skill '${name}' comes from a workspace that is not trusted. The user can trust it with: nexus trust`,
  }
}

/** Longer lists do not help a model that made a name up. */
const MAX_LISTED = 20

function decideByExistence({ call, tool, knownTools = [] }: DecideInput): Decision | undefined {
  if (tool) return undefined
  const known = new Set(knownTools)
  const meant = ALIASES.get(toPolicyName(call.tool))
  const guess = meant !== undefined && known.has(meant) ? meant : nearest(call.tool, known)
  const listed = knownTools.slice(0, MAX_LISTED).join(', ')
  const advice = guess
    ? ` Did you mean '${guess}'?`
    : listed && ` Tools: ${listed}${knownTools.length > MAX_LISTED ? ', …' : ''}.`
  return { type: 'deny', rule: 'unknown tool', reason: `Unknown tool: '${short(call.tool, 80)}'.${advice}` }
}

function decideByConfirmation({ tool }: DecideInput): Decision | undefined {
  if (!tool?.options?.requiresConfirmation) return undefined
  return { type: 'ask', rule: `confirm ${tool.name}`, question: `May '${tool.name}' run?` }
}

/** A person must see what would run, on one line and without control characters. */
function toQuestion({ call, tool }: DecideInput): string {
  return `May '${tool?.name ?? short(call.tool, 80)}' run with ${short(JSON.stringify(call.arguments), 500)}?`
}

function short(text: string, length: number): string {
  const line = toSafeLine(text)
  return line.length > length ? `${line.slice(0, length).toWellFormed()}…` : line
}

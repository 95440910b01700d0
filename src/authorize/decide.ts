import {
  type Call,
  type CallLimits,
  type Decision,
  nearest,
  type Ruling,
  type Skill,
  type Tool,
  toSafeLine,
} from '../kernel/index.ts'
import { GROUPS, toolCovered } from './groups.ts'
import { combineLimits } from './limits.ts'
import { MESSAGES } from './messages.ts'
import { ALIASES, toPolicyName } from './names.ts'
import { type PolicyRules, rulesOfTool } from './policy.ts'

export interface DecideInput {
  readonly call: Pick<Call, 'tool' | 'arguments' | 'agentId' | 'origin'>
  /** Undefined when no tool has that name. */
  readonly tool: Tool | undefined
  /** The skill the call is about, when it names one. */
  readonly skill?: Skill
  readonly policy: PolicyRules
  /** More layers of this agent: its grants, its own ceiling and those of its ancestors, a skill in use. */
  readonly layers?: readonly Layer[]
  /** Skills that speak in this turn: they were loaded in it, and the model makes the call. */
  readonly skillsInUse?: readonly SkillInUse[]
  /** Names of the tools that exist, for "did you mean". */
  readonly knownTools?: readonly string[]
}

/** The rules of a loaded skill about tools. */
export interface SkillInUse {
  readonly name: string
  readonly isTrusted: boolean
  /** Names, groups and patterns; entries with arguments, such as `Bash(git:*)`, are left out. */
  readonly allowedTools: readonly string[]
  readonly restricts: boolean
}

/** Decides one call. Pure: the same input gives the same answer. */
export type Decide = (input: DecideInput) => Decision

/** A set of rules with a part in decisions. It can only make the answer stricter and the limits narrower. */
export interface Layer {
  /** `trust`, `tool`, `confirmation`, `policy`, `grants`, `ceiling`, `skill` … */
  readonly name: string
  /** Undefined when none of its rules covers the call. */
  readonly decide: (input: DecideInput) => Omit<Ruling, 'layer'> | undefined
}

/** The layers that every agent has, in the order in which equals count. */
const LAYERS: readonly Layer[] = [
  { name: 'trust', decide: decideByTrust },
  { name: 'tool', decide: decideByExistence },
  { name: 'confirmation', decide: decideByConfirmation },
  { name: 'policy', decide: decideByRules },
  { name: 'skill', decide: decideBySkills },
]

/** The layers of one decision: those that every agent has, then the agent's own. */
export function layersOf({ layers = [] }: DecideInput): readonly Layer[] {
  return [...LAYERS, ...layers]
}

/** The decision of one layer, with its name; undefined when none of its rules covers the call. */
export function rulingOf({ name, decide: rule }: Layer, input: DecideInput): Ruling | undefined {
  const said = rule(input)
  return said && { layer: name, ...said }
}

/**
 * The one place where a call is decided: the strictest of all layers, the first of equals, within the narrowest limits.
 * A denial's reason is written for the model, the question for a person. Source: decisions, "layers".
 */
export const decide: Decide = (input) => {
  const chain = layersOf(input).flatMap((layer) => rulingOf(layer, input) ?? [])
  return toDecision(combine(chain), input)
}

interface Combined {
  readonly strictest: Ruling
  readonly chain: readonly Ruling[]
  readonly limits: CallLimits
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const
/** Tools that run or change something. */
const ACTS = new Set([...(GROUPS.get('group:runtime') ?? []), 'write_file', 'edit_file'].map(toPolicyName))
const NO_RULE: Ruling = { layer: 'none', type: 'deny', rule: 'none', reason: MESSAGES.noPolicy() }

/** The strictest ruling (deny over ask over allow), the first of equals, and the narrowest limits; nothing allows what no rule covers. */
export function combine(chain: readonly Ruling[]): Combined {
  const level = Math.max(...chain.map(({ type }) => STRICTNESS[type]))
  const strictest = chain.find(({ type }) => STRICTNESS[type] === level) ?? NO_RULE
  return { strictest, chain, limits: combineLimits(chain.map(({ limits }) => limits ?? {})) }
}

function toDecision({ strictest, chain, limits }: Combined, input: DecideInput): Decision {
  const { type, rule, reason = 'no reason given' } = strictest
  const confirming = chain.find((ruling) => ruling.limits?.confirmation)
  if (type === 'deny') return { type, rule, chain, limits, reason }
  const preapproval = type === 'ask' && !confirming ? preapprovalOf(chain, input) : undefined
  if (preapproval) return { type: 'allow', rule: preapproval.rule, chain: [...chain, preapproval], limits }
  if (type === 'ask') return { type, rule, chain, limits, question: toQuestion(input) }
  if (confirming) return { type: 'ask', rule: confirming.rule, chain, limits, question: toQuestion(input) }
  return { type, rule, chain, limits }
}

/** A trusted skill in use answers the question of a preset, and no other. Source: decisions, "pre-approval by a skill". */
function preapprovalOf(chain: readonly Ruling[], { tool, policy, skillsInUse = [] }: DecideInput): Ruling | undefined {
  const isPresetOwn = chain.every((ruling) => ruling.type !== 'ask' || ruling.isPresetOwn)
  if (!tool || !isPresetOwn) return undefined
  const groups = withShipped(policy)
  const skill = skillsInUse.find(
    ({ isTrusted, allowedTools }) => isTrusted && allowedTools.some((entry) => toolCovered(entry, tool.name, groups)),
  )
  return skill && { layer: 'skill', type: 'allow', rule: `allowed-tools of ${toSafeLine(skill.name)}` }
}

/** For lists of skills a shipped group has its shipped meaning: a replaced one could lift a restriction or answer a question. */
function withShipped({ groups }: PolicyRules): PolicyRules['groups'] {
  return new Map([...groups, ...GROUPS])
}

/** Tools that a restricting skill leaves usable besides its own list: how to load another, or read this one. */
const SKILL_TOOLS = 'group:skills'

/** The strictest of the skills that restrict, from any source. Source: decisions, "metadata.restrict". */
function decideBySkills({ tool, policy, skillsInUse = [] }: DecideInput): Omit<Ruling, 'layer'> | undefined {
  const restricting = skillsInUse.filter(({ restricts }) => restricts)
  if (!tool || restricting.length === 0) return undefined
  const groups = withShipped(policy)
  const covers = (entry: string): boolean => toolCovered(entry, tool.name, groups)
  const refusing = restricting.find(({ allowedTools }) => ![...allowedTools, SKILL_TOOLS].some(covers))
  if (!refusing) return { type: 'allow', rule: 'metadata.restrict' }
  const name = toSafeLine(refusing.name)
  return { type: 'deny', rule: `metadata.restrict of ${name}`, reason: MESSAGES.restricted(tool.name, name) }
}

function decideByTrust({ skill }: DecideInput): Omit<Ruling, 'layer'> | undefined {
  if (!skill || skill.origin.trusted) return undefined
  return { type: 'deny', rule: 'trust', reason: MESSAGES.untrusted(toSafeLine(skill.name)) }
}

/** For an agent in a workspace: as long as it waits for trust, no tool starts a command or changes a file, whatever else is allowed. */
export function untrustedWorkspace(waits: () => boolean): Layer {
  return {
    name: 'trust',
    decide: ({ tool }) =>
      tool && ACTS.has(toPolicyName(tool.name)) && waits()
        ? { type: 'deny', rule: 'trust', reason: MESSAGES.untrustedWorkspace() }
        : undefined,
  }
}

/** Longer lists do not help a model that made a name up. */
const MAX_LISTED = 20

function decideByExistence({ call, tool, knownTools = [] }: DecideInput): Omit<Ruling, 'layer'> | undefined {
  if (tool) return undefined
  const known = new Set(knownTools)
  const meant = ALIASES.get(toPolicyName(call.tool))
  const guess = meant !== undefined && known.has(meant) ? meant : nearest(call.tool, known)
  // A model gets the list of the tools that it is offered, which is shorter.
  const names = call.origin === 'model' ? [] : knownTools
  const listed = names.slice(0, MAX_LISTED).join(', ') + (names.length > MAX_LISTED ? ', …' : '')
  return { type: 'deny', rule: 'unknown tool', reason: MESSAGES.unknownTool(short(call.tool, 80), { guess, listed }) }
}

function decideByConfirmation({ tool }: DecideInput): Omit<Ruling, 'layer'> | undefined {
  if (!tool?.options?.requiresConfirmation) return undefined
  return { type: 'ask', rule: `confirm ${tool.name}`, limits: { confirmation: true } }
}

function decideByRules({ tool, policy }: DecideInput): Omit<Ruling, 'layer'> | undefined {
  return tool && rulesOfTool(policy, tool)
}

/** A person must see what would run, on one line and without control characters. */
function toQuestion({ call, tool }: DecideInput): string {
  return MESSAGES.question(tool?.name ?? short(call.tool, 80), short(JSON.stringify(call.arguments), 500))
}

function short(text: string, length: number): string {
  const line = toSafeLine(text)
  return line.length > length ? `${line.slice(0, length).toWellFormed()}…` : line
}

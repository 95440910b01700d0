import type { Call, Decision, Skill, Tool } from '../kernel/index.ts'

/** The tools part of an agent's configuration. Names and groups; deny wins over ask, ask over allow. Source: seed 001 §4. */
export interface PolicyRules {
  readonly profile: 'minimal' | 'coding' | 'messaging' | 'full'
  readonly allow: readonly string[]
  readonly ask: readonly string[]
  readonly deny: readonly string[]
  /** `group:name` to members; groups may nest. */
  readonly groups: ReadonlyMap<string, readonly string[]>
}

/** Everything a decision may depend on. */
export interface DecideInput {
  readonly call: Pick<Call, 'tool' | 'arguments' | 'agentId' | 'origin'>
  /** Undefined when no tool has that name. */
  readonly tool: Tool | undefined
  /** The skill the call is about, when it names one. */
  readonly skill?: Skill
  readonly policy: PolicyRules
}

/** Decides one call. Pure: the same input gives the same answer. */
export type Decide = (input: DecideInput) => Decision

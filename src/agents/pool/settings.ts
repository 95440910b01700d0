/** settings: the facts of an agent that its row keeps besides its rights. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import type { AgentRecord } from '../../store/index.ts'
import type { Budget } from './types.ts'

export interface AgentSettings {
  /** The configured agent that it or its oldest ancestor was made from: its ceiling of today applies. */
  readonly profile: string
  /** The session of the configured agent that made it: only there it is a descendant. */
  readonly madeIn?: string
  readonly model?: string
  readonly instructions?: string
  readonly skills?: readonly string[]
  readonly budget?: Budget
  /** The request that made it. */
  readonly request?: string
}

export function saveSettings(settings: AgentSettings): JsonObject {
  return JSON.parse(JSON.stringify(settings)) as JsonObject
}

/** A fact of another form counts as absent, but for the list of skills: then it sees none. */
export function readSettings({ settings }: Pick<AgentRecord, 'settings'>): AgentSettings {
  const { profile, madeIn, model, instructions, skills, budget, request } = settings
  return {
    profile: text(profile) ?? '',
    madeIn: text(madeIn),
    model: text(model),
    instructions: text(instructions),
    request: text(request),
    skills: skills === undefined ? undefined : texts(skills),
    budget: isJsonObject(budget) ? toBudget(budget) : {},
  }
}

const NAMES = ['maxTokens', 'maxTurns', 'maxTimeMs', 'maxChildren', 'maxDepth', 'maxCost'] as const

function toBudget(budget: JsonObject): Budget {
  const entries = NAMES.flatMap((name) => {
    const value = budget[name]
    // Anything but a number means that nothing is left.
    return value === undefined ? [] : [[name, typeof value === 'number' ? value : 0] as const]
  })
  return Object.fromEntries(entries)
}

const text = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

function texts(value: JsonValue): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []
}

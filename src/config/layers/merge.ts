import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { copyValue } from '../document/path.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { fits } from '../document/pattern.ts'

/** How two values of one key become one. `*` in a path matches any one key. */
const RULES: readonly { readonly path: string; readonly rule: 'replace' | 'add' | 'add-before' | 'by-id' }[] = [
  // Whole, so that a key never travels to another file's address.
  ...[
    'model',
    'search',
    'store',
    'nats',
    'execution.e2b',
    'mcp.servers.*',
    'secrets.providers.*',
    'skills.entries.*.apiKey',
  ].map((path) => ({ path, rule: 'replace' as const })),
  // The file that weighs more comes first in the search.
  { path: 'skills.load.extraDirs', rule: 'add-before' },
  { path: 'skills.skill_dirs', rule: 'add-before' },
  { path: 'skills.sources', rule: 'add-before' },
  { path: 'skills.disabled_skills', rule: 'add' },
  { path: 'skills.builtin', rule: 'add' },
  { path: 'skills.custom', rule: 'add' },
  { path: 'agents', rule: 'by-id' },
  { path: 'agents.*.tools.allow', rule: 'add' },
  { path: 'agents.*.tools.ask', rule: 'add' },
  { path: 'agents.*.tools.deny', rule: 'add' },
  { path: 'agents.*.permissions.disableTools', rule: 'add' },
  { path: 'agents.*.permissions.addBlockedPaths', rule: 'add' },
  { path: 'permissions.presets.*.blockedPaths', rule: 'add' },
  { path: 'permissions.presets.*.disableTools', rule: 'add' },
  { path: 'permissions.destructiveTools', rule: 'add' },
  { path: 'execution.network.deniedDomains', rule: 'add' },
  { path: 'execution.filesystem.denyRead', rule: 'add' },
  { path: 'execution.filesystem.denyWrite', rule: 'add' },
]

/** Lays `next` over `base`: maps by key, lists by the rules above, everything else is replaced. Neither is changed. */
export function mergeDocuments(base: ConfigDocument, next: ConfigDocument): ConfigDocument {
  return mergeValues(base as JsonObject, next as JsonObject, []) as ConfigDocument
}

/** How many agents or presets may extend one another in a row. */
export const MAX_CHAIN = 16

export type AgentDocument = NonNullable<ConfigDocument['agents']>[number]

/**
 * Each agent laid over the one it extends, by the rules for two files. An `extends` that leads nowhere or round in a
 * circle adds nothing; it is an error elsewhere. `shadow` is not inherited: the shadow itself may extend the agent.
 */
export function expandAgents(agents: readonly AgentDocument[]): AgentDocument[] {
  const byId = new Map(agents.map((agent) => [agent.id, agent]))
  const expand = (agent: AgentDocument, seen: readonly string[]): AgentDocument => {
    const base = agent.extends === undefined ? undefined : byId.get(agent.extends)
    if (base === undefined || seen.length > MAX_CHAIN || seen.includes(base.id)) return agent
    const { extends: _extends, shadow: _shadow, ...inherited } = expand(base, [...seen, base.id])
    return mergeValues(inherited as JsonObject, agent as JsonObject, ['agents', '*']) as AgentDocument
  }
  return agents.map((agent) => expand(agent, [agent.id]))
}

function mergeValues(base: JsonValue | undefined, next: JsonValue, keys: readonly string[]): JsonValue {
  if (Array.isArray(next)) return mergeLists(Array.isArray(base) ? base : [], next, keys)
  if (ruleFor(keys) === 'replace' || !isJsonObject(base) || !isJsonObject(next)) return copyValue(next)
  const merged = copyValue(base) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(next)) {
    merged[key] = mergeValues(Object.hasOwn(base, key) ? base[key] : undefined, value, [...keys, key])
  }
  return merged
}

function mergeLists(base: readonly JsonValue[], next: readonly JsonValue[], keys: readonly string[]): JsonValue {
  switch (ruleFor(keys)) {
    case 'add':
      return union([...base, ...next])
    case 'add-before':
      return union([...next, ...base])
    case 'by-id':
      return mergeById(base, next, keys)
    default:
      return next.map(copyValue)
  }
}

function mergeById(base: readonly JsonValue[], next: readonly JsonValue[], keys: readonly string[]): JsonValue {
  const merged = base.map(copyValue)
  for (const item of next) {
    const index = merged.findIndex((known) => idOf(known) === idOf(item))
    if (index === -1) merged.push(copyValue(item))
    else merged[index] = mergeValues(merged[index], item, [...keys, '*'])
  }
  return merged
}

function idOf(value: JsonValue): JsonValue | undefined {
  return isJsonObject(value) ? value['id'] : undefined
}

function ruleFor(keys: readonly string[]): (typeof RULES)[number]['rule'] | undefined {
  return RULES.find((row) => fits(row.path, keys))?.rule
}

function union(values: readonly JsonValue[]): JsonValue[] {
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]))
  return [...byText.values()].map(copyValue)
}

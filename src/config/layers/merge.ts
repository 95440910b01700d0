import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { copyValue } from '../document/path.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { memberOf, ROOT, rulesAt, type Schema, schemaFor } from '../schema/walk.ts'

/** Lays `next` over `base`: maps by key, lists as the schema says, everything else is replaced. Neither is changed. */
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
  if (rulesAt(keys).merge === 'whole' || !isJsonObject(base) || !isJsonObject(next)) return copyValue(next)
  const merged = copyValue(base) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(next)) {
    merged[key] = mergeValues(Object.hasOwn(base, key) ? base[key] : undefined, value, [...keys, key])
  }
  return merged
}

function mergeLists(base: readonly JsonValue[], next: readonly JsonValue[], keys: readonly string[]): JsonValue {
  switch (rulesAt(keys).merge) {
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

function union(values: readonly JsonValue[]): JsonValue[] {
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]))
  return [...byText.values()].map(copyValue)
}

/**
 * A document with the defaults of the schema. They are laid last: before the layers, an untrusted file would widen what an agent
 * inherits. Where `isBrief`, lists and maps that are empty by default are left out.
 */
export function withDefaults(value: JsonValue, schema: Schema = ROOT, isBrief = false): JsonValue {
  const form = schemaFor(schema, value)
  const { entries = {}, item } = form
  if (Array.isArray(value)) return item ? value.map((each) => withDefaults(each, item, isBrief)) : value
  if (!isJsonObject(value)) return value
  const absent = Object.entries(entries)
    .filter(([key]) => !Object.hasOwn(value, key))
    .map(([key, inner]) => [key, defaultOf(inner, isBrief)] as const)
  const present = Object.entries(value).map(([key, part]) => {
    const inner = memberOf(form, key)
    return [key, inner ? withDefaults(part, inner, isBrief) : part] as const
  })
  const filled = new Map([...absent.filter(([, part]) => part !== undefined), ...present])
  const order = [...Object.keys(entries), ...Object.keys(value)].filter((key) => filled.has(key))
  return Object.fromEntries(order.map((key) => [key, filled.get(key) as JsonValue]))
}

function defaultOf(schema: Schema, isBrief: boolean): JsonValue | undefined {
  if (schema.default === undefined) return undefined
  const usual = withDefaults(schema.default as JsonValue, schema, isBrief)
  return isBrief && typeof usual === 'object' && usual !== null && Object.keys(usual).length === 0 ? undefined : usual
}

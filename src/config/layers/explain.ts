import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import type { Layer, LoadedConfig, Origin } from '../config.ts'
import { CONFIG_DEFAULTS } from '../schema/defaults.ts'
import { placesIn } from '../document/parse-yaml.ts'
import { copyValue, partAt, type Path, type PathKey } from '../document/path.ts'
import { ROOT, rulesOf, type Schema, schemaFor } from '../schema/walk.ts'
import { type AgentDocument, expandAgents, MAX_CHAIN } from './merge.ts'
import { originOf } from './origins.ts'
import { inProfile } from '../profiles.ts'

/** The effective settings in the form of a file, and where each was written. Secrets are in it: mask before showing. */
export interface Explained {
  readonly document: JsonObject
  /** Undefined when the default holds. */
  originOf(keys: Path): Origin | undefined
}

/** Puts the defaults of the schema under what the files say; sections that this version does not use get none. */
export function explain({ config, layers }: Pick<LoadedConfig, 'config' | 'layers'>): Explained {
  const written = copyValue(config.values) as Record<string, JsonValue>
  const agents = (written['agents'] ?? []) as readonly JsonValue[] as readonly AgentDocument[]
  written['agents'] = (agents.length > 0
    ? expandAgents(agents)
    : [{ id: CONFIG_DEFAULTS.agentId }]) as readonly object[] as JsonValue
  const document = fill(written, [], ROOT) as JsonObject
  const places = new Map<Layer, ReturnType<typeof placesIn>>()
  return {
    document,
    originOf(keys) {
      const origin = firstOrigin({ document, keys, layers, agents })
      if (origin === undefined) return undefined
      const { layer, at } = origin
      if (layer.text === undefined) return { path: layer.path, keys: at }
      const locate = places.get(layer) ?? placesIn(layer.text)
      places.set(layer, locate)
      return { path: layer.path, ...locate(layer.isProfile ? inProfile(at) : at), keys: at }
    },
  }
}

interface Sought {
  readonly document: JsonObject
  readonly keys: Path
  readonly layers: LoadedConfig['layers']
  readonly agents: readonly AgentDocument[]
}

/** Where the setting was written: for an agent, else for the agent that it extends, and so on. */
function firstOrigin({ document, keys, layers, agents }: Sought): ReturnType<typeof originOf> {
  const [section, index] = keys
  let id = section === 'agents' ? (partAt(document, ['agents', index ?? 0, 'id']) as string) : undefined
  for (let steps = 0; steps <= MAX_CHAIN; steps++) {
    const as = id === undefined ? document : { ...document, agents: renamed(document['agents'], index, id) }
    const origin = originOf(as, keys, layers)
    const next = agents.find((agent) => agent.id === id)?.extends
    if (origin !== undefined || next === undefined || keys.length < 3) return origin
    id = next
  }
  return undefined
}

/** The agents, one of them under another id: that is how its part in a file is found. */
function renamed(agents: JsonValue | undefined, index: PathKey | undefined, id: string): JsonValue {
  const list = (agents ?? []) as readonly JsonObject[]
  return list.map((agent, position) => (position === index ? { ...agent, id } : agent))
}

function fill(value: JsonValue, keys: Path, schema: Schema): JsonValue {
  const inner = schemaFor(schema, value)
  if (Array.isArray(value)) {
    const { item } = inner
    return item ? value.map((member, index) => fill(member, [...keys, index], item)) : value
  }
  if (!isJsonObject(value)) return value
  const filled: Record<string, JsonValue> = {}
  for (const [key, member] of Object.entries(inner.entries ?? {})) {
    const here = [...keys, key]
    const found = Object.hasOwn(value, key) ? fill(value[key] as JsonValue, here, member) : defaultOf(member, here)
    if (found !== undefined) filled[key] = found
  }
  for (const [key, member] of Object.entries(value)) {
    if (Object.hasOwn(filled, key)) continue
    filled[key] = inner.type === 'record' && inner.value ? fill(member, [...keys, key], inner.value) : member
  }
  return filled
}

function defaultOf(schema: Schema, keys: Path): JsonValue | undefined {
  const { unused } = rulesOf(schema)
  if (unused && unused.value === undefined) return undefined
  if (schema.default !== undefined) return schema.default as JsonValue
  if (schemaFor(schema, {}).type !== 'strict_object') return undefined
  const filled = fill({}, keys, schema) as JsonObject
  return Object.keys(filled).length > 0 ? filled : undefined
}

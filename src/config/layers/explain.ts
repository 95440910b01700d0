import { type JsonObject, type JsonValue } from '../../kernel/index.ts'
import type { Layer, LoadedConfig, Origin } from '../config.ts'
import { CONFIG_DEFAULTS } from '../schema/defaults.ts'
import { placesIn } from '../document/parse-yaml.ts'
import { copyValue, partAt, type Path, type PathKey } from '../document/path.ts'
import { ROOT } from '../schema/walk.ts'
import { type AgentDocument, expandAgents, MAX_CHAIN, withDefaults } from './merge.ts'
import { originOf } from './origins.ts'
import { inProfile } from '../profiles.ts'

/** The effective settings in the form of a file, and where each was written. Secrets are in it: mask before showing. */
export interface Explained {
  readonly document: JsonObject
  /** Undefined when the default holds. */
  originOf(keys: Path): Origin | undefined
}

/** Puts the defaults of the schema under what the files say. */
export function explain({ config, layers }: Pick<LoadedConfig, 'config' | 'layers'>): Explained {
  const written = copyValue(config.values) as Record<string, JsonValue>
  const agents = (written['agents'] ?? []) as readonly JsonValue[] as readonly AgentDocument[]
  written['agents'] = (agents.length > 0
    ? expandAgents(agents)
    : [{ id: CONFIG_DEFAULTS.agentId }]) as readonly object[] as JsonValue
  const document = withDefaults(written, ROOT, true) as JsonObject
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

/** loaded-skills: keeps with a session what its model loaded, so that another process goes on with it. */
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import type { TurnAgent } from './turn-context.ts'

type Loaded = ReturnType<TurnAgent['loadedSkills']>[number]
const KEYS = ['address', 'name', 'baseDir', 'treeDigest'] as const

/** The snapshot of a session with what was loaded in it. */
export function withLoaded(snapshot: JsonObject, loaded: readonly Loaded[]): JsonObject {
  return loaded.length === 0 ? snapshot : { ...snapshot, loaded: loaded.map((each) => ({ ...each })) }
}

/** What `withLoaded` added; items of another form are left out. */
export function loadedOf(snapshot: JsonObject | undefined): readonly Loaded[] {
  const list = snapshot?.['loaded']
  return Array.isArray(list) ? (list as readonly JsonValue[]).flatMap(toLoaded) : []
}

function toLoaded(item: JsonValue): readonly Loaded[] {
  if (!isJsonObject(item)) return []
  const [address, name, baseDir, treeDigest] = KEYS.map((key) => item[key])
  const isWhole =
    typeof address === 'string' &&
    typeof name === 'string' &&
    typeof baseDir === 'string' &&
    typeof treeDigest === 'string'
  return isWhole ? [{ address, name, baseDir, treeDigest }] : []
}

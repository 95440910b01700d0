import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import type { Config, LoadedConfig, Origin } from './config.ts'

/**
 * Whether the dotted path leads to something true: not false, 0, null or blank text. Only own properties count.
 * For `requires.config` of skills. Source: seed 001 §1.4.
 */
export function configTruthy(config: Pick<Config, 'values'>, path: string): boolean {
  let value: JsonValue | undefined = config.values
  for (const key of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return false
    value = value[key]
  }
  return typeof value === 'string' ? value.trim() !== '' : Boolean(value)
}

/** The effective settings in the form of a file. */
export interface ExplainedConfig {
  /** All defaults filled in, one name for each setting, and only values that the schema marks as public. */
  readonly document: JsonObject
  /** Where the value at these keys was written; undefined when the default holds. */
  originOf(keys: readonly (string | number)[]): Origin | undefined
  /** The keys, as they are shown, that lead to the part at a dotted path; the path has them as written or as shown. Undefined when there is none. */
  keysAt(path: string): readonly string[] | undefined
  /** Whether the schema knows a setting at these keys, written or not. */
  isSetting(keys: readonly string[]): boolean
}

/** The settings that apply, each with its file and line; runs nothing. */
export async function explainConfig(loaded: LoadedConfig): Promise<ExplainedConfig> {
  const { explain } = await import('./layers/explain.ts')
  const { maskDocument } = await import('./secrets/mask.ts')
  const { isSetting } = await import('./schema/walk.ts')
  const { document, originOf } = explain(loaded)
  const masked = maskDocument(document, loaded.secrets)
  return {
    document: masked,
    originOf: (keys) => originOf(writtenKeys(keys, masked, document)),
    keysAt: (path) => shownKeysAt(path, masked, document),
    isSetting,
  }
}

/** A key may have dots in it, so each key that the path begins with is tried. */
function shownKeysAt(path: string, shown: JsonValue, written: JsonValue): readonly string[] | undefined {
  if (!isJsonObject(shown) || !isJsonObject(written)) return undefined
  const shownNames = Object.keys(shown)
  for (const [index, key] of Object.keys(written).entries()) {
    const shownName = shownNames[index] ?? key
    for (const name of new Set([key, shownName])) {
      if (path === name) return [shownName]
      const rest = path.startsWith(`${name}.`) ? path.slice(name.length + 1) : undefined
      const below = rest === undefined ? undefined : shownKeysAt(rest, shown[shownName] ?? null, written[key] ?? null)
      if (below) return [shownName, ...below]
    }
  }
  return undefined
}

/** The keys as they were written, of keys as they are shown: a hidden one is known by its position. */
function writtenKeys(keys: readonly (string | number)[], shown: JsonValue, written: JsonValue): (string | number)[] {
  let [from, to]: (JsonValue | undefined)[] = [shown, written]
  return keys.map((key) => {
    const own = isJsonObject(from) && isJsonObject(to) ? Object.keys(to)[Object.keys(from).indexOf(String(key))] : key
    from = memberOf(from, key)
    to = memberOf(to, own ?? key)
    return own ?? key
  })
}

function memberOf(value: JsonValue | undefined, key: string | number): JsonValue | undefined {
  if (isJsonObject(value)) return value[key]
  return Array.isArray(value) ? (value as readonly JsonValue[])[Number(key)] : undefined
}

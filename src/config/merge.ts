import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import { copyValue } from './document/parts.ts'
import type { ConfigDocument } from './schema.ts'

/** How two values of one key become one. `*` in a path stands for any one key. */
const RULES: readonly { readonly path: string; readonly rule: 'replace' | 'add' | 'add-before' | 'by-id' }[] = [
  // Whole, so that a key never travels to another file's address.
  { path: 'model', rule: 'replace' },
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
]

/** Lays `next` over `base`: maps by key, lists by the rules above, everything else is replaced. Neither is changed. */
export function mergeDocuments(base: ConfigDocument, next: ConfigDocument): ConfigDocument {
  return mergeValues(base as JsonObject, next as JsonObject, []) as ConfigDocument
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
  const path = keys.join('.')
  return RULES.find((row) => row.path === path)?.rule
}

function union(values: readonly JsonValue[]): JsonValue[] {
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]))
  return [...byText.values()].map(copyValue)
}

import { isJsonObject, type JsonObject } from '../../kernel/index.ts'
import { normalizeMetadata } from '../fields/gating.ts'
import { ALIASES } from '../fields/metadata-keys.ts'

const TEXT = /"[^"\\\x7f]*"/g
/** What is left of JSON without its texts, when these are all its scalars. */
const WITHOUT_TEXTS = /^[{}[\],: "]+$/
/** More open brackets may be too many levels. */
const MAX_BRACKETS = 60

/**
 * The mapping that a line of JSON stands for, when YAML reads the same: its scalars are texts without escapes, and no key is there twice.
 * Undefined for others.
 */
export function plainJson(text: string): JsonObject | undefined {
  const left = text.replace(TEXT, '"')
  if (!WITHOUT_TEXTS.test(left) || left.includes(' :') || left.replace(/[^[{]/g, '').length > MAX_BRACKETS)
    return undefined
  try {
    const value: unknown = JSON.parse(text)
    const blanks = left.length - left.replaceAll(' ', '').length
    // Of two equal keys one would be lost.
    return isJsonObject(value) && JSON.stringify(value).length === text.length - blanks ? value : undefined
  } catch {
    // No JSON: YAML may still read it.
    return undefined
  }
}

/** True when reading has nothing to report about such a mapping below `metadata`. */
export function isSoundMapping(metadata: JsonObject): boolean {
  const blocks = ALIASES.filter((alias) => Object.hasOwn(metadata, alias)).map((alias) => metadata[alias])
  const containers = blocks.filter(isJsonObject)
  // Text may hold JSON5.
  if (containers.length < blocks.length) return false
  let isSound = true
  const report = { diagnostics: [], add: () => (isSound = false) }
  normalizeMetadata([...containers, metadata, {}], { report, place: () => ({ line: 1, column: 1 }) })
  return isSound
}

/** Where a key of the outermost mapping begins in such a text. */
export function offsetOfKey(text: string, key: string): number {
  let level = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') level++
    else if (character === '}' || character === ']') level--
    else if (character === '"') {
      const end = text.indexOf('"', at + 1)
      if (level === 1 && text.slice(at + 1, end) === key && /^ *:/.test(text.slice(end + 1, end + 100))) return at
      at = end
    }
  }
  return 0
}

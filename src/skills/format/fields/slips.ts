import { type JsonObject, type JsonValue, nearest } from '../../../kernel/index.ts'
import type { KeyPath } from '../front.ts'
import { FIELD_NAMES, type Holder, REQUIREMENTS } from './table.ts'

type Add = (path: KeyPath, right: string) => void

/** Keys of other clients in `requires`, and remarks. They gate nothing here. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  ...['mcp', 'skills', 'tools', 'toolGroups', 'toolsets', 'plugins', 'note', 'notes'],
])

/** The top-level keys whose typos are reported. */
const TOP_KEYS: readonly string[] = [
  ...['description', 'license', 'compatibility', 'metadata', 'allowed-tools', 'arguments', 'argument-hint'],
  ...['disable-model-invocation', 'user-invocable', 'author', 'version'],
  ...['emoji', 'homepage', 'requires', 'anyBins', 'primaryEnv', 'install'],
]

/** Keys that need no search: spellings that are read, and words that authors use beside them. */
const NO_TYPOS: ReadonlySet<string> = new Set([
  ...['name', ...TOP_KEYS],
  ...['allowed_tools', 'disable_model_invocation', 'user_invocable', 'authors', 'versions'],
])

/** The top-level key that another one is probably a typo of, unless that one is given as well. */
export function similarTopLevelKey(key: string, front: JsonObject): string | undefined {
  // A key behind an odd space is reported as that.
  if (NO_TYPOS.has(key) || !/^\S{4}/.test(key)) return undefined
  // Many words are near to the four letters of name.
  const isName = /^[^a-z]*n[^a-z]*a[^a-z]*m[^a-z]*e[^a-z]*$/i.test(key)
  const right = isName ? 'name' : nearest(key, TOP_KEYS)
  return right === undefined || Object.hasOwn(front, right) ? undefined : right
}

interface Searched {
  readonly clients: readonly Holder[]
  readonly metadata: Holder
  /** The mapping that gates, or one at the top level that does not. */
  readonly requires: Holder | undefined
  readonly other: Holder | undefined
}

/** Reports keys that were meant to gate and do not. In `metadata` itself keys are the author's own, unless they have the letters of a field. */
export function reportSlips({ clients, metadata, requires, other }: Searched, add: Add): void {
  for (const { path, fields } of [...clients, metadata])
    for (const [key, value] of Object.entries(fields)) {
      const right = rightField(key, value, path.length > 1)
      if (right !== undefined) add([...path, key], right)
    }
  if (requires) reportUnknown(requires, add, 'bins, anyBins, env, config and network')
  if (other) reportUnknown(other, add)
}

/** `instead`: what is proposed for a key that is near to none. */
function reportUnknown({ path, fields }: Holder, add: Add, instead?: string): void {
  for (const key of Object.keys(fields).filter(isUnknown)) {
    const right = nearest(key, REQUIREMENTS) ?? instead
    if (right !== undefined) add([...path, key], right)
  }
}

function isUnknown(key: string): boolean {
  return !REQUIREMENTS.includes(key) && !OF_OTHERS.has(key) && !key.startsWith('optional')
}

/** The field that a key was meant to be. Short names are near to everything, so those must be the same letters. */
function rightField(key: string, value: JsonValue, isClients: boolean): string | undefined {
  if (FIELD_NAMES.includes(key)) return undefined
  const plain = key.toLowerCase().replace(/[-_ ]/g, '')
  if (OF_REQUIRES.has(plain)) return outsideRequires(plain, value, isClients)
  const right = PLAIN_FIELDS.get(plain) ?? (isClients && key.length > 4 ? nearest(key, LONG_FIELDS) : undefined)
  return typeof value === 'boolean' && right !== 'always' ? undefined : right
}

/** A requirement that is not inside `requires`; authors keep mappings of their own under these names. */
function outsideRequires(key: string, value: JsonValue, isClients: boolean): string | undefined {
  const isList = Array.isArray(value)
  if (key.startsWith('bin')) return isList || typeof value === 'string' ? 'requires.bins' : undefined
  return isList && isClients ? `requires.${key}` : undefined
}

const OF_REQUIRES: ReadonlySet<string> = new Set(['bin', 'bins', 'env', 'config'])
const LONG_FIELDS = FIELD_NAMES.filter((name) => name.length > 4)
const PLAIN_FIELDS = new Map(FIELD_NAMES.map((name) => [name.toLowerCase(), name] as const))

import { CLIENT_BLOCKS, isJsonObject, type JsonObject, type JsonValue, nearest } from '../../../kernel/index.ts'
import type { KeyPath } from '../front.ts'
import { FIELD_NAMES, type Holder, REQUIREMENTS } from './table.ts'

type Add = (path: KeyPath, right: string) => void

/** Keys of other clients in `requires`, and remarks. They gate nothing here. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  ...['mcp', 'skills', 'tools', 'toolGroups', 'toolsets', 'plugins', 'note', 'notes'],
])

/** Other words for a requirement. */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bins: ['binary', 'binaries', 'programs', 'commands', 'executables'],
    anyBins: ['anybinary', 'anybinaries', 'anyof', 'oneof'],
    env: ['environment', 'variables', 'envvars', 'vars'],
    config: ['settings'],
    os: ['platform', 'platforms', 'systems'],
  }).flatMap(([right, words]) => words.map((word) => [word, right] as const)),
)

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
  readonly requires: Holder | undefined
}

/** Reports keys that were meant to gate and do not. In `metadata` itself keys are the author's own, unless their name or value is clear. */
export function reportSlips({ clients, metadata, requires }: Searched, add: Add): void {
  for (const { path, fields } of [...clients, metadata]) {
    for (const [key, value] of Object.entries(fields)) {
      if (path.length === 1 && !looksLikeGate(key, value)) continue
      const right = rightField(key, value)
      if (right !== undefined) add([...path, key], right)
    }
  }
  for (const key of Object.keys(requires?.fields ?? {})) {
    const right = rightRequirement(key)
    if (right !== undefined) add([...(requires?.path ?? []), key], right)
  }
}

/** Reports keys that are near to a requirement, in a `requires` that has no key of another client. */
export function reportSlipsOfOthers({ path, fields }: Holder, add: Add): void {
  const entries = Object.entries(fields).map(([key, value]) => ({ key, value, right: rightRequirement(key) }))
  if (entries.some(({ right }) => right === undefined)) return
  for (const { key, value, right } of entries)
    if (right !== undefined && right !== ANY_REQUIREMENT && (Array.isArray(value) || typeof value === 'string'))
      add([...path, key], right)
}

const ANY_REQUIREMENT = 'bins, anyBins, env and config'

/** The requirement that a key was meant to be; undefined for one that is allowed in `requires`. */
function rightRequirement(key: string): string | undefined {
  if (REQUIREMENTS.includes(key) || OF_OTHERS.has(key) || key.startsWith('optional')) return undefined
  return (
    WORDS.get(plainly(key)) ?? PLAIN_REQUIREMENTS.get(plainly(key)) ?? nearest(key, REQUIREMENTS) ?? ANY_REQUIREMENT
  )
}

/** The field that a key was meant to be. Short names are near to everything, so those must be the same letters. */
function rightField(key: string, value: JsonValue): string | undefined {
  if (isOutsideRequires(key, value)) return `requires.${key.toLowerCase().startsWith('bin') ? 'bins' : key}`
  const right = similarField(key)
  return typeof value === 'boolean' && right !== 'always' ? undefined : right
}

function similarField(key: string): string | undefined {
  if (FIELD_NAMES.includes(key)) return undefined
  const long = key.length > 4 ? FIELD_NAMES.filter((field) => field.length > 4) : []
  return PLAIN_FIELDS.get(plainly(key)) ?? nearest(key, long)
}

/** True for a requirement that is not inside `requires`. Others keep mappings of their own under these names. */
function isOutsideRequires(key: string, value: JsonValue): boolean {
  if (/^(?:bins?|Bins)$/.test(key)) return typeof value === 'string' || Array.isArray(value)
  return (key === 'env' || key === 'config') && Array.isArray(value)
}

/** True for a key of `metadata` that surely means a field: by its letters, or by its value. */
function looksLikeGate(key: string, value: JsonValue): boolean {
  if (/^bins?$/i.test(key)) return isOutsideRequires(key, value)
  if (!FIELD_NAMES.includes(key) && PLAIN_FIELDS.get(plainly(key)) !== undefined) return true
  if ((CLIENT_BLOCKS as readonly string[]).includes(key)) return false
  if (isJsonObject(value))
    return Object.keys(value).some((name) => REQUIREMENTS.includes(name)) && similarField(key) === 'requires'
  const items = Array.isArray(value) ? (value as readonly JsonValue[]) : []
  return items.some((item) => isJsonObject(item) && item['kind'] !== undefined) && similarField(key) === 'install'
}

const PLAIN_FIELDS = byPlainName(FIELD_NAMES)
const PLAIN_REQUIREMENTS = byPlainName(REQUIREMENTS)

function byPlainName(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name.toLowerCase(), name]))
}

/** Without the differences between spellings: case, and `-` or `_` in it. */
function plainly(key: string): string {
  const lower = key.toLowerCase()
  return /[-_ ]/.test(lower) ? lower.replace(/[-_ ]/g, '') : lower
}

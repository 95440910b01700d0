import { type JsonObject, nearest } from '../../../kernel/index.ts'

/** Top-level keys that corpora use for the same purpose. `always` and `skillKey` count only inside metadata. */
export const TOP_LEVEL = ['emoji', 'homepage', 'os', 'requires', 'anyBins', 'primaryEnv', 'install'] as const

const FIELDS: readonly string[] = [...TOP_LEVEL, 'always', 'restrict', 'skillKey']

const PLAIN_FIELDS: ReadonlySet<string> = new Set(FIELDS.map((field) => field.toLowerCase()))

/** What `requires` may hold. */
export const REQUIREMENTS: readonly string[] = ['bins', 'anyBins', 'env', 'config', 'os', 'primaryEnv', 'install']

/** What other clients keep in `requires`, and remarks. It gates nothing here. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  ...['mcp', 'skills', 'tools', 'toolGroups', 'toolsets', 'plugins', 'note', 'notes'],
])

/** Other words for a requirement. */
const WORDS: Readonly<Record<string, string>> = {
  ...{ binary: 'bins', binaries: 'bins', programs: 'bins', commands: 'bins', executables: 'bins' },
  ...{ anybinary: 'anyBins', anybinaries: 'anyBins', anyof: 'anyBins', oneof: 'anyBins' },
  ...{ environment: 'env', variables: 'env', envvars: 'env', vars: 'env', settings: 'config' },
  ...{ platform: 'os', platforms: 'os', systems: 'os' },
}

/** The requirement that a key of `requires` was meant to be, `''` when no guess is near; undefined for one that is allowed there. */
export function similarRequirement(key: string): string | undefined {
  if (REQUIREMENTS.includes(key) || OF_OTHERS.has(key) || key.startsWith('optional')) return undefined
  const plain = plainly(key)
  const word = Object.hasOwn(WORDS, plain) ? WORDS[plain] : undefined
  return word ?? sameWord(plain, REQUIREMENTS) ?? nearest(key, REQUIREMENTS) ?? ''
}

/** The field that an unknown key beside the fields was meant to be. Short names are near to everything, so those must be the same letters. */
export function similarField(key: string): string | undefined {
  if (FIELDS.includes(key)) return undefined
  const isLong = key.length > 4
  return (
    sameWord(plainly(key), FIELDS) ??
    (isLong
      ? nearest(
          key,
          FIELDS.filter((field) => field.length > 4),
        )
      : undefined)
  )
}

/** Top-level keys whose typos are reported. Those of name and description are reported where one is missing. */
const WITH_TYPOS: readonly string[] = [
  ...['license', 'compatibility', 'metadata', 'allowed-tools', 'arguments', 'argument-hint'],
  ...['disable-model-invocation', 'user-invocable', 'author', 'version'],
  ...TOP_LEVEL.filter((key) => key.length > 4),
]

/** Keys that need no typo search: the two that every skill has, spellings that are read, and words that authors use beside them. */
const NO_TYPOS: ReadonlySet<string> = new Set([
  ...['name', 'description', 'allowed_tools', 'disable_model_invocation', 'user_invocable', 'authors', 'versions'],
])

/** The top-level key that another one is probably a typo of, unless that one is given as well. */
export function similarTopLevelKey(key: string, front: JsonObject): string | undefined {
  // A key behind an odd space is reported as that.
  if (!/^[A-Za-z]\S{3}/.test(key) || WITH_TYPOS.includes(key) || NO_TYPOS.has(key)) return undefined
  const right = nearest(key, WITH_TYPOS)
  return right === undefined || Object.hasOwn(front, right) ? undefined : right
}

/** True for a field that is written otherwise: in other case, or with `-` or `_` in it. */
export function isSpelledLikeField(key: string): boolean {
  return !FIELDS.includes(key) && PLAIN_FIELDS.has(plainly(key))
}

function sameWord(plain: string, words: readonly string[]): string | undefined {
  return words.find((word) => word.toLowerCase() === plain)
}

/** Without the differences between spellings. */
function plainly(key: string): string {
  const lower = key.toLowerCase()
  return /[-_ ]/.test(lower) ? lower.replace(/[-_ ]/g, '') : lower
}

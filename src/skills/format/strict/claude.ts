import { isJsonObject, type JsonValue, nearest, ownValue } from '../../../kernel/index.ts'
import { similarTopLevelKey } from '../fields/slips.ts'
import { asBoolean } from '../fields/table.ts'
import { countCharacters } from '../fields/text.ts'
import { STRICT_LIMITS } from '../limits.ts'
import { checkCompatibility, SPEC_KEYS, type Subject } from './spec.ts'

/** A kind of value: the test, what it should be, and an example to type. */
export interface ValueKind {
  readonly accepts: (value: JsonValue) => boolean
  readonly means: string
  readonly example: string
}

const isText = (value: JsonValue): boolean => typeof value === 'string' && value.trim() !== ''
const isTexts = (value: JsonValue): boolean => Array.isArray(value) && value.every(isText)

export const TEXT: ValueKind = { accepts: isText, means: 'text', example: '"some text"' }
export const FLAG: ValueKind = {
  accepts: (value) => asBoolean(value) !== undefined,
  means: 'true or false',
  example: 'true',
}
const TEXT_OR_LIST: ValueKind = {
  accepts: (value) => isText(value) || isTexts(value),
  means: 'text or a list of texts',
  example: '[first, second]',
}

/** One of some words. */
export function oneOf(...words: readonly string[]): ValueKind {
  return {
    accepts: (value) => typeof value === 'string' && words.includes(value),
    means: words.length === 1 ? `the word ${words[0]}` : `one of ${words.join(', ')}`,
    example: words[0] ?? '',
  }
}

/** Keys of Claude Code beyond the specification. Flags and arguments are checked when the file is read. Source: skill-ecosystem §2b. */
const CLAUDE_KEYS: Readonly<Record<string, ValueKind | undefined>> = {
  when_to_use: TEXT,
  'argument-hint': TEXT,
  arguments: undefined,
  'disable-model-invocation': undefined,
  'user-invocable': undefined,
  'disallowed-tools': TEXT_OR_LIST,
  model: TEXT,
  effort: oneOf('low', 'medium', 'high', 'xhigh', 'max'),
  context: oneOf('fork'),
  agent: TEXT,
  background: FLAG,
  hooks: { accepts: isJsonObject, means: 'a mapping of events', example: '{PreToolUse: [...]}' },
  paths: TEXT_OR_LIST,
  shell: oneOf('bash', 'powershell'),
}

export function checkClaude(subject: Subject): void {
  const { document, front, add } = subject
  checkKnownKeys(subject, 'Claude Code', CLAUDE_KEYS)
  checkCompatibility(subject)
  if (typeof ownValue(front, 'metadata') === 'string' && ownValue(front, 'metadata') !== '')
    add('metadata-text', { key: ['metadata'] }, 'Claude Code')
  const reserved = document.name?.toLowerCase().match(/anthropic|claude/)?.[0]
  if (reserved !== undefined) add('name-reserved', { key: ['name'] }, reserved)
  checkListing(subject)
}

function checkListing({ document, front, add }: Subject): void {
  const { description } = document
  if (description === undefined) return
  const tag = /<\/?[A-Za-z][\w-]{0,40}(?: [^<>]{0,200})?>/.exec(description)?.[0]
  if (tag !== undefined) add('description-tags', { key: ['description'] }, tag)
  const more = ownValue(front, 'when_to_use')
  const length = countCharacters(description) + (typeof more === 'string' ? countCharacters(more.trim()) : 0)
  const { maxListedChars } = STRICT_LIMITS
  if (length > maxListedChars)
    add('description-cut', { key: [more === undefined ? 'description' : 'when_to_use'] }, maxListedChars, length)
}

/** Checks the values of a client's keys, and hints at keys that look like one of them. */
export function checkKnownKeys(
  { front, add }: Subject,
  client: string,
  keys: Readonly<Record<string, ValueKind | undefined>>,
): void {
  const known = [...SPEC_KEYS, ...Object.keys(keys)]
  for (const [key, value] of Object.entries(front)) {
    const kind = Object.hasOwn(keys, key) ? keys[key] : undefined
    if (kind !== undefined && value !== null && !kind.accepts(value)) {
      const expected = { wanted: kind.means, example: `${key}: ${kind.example}` }
      add('field-value', { key: [key] }, key, client, expected)
    }
    if (known.includes(key) || READ_ELSEWHERE.has(key) || similarTopLevelKey(key, front) !== undefined) continue
    const meant = nearest(key, known)
    if (meant === undefined || Object.hasOwn(front, meant)) continue
    add('key-unknown', { key: [key] }, client, key, meant)
  }
}

/** Keys that look like others but are ones of their own. */
const READ_ELSEWHERE: ReadonlySet<string> = new Set([
  ...['version', 'author', 'homepage', 'tags', 'triggers', 'type', 'tools', 'category', 'source', 'title', 'status'],
  ...['emoji', 'os', 'requires', 'install', 'anyBins', 'primaryEnv', 'owner', 'origin', 'user_invocable'],
  ...['disable_model_invocation', 'allowed_tools'],
])

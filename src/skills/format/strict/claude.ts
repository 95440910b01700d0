import { isJsonObject, type JsonValue, ownValue } from '../../../kernel/index.ts'
import { asBoolean } from '../fields/table.ts'
import { countCharacters } from '../fields/text.ts'
import { STRICT_LIMITS } from '../limits.ts'
import { checkCompatibility, type Subject } from './spec.ts'

/** A kind of value: the test, what it should be, and an example to type. */
export interface ValueKind {
  readonly accepts: (value: JsonValue) => boolean
  readonly means: string
  readonly example: string
}

const isText = (value: JsonValue): boolean => typeof value === 'string' && value.trim() !== ''
const isTexts = (value: JsonValue): boolean => Array.isArray(value) && value.every(isText)

export const TEXT: ValueKind = { accepts: isText, means: 'text', example: '"some text"' }
const FLAG: ValueKind = { accepts: (value) => asBoolean(value) !== undefined, means: 'true or false', example: 'true' }
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
const CLAUDE_KEYS: Readonly<Record<string, ValueKind>> = {
  when_to_use: TEXT,
  'argument-hint': TEXT,
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

/** Checks the values of a client's keys. */
export function checkKnownKeys(
  { front, add }: Subject,
  client: string,
  keys: Readonly<Record<string, ValueKind>>,
): void {
  for (const [key, value] of Object.entries(front)) {
    const kind = Object.hasOwn(keys, key) ? keys[key] : undefined
    if (kind === undefined || value === null || kind.accepts(value)) continue
    add('field-value', { key: [key] }, key, client, { wanted: kind.means, example: `${key}: ${kind.example}` })
  }
}

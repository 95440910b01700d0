import {
  type Failed,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Outcome,
  toSafeJson,
  toSafeText,
} from '../../kernel/index.ts'
import { NEXT_STEPS } from '../messages.ts'

/**
 * The string the model gets for an outcome: the text, then what the text does not contain already of the data.
 * A failure carries its code and what to do next. Pure; long outcomes are cut before, by `executeTool`.
 */
export function toModelText(outcome: Outcome): string {
  if (outcome.type === 'failed') {
    const head = `Error (${outcome.code}): ${toNotedMessage(outcome)}\n${nextStep(outcome)}`
    return withData(head, outcome.data ?? {})
  }
  return orNone(withData(outcome.text, outcome.data, outcome.path))
}

export function orNone(text: string): string {
  return text.trim() === '' ? '(no output)' : text
}

/** A failure in one line: what happened, then what to do. */
export function toErrorText(failure: Failed): string {
  const message = toNotedMessage(failure)
  return `${message}${/[.!?\u2026)]$/.test(message) ? '' : '.'} ${nextStep(failure)}`
}

/** The message of a failure and its notes (`data.notes`), each on a line of its own. */
export function toNotedMessage({ message, data }: Failed): string {
  const notes = Array.isArray(data?.['notes']) ? data['notes'] : []
  return [message, ...notes.map((note) => `Note: ${String(note)}`)].join('\n')
}

/** The next step after a failure: its own fix, else what fits every failure of that kind. */
function nextStep({ code, fix }: Pick<Failed, 'code' | 'fix'>): string {
  return fix ?? NEXT_STEPS[code]
}

/** The text reports these in words: how it was cut, and the notes of a command. */
const IN_TEXT_ALREADY: ReadonlySet<string> = new Set(['truncated', 'truncation', 'findings'])
/** Longer strings are shown as they are, under their name, and not as JSON. */
const MAX_INLINE_CHARS = 200

function withData(text: string, data: JsonObject, path?: string): string {
  const blocks = text === '' ? [] : [text]
  const rest: Record<string, JsonValue> = {}
  // The model named the file that the call is about.
  const isKnown = (key: string, value: JsonValue): boolean =>
    IN_TEXT_ALREADY.has(key) || (key === 'path' && path !== undefined && `/${path}`.endsWith(`/${String(value)}`))
  const entries = Object.entries(data).filter(([key, value]) => !isKnown(key, value))
  for (const [key, value] of entries.filter(([, item]) => isBlock(item))) {
    if (!contains(blocks.join('\n'), key, value)) blocks.push(`${key}:\n${toSafeText(String(value))}`)
  }
  const shown = blocks.join('\n')
  for (const [key, value] of entries.filter(([, item]) => !isBlock(item))) {
    if (!contains(shown, key, value)) rest[key] = value
  }
  if (Object.keys(rest).length > 0) blocks.push(`Data: ${toSafeJson(rest)}`)
  return blocks.join('\n\n')
}

function isBlock(value: JsonValue): boolean {
  return typeof value === 'string' && (value.length > MAX_INLINE_CHARS || value.includes('\n'))
}

/** True when the text contains the value: strings as they are or made safe, other scalars only beside their name. Null says nothing. */
function contains(text: string, key: string, value: JsonValue): boolean {
  if (value === null) return true
  if (typeof value === 'string') return text.includes(value.trim()) || text.includes(toSafeText(value).trim())
  if (Array.isArray(value)) return containsAll(text, key, value)
  if (typeof value === 'object') return Object.entries(value).every(([name, item]) => contains(text, name, item))
  const name = key.replace(/\W/g, '.').replaceAll('_', '[ _]')
  return new RegExp(`\\b${name}\\W{0,3}${String(value).replace(/\W/g, '\\$&')}(?!\\w|\\.\\d)`, 'i').test(text)
}

/** Objects are looked for in their order, each in one line that contains all of it: so each line is looked at once. */
function containsAll(text: string, key: string, items: readonly JsonValue[]): boolean {
  const lines = text.split('\n')
  let at = 0
  return items.every((item) => {
    if (typeof item === 'string') return contains(text, key, item)
    while (at < lines.length && !(isJsonObject(item) && contains(lines[at] ?? '', key, item))) at++
    return at < lines.length
  })
}

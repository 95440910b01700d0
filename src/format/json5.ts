import JSON5 from 'json5'
import { type JsonObject, type JsonValue, toSafeLine } from '../kernel/index.ts'
import { FORMAT_LIMITS } from './limits.ts'

/** What a text says that begins like a JSON5 object: its value, or why there is none. */
export type Json5Text =
  | { readonly value: JsonObject }
  /** A key that one mapping has twice: which of its values was meant is not known. */
  | { readonly twice: string }
  | { readonly fault: string }

/** Reads a text that begins with a brace; undefined for others. Never throws, and prints nothing. */
export function readJson5(text: string): Json5Text | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  const quiet = withEscapedSeparators(text)
  try {
    const value = plain(JSON5.parse(quiet), 0) as JsonObject
    const twice = keyGivenTwice(quiet)
    return twice === undefined ? { value } : { twice }
  } catch (error) {
    const fault = toSafeLine(error instanceof Error ? error.message : String(error))
    return { fault: fault.replace(/^JSON5: /, '').slice(0, 120) }
  }
}

/** A JSON5 object as plain data without prototypes, or undefined when the text is none. */
export function parseJson5(text: string): JsonObject | undefined {
  const read = readJson5(text)
  return read && 'value' in read ? read.value : undefined
}

function plain(value: unknown, depth: number): JsonValue {
  if (depth > FORMAT_LIMITS.maxDepth) throw new RangeError(`more than ${FORMAT_LIMITS.maxDepth} levels`)
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1))
  if (typeof value === 'object' && value !== null) {
    const result = Object.create(null) as Record<string, JsonValue>
    for (const [key, item] of Object.entries(value)) result[key] = plain(item, depth + 1)
    return result
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  return typeof value === 'string' || typeof value === 'boolean' ? value : null
}

const SEPARATOR = /[\u2028\u2029]/
const LINE_END = /[\n\r\u2028\u2029]/g

/** The same JSON5 with escapes for the line separators in its texts: the library prints a warning for each that stands there bare. */
function withEscapedSeparators(text: string): string {
  if (!SEPARATOR.test(text)) return text
  let escaped = ''
  let from = 0
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (quote === '') {
      if (character === '"' || character === "'") quote = character
      else if (character === '/') at = endOfComment(text, at)
    } else if (character === '\\') at++
    else if (character === quote) quote = ''
    else if (SEPARATOR.test(character)) {
      escaped += `${text.slice(from, at)}\\u${character.charCodeAt(0).toString(16)}`
      from = at + 1
    }
  }
  return escaped + text.slice(from)
}

/** The last character of a comment that begins there. */
function endOfComment(text: string, at: number): number {
  if (text[at + 1] === '*') {
    const end = text.indexOf('*/', at + 2)
    return end < 0 ? text.length : end + 1
  }
  if (text[at + 1] !== '/') return at
  LINE_END.lastIndex = at
  return LINE_END.exec(text)?.index ?? text.length
}

/** The pieces of a text that is known to be JSON5. */
const PIECES =
  /\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[{}[\],:]|[^\s{}[\],:"'/]+/g

/** Where a comment stands in a text. */
export interface JsonComment {
  readonly from: number
  readonly to: number
}

/** The comments of a text that may be JSON5. */
export function jsonCommentsIn(text: string): readonly JsonComment[] {
  return [...text.matchAll(PIECES)]
    .filter(([piece]) => piece.startsWith('/'))
    .map(({ 0: piece, index }) => ({ from: index, to: index + piece.length }))
}

/** A key that some mapping of a text has twice; the library takes the last one and says nothing. */
function keyGivenTwice(text: string): string | undefined {
  // Of lists, too, which have no keys.
  const seen: Set<string>[] = []
  let last = ''
  for (const [piece] of text.matchAll(PIECES)) {
    if (piece.startsWith('/')) continue
    if (piece === '{' || piece === '[') seen.push(new Set())
    else if (piece === '}' || piece === ']') seen.pop()
    else if (piece === ':') {
      const key = keyOf(last)
      const keys = seen.at(-1)
      if (keys?.has(key) === true) return key
      keys?.add(key)
    }
    last = piece
  }
  return undefined
}

/** Before a colon outside of texts and comments stands nothing but a key. */
function keyOf(written: string): string {
  if (/^[\w$]+$/.test(written)) return written
  return Object.keys(JSON5.parse<object>(`{${written}:0}`))[0] ?? ''
}

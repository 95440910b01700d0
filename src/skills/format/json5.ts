import JSON5 from 'json5'
import { type JsonObject, type JsonValue, toSafeLine } from '../../kernel/index.ts'
import { FORMAT_LIMITS } from './limits.ts'

/** The value of a text that begins like a JSON5 object, or why there is none. */
export type Json5Text =
  | { readonly value: JsonObject }
  /** A key that one mapping has twice: which of its values was meant is not known. */
  | { readonly twice: string }
  | { readonly fault: string }

/** Reads a text that begins with a brace; undefined for others. Never throws, and prints nothing. */
export function readJson5(text: string): Json5Text | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const value = plain(parseJson(text), 0) as JsonObject
    const twice = keyGivenTwice(text)
    return twice === undefined ? { value } : { twice }
  } catch (error) {
    const fault = toSafeLine(error instanceof Error ? error.message : String(error))
    return { fault: fault.replace(/^JSON5: /, '').slice(0, 120) }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON, so perhaps JSON5. The library prints a warning about bare separators in its texts.
    if (/[\u2028\u2029]/.test(text)) throw new SyntaxError('it holds a line separator, U+2028 or U+2029')
    return JSON5.parse(text)
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

/** The pieces of a text that is known to be JSON5. */
const PIECES =
  /\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[{}[\],:]|[^\s{}[\],:"'/]+/g

/** A key that some mapping of a text has twice; the library takes the last one and says nothing. */
function keyGivenTwice(text: string): string | undefined {
  // Lists have an empty set.
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

/** Before a colon outside of texts and comments there is only a key. */
function keyOf(written: string): string {
  if (/^[\w$]+$/.test(written)) return written
  return Object.keys(parseJson(`{${written}:0}`) as object)[0] ?? ''
}

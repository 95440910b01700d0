import type { JsonValue } from '../kernel/index.ts'

/** Single values as the fast reader reads them; undefined always means that it declines. */

const KEY = /^[A-Za-z_][\w.-]*(?: [\w.-]+)*$/
const MAX_KEY_CHARS = 200
/** Words of the core schema, which YAML also knows in other case. */
const WORD = /^(?:true|false|null)$/i
/** What the core schema reads as a number. */
const NUMBER =
  /^(?:[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
/** Numbers of which nothing gets lost. */
const PLAIN_NUMBER = /^(?:0|-?[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/
/** Characters with which a plain value may not begin, or begins only sometimes. */
const OTHER_START = /^(?:[\]{},#&*!|>@%`?:'"[]|-(?![A-Za-z]))/

/** How a scalar is read where its written form counts. */
export interface ScalarForm {
  readonly asWritten: boolean
  readonly numbers: 'exact' | 'value'
}

/** True for a key that needs no quotes and is not a word of YAML. */
export function isKey(text: string): boolean {
  return text.length <= MAX_KEY_CHARS && KEY.test(text) && (text.length > 5 || !WORD.test(text))
}

/** A value without quotes. */
export function readScalar(text: string, form: ScalarForm): JsonValue | undefined {
  if (text === '~') return null
  if (text.length <= 5 && WORD.test(text)) return readWord(text, form)
  if (NUMBER.test(text)) return readNumber(text, form)
  return isPlainText(text) ? text : undefined
}

/** In other case the words are rare enough for the library. */
function readWord(text: string, { asWritten }: ScalarForm): JsonValue | undefined {
  if (text !== text.toLowerCase()) return undefined
  if (asWritten) return text
  return text === 'null' ? null : text === 'true'
}

function readNumber(text: string, { asWritten, numbers }: ScalarForm): JsonValue | undefined {
  if (asWritten) return text
  if (numbers === 'exact') return exactNumber(Number(text), text)
  return PLAIN_NUMBER.test(text) ? Number(text) : undefined
}

/** A number; the text where the number would be written otherwise, such as 1.10 or 007. Source: decisions, "numbers without quotes". */
export function exactNumber(value: number, written: string): number | string {
  return String(value) === written ? value : written
}

/** True for a value that is text without quotes, whatever its words mean. */
export function isPlainText(text: string): boolean {
  return !OTHER_START.test(text) && !text.includes(': ') && !text.endsWith(':')
}

/** Index of the quote that closes a text; -1 when it is not on the line. */
export function closingQuote(text: string, quote: string, from = 1): number {
  const next = text.indexOf(quote, from)
  // Nearly always it is the next one.
  if (next < 0 || (quote === '"' ? !hasBackslash(text, from, next) : text[next + 1] !== "'")) return next
  for (let at = from; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++
    else if (text[at] === quote) {
      if (quote === '"' || text[at + 1] !== "'") return at
      at++
    }
  }
  return -1
}

function hasBackslash(text: string, from: number, to: number): boolean {
  const at = text.indexOf('\\', from)
  return at >= 0 && at < to
}

/** True when nothing or a comment follows the closing quote. */
export function afterClosing(text: string, end: number): boolean {
  return end === text.length - 1 || /^(?: +#.*| *)$/.test(text.slice(end + 1))
}

/** The text between quotes. Line breaks in it are already folded. Escapes that JSON does not have are declined. */
export function unquote(text: string): string | undefined {
  const inner = text.slice(1, -1)
  if (text[0] === "'") return inner.replaceAll("''", "'")
  if (!inner.includes('\\')) return inner
  if (/\\[^"\\/bfnrtu]/.test(inner.replaceAll('\\\\', ''))) return undefined
  try {
    return JSON.parse(text.replaceAll('\n', '\\n')) as string
  } catch {
    // Four hexadecimal digits are missing: the library reports it with its place.
    return undefined
  }
}

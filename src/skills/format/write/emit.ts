import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/index.ts'

/** A list of single values is written on one line up to this width. */
const MAX_LINE_CHARS = 110

const PLAIN_KEY = /^[A-Za-z_][\w.-]*$/
/** YAML 1.1 reads these as booleans or null, and so do many clients. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i

/** The entries of an object as lines of block YAML, each beginning with `indent`. Texts are always quoted. */
export function emitEntries(object: JsonObject, indent: string): string[] {
  return Object.entries(object).flatMap(([key, value]) => emitEntry(key, value, indent))
}

function emitEntry(key: string, value: JsonValue, indent: string): string[] {
  const head = `${indent}${PLAIN_KEY.test(key) && !WORDS.test(key) ? key : toJson(key)}:`
  if (isJsonObject(value) && Object.keys(value).length > 0) return [head, ...emitEntries(value, `${indent}  `)]
  if (Array.isArray(value)) {
    const items = value as readonly JsonValue[]
    const line = `${head} ${inFlow(items)}`
    if (!items.some(isCollection) && [...line].length <= MAX_LINE_CHARS) return [line]
    return [head, ...items.flatMap((item) => emitItem(item, `${indent}  `))]
  }
  return [`${head} ${inFlow(value)}`]
}

function emitItem(item: JsonValue, indent: string): string[] {
  if (!isJsonObject(item) || Object.keys(item).length === 0) return [`${indent}- ${inFlow(item)}`]
  const [first = '', ...rest] = emitEntries(item, `${indent}  `)
  return [`${indent}- ${first.slice(indent.length + 2)}`, ...rest]
}

/** A value on one line. */
function inFlow(value: JsonValue): string {
  // `~` and not `null`: under the keys name, description and version the word would be read as text.
  if (value === null) return '~'
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(inFlow).join(', ')}]`
  if (!isJsonObject(value)) return toJson(value)
  return `{${Object.entries(value)
    .map(([key, item]) => `${toJson(key)}: ${inFlow(item)}`)
    .join(', ')}}`
}

/** JSON without characters that YAML does not count as printable. JSON is YAML, in double quotes. */
export function toJson(value: JsonValue): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function isCollection(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null
}

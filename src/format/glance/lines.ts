import { COMMA, DASH, DOUBLE_QUOTE, OPEN_BRACKET, SINGLE_QUOTE, SPACE } from '../quick/bytes.ts'
import { isBlank } from './glance.ts'
import { WORD } from './patterns.ts'

const IS_WORD = new RegExp(`^${WORD}$`)
const NINE = 57
/** Bytes of a character that is not ASCII. */
const IS_WIDE = /[\x80-\xff]/

/** The lines one after the other. The current one begins at column `indent`; -1 after the last. */
export class Lines {
  indent = 0
  isItem = false
  private readonly text: string
  private from = 0
  private end = 0
  private colon = 0

  constructor(text: string) {
    this.text = text
    this.end = text.indexOf('\n')
  }

  next(): void {
    const text = this.text
    const start = this.end + 1
    let from = start
    while (text.charCodeAt(from) === SPACE) from++
    this.end = text.indexOf('\n', from)
    this.from = from
    this.indent = this.end < 0 ? -1 : from - start
    this.isItem = text.charCodeAt(from) === DASH
  }

  /** Goes past the current line and all that lies below it. */
  skip(): void {
    const { indent } = this
    do this.next()
    while (this.indent > indent)
  }

  /** From `- text` to `text`, which then is the line. */
  enterItem(): void {
    this.from += 2
    this.indent += 2
    this.isItem = false
  }

  /** Empty for a line without one. */
  key(): string {
    const colon = this.text.indexOf(':', this.from)
    this.colon = colon < 0 || colon > this.end ? this.from - 1 : colon
    return this.text.slice(this.from, Math.max(this.from, this.colon))
  }

  /** What stands behind the key that was asked for. */
  value(): string {
    return this.slice(this.colon + 1)
  }

  /** All of the line. */
  whole(): string {
    return this.slice(this.from)
  }

  private slice(start: number): string {
    const text = this.text
    let from = start
    let end = this.end
    while (text.charCodeAt(from) === SPACE) from++
    while (end > from && isBlank(text.charCodeAt(end - 1))) end--
    return text.slice(from, end)
  }
}

/** Different texts, in brackets or as items below; undefined when it is something else. Goes past them. */
export function list(lines: Lines): readonly string[] | undefined {
  const value = lines.value()
  if (value === '') return items(lines)
  const texts = value.charCodeAt(0) === OPEN_BRACKET ? flow(value) : undefined
  lines.skip()
  return texts
}

function items(lines: Lines): readonly string[] | undefined {
  const above = lines.indent
  const texts: string[] = []
  lines.next()
  const level = lines.indent
  if (level <= above || !lines.isItem) return undefined
  while (lines.indent === level && lines.isItem) {
    const whole = lines.whole()
    const text = IS_ITEM.test(whole) ? textOf(whole.slice(2)) : undefined
    if (text === undefined || texts.includes(text)) return undefined
    texts.push(text)
    lines.next()
  }
  return lines.indent < level ? texts.slice() : undefined
}

/** A value, and not `- key: value`. */
const IS_ITEM = /^- (?:["']|[\w/($.-](?:[^:]|:(?! |$))*$)/

/** `[a, "b"]`: words, and texts in double quotes without escapes. */
function flow(value: string): readonly string[] | undefined {
  if (IS_WIDE.test(value)) return undefined
  const texts: string[] = []
  const last = value.length - 1
  for (let at = 1; at < last;) {
    const isQuoted = value.charCodeAt(at) === DOUBLE_QUOTE
    const from = isQuoted ? at + 1 : at
    const found = value.indexOf(isQuoted ? '"' : ',', from)
    const end = found < 0 ? last : found
    const text = value.slice(from, end).trim()
    if (text === '' || texts.includes(text)) return undefined
    texts.push(text)
    at = isQuoted ? end + 1 : end
    while (at < last && (value.charCodeAt(at) === SPACE || value.charCodeAt(at) === COMMA)) at++
  }
  // A copy, because an array that grows keeps room for sixteen more.
  return texts.slice()
}

/** A text that is not empty; undefined for numbers, words such as null, and lists. */
export function textOf(value: string): string | undefined {
  const text = unquoted(value)?.trim()
  return text === '' ? undefined : text
}

function unquoted(value: string): string | undefined {
  if (IS_WIDE.test(value)) return undefined
  const first = value.charCodeAt(0)
  if (first === DOUBLE_QUOTE) return value.includes('\\') ? (JSON.parse(value) as string) : value.slice(1, -1)
  if (first === SINGLE_QUOTE) return value.slice(1, -1).replaceAll("''", "'")
  const isNoText = (first >= 48 && first <= NINE) || first === OPEN_BRACKET || (value.length < 6 && IS_WORD.test(value))
  return isNoText ? undefined : value
}

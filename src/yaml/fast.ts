import { type JsonObject, type JsonValue, withoutPrototype } from '../kernel/index.ts'
import { readFlow } from './fast-flow.ts'
import { folded, hasNoColon, indentOf, keyEnd, keyIn, withoutComment } from './fast-lines.ts'
import { afterClosing, closingQuote, isPlainText, readScalar, type ScalarForm, unquote } from './fast-scalars.ts'

/**
 * The fast reader: one pass over the lines of a block mapping. It reads only what it surely reads as YAML 1.2 (core schema) does and declines
 * everything else by `undefined`; the `yaml` library reads that. `test/yaml/fast.test.ts` holds the two equal.
 */

/** How a kind of file is read: values that depend on how they were written. */
export interface FastForm {
  /** Keys whose plain value is text as written, at every level. */
  readonly asWritten: ReadonlySet<string>
  /** `exact`: a number that would be written otherwise, such as 1.10, is text as written. */
  readonly numbers: 'exact' | 'value'
  /** Top-level keys whose value is text: declined when it is a number or a boolean, or when a comment follows it. */
  readonly text: ReadonlySet<string>
  /** Top-level keys of which a value between brackets is text as written. */
  readonly bracketsAsText: ReadonlySet<string>
}

const NO_KEYS: ReadonlySet<string> = new Set()
const PLAIN_YAML: FastForm = { asWritten: NO_KEYS, numbers: 'value', text: NO_KEYS, bracketsAsText: NO_KEYS }

const AS_VALUE: ScalarForm = { asWritten: false, numbers: 'value' }
const AS_WRITTEN: ScalarForm = { asWritten: true, numbers: 'exact' }

/** Places of keys: for each block mapping its keys with their lines (from 0) and columns (from 1). */
export type KeyPlaces = Map<JsonValue, Map<string, { readonly line: number; readonly column: number }>>

/** Beyond these sizes the `yaml` library decides, which has limits of its own. */
const MOST = { chars: 16_000, entries: 900, depth: 30, backslashes: 500 } as const

/** Controls, tabs, carriage returns, and white space that YAML takes for letters. */
// oxlint-disable-next-line no-control-regex
const ODD = /[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/

const SPACE = 32
const HASH = 35
const DASH = 45

/** The mapping that a YAML text is, or undefined when the `yaml` library must read it. `places` is filled when it is given. */
export function readYamlFast(text: string, form = PLAIN_YAML, places?: KeyPlaces): JsonObject | undefined {
  if (text.length > MOST.chars || ODD.test(text)) return undefined
  if (text.includes('\\') && text.split('\\').length > MOST.backslashes) return undefined
  const reader = new FastReader(text, form, places)
  return reader.read()
}

class FastReader {
  private readonly lines: string[]
  private readonly form: FastForm
  private readonly places: KeyPlaces | undefined
  /** Index of the next line. */
  private at = 0
  private entries = 0
  private readonly scalar: ScalarForm

  constructor(text: string, form: FastForm, places: KeyPlaces | undefined) {
    this.lines = text.split('\n')
    this.form = form
    this.places = places
    this.scalar = { asWritten: false, numbers: form.numbers }
  }

  read(): JsonObject | undefined {
    if (this.nextIndent() !== 0) return undefined
    const mapping = this.mapping(0, 0)
    return this.nextIndent() < 0 ? mapping : undefined
  }

  private mapping(indent: number, depth: number): JsonObject | undefined {
    const result: Record<string, JsonValue> = {}
    const places = this.placesOf(result)
    for (let found = this.nextIndent(); found >= indent; found = this.nextIndent()) {
      const line = this.line(this.at)
      const end = keyEnd(line, indent)
      if (found > indent || end < 0 || ++this.entries > MOST.entries) return undefined
      const key = keyIn(line.slice(indent, end))
      // A key given twice, or one such as `constructor` that every object inherits.
      if (key === undefined || key in result) return undefined
      places?.set(key, { line: this.at, column: indent + 1 })
      this.at++
      const raw = line.slice(end + 1)
      const value = depth === 0 ? this.topValue(key, raw) : this.valueOf(key, raw, { indent, depth })
      if (value === undefined) return undefined
      result[key] = value
    }
    return withoutPrototype(result)
  }

  /** Where the places of a mapping's keys are kept; undefined when they are not wanted. */
  private placesOf(mapping: JsonObject): Map<string, { line: number; column: number }> | undefined {
    if (!this.places) return undefined
    const places = new Map<string, { line: number; column: number }>()
    this.places.set(mapping, places)
    return places
  }

  private valueOf(key: string, raw: string, level: Level): JsonValue | undefined {
    const scalar = this.form.asWritten.has(key) ? AS_WRITTEN : this.scalar
    return this.value(raw, { ...level, scalar, isInMapping: true })
  }

  private topValue(key: string, raw: string): JsonValue | undefined {
    const level = { indent: 0, depth: 0 }
    if (this.form.text.has(key)) {
      const value = this.value(raw, { ...level, scalar: AS_VALUE, isInMapping: true })
      const isWord = value === null ? raw.trim() !== '' : typeof value === 'number' || typeof value === 'boolean'
      return isWord || /^ *[^"' ].* #/.test(raw) ? undefined : value
    }
    const value = this.valueOf(key, raw, level)
    if (!this.form.bracketsAsText.has(key) || typeof value !== 'object' || value === null) return value
    const source = withoutComment(raw)
    return /[\]}]$/.test(source) ? source : undefined
  }

  private sequence(indent: number, depth: number): JsonValue[] | undefined {
    const result: JsonValue[] = []
    for (;;) {
      const found = this.nextIndent()
      if (found < indent) return result
      const line = this.line(this.at)
      if (found > indent) return undefined
      if (line.charCodeAt(indent) !== DASH) return result
      if (line.charCodeAt(indent + 1) !== SPACE || ++this.entries > MOST.entries) return undefined
      const item = this.item(line, { indent, depth })
      if (item === undefined) return undefined
      result.push(item)
    }
  }

  private item(line: string, { indent, depth }: Level): JsonValue | undefined {
    let start = indent + 2
    while (line.charCodeAt(start) === SPACE) start++
    if (!/["'[{#]/.test(line[start] ?? '') && keyEnd(line, start) >= 0) {
      if (depth > MOST.depth) return undefined
      // The keys of the entry begin in one column, so the dash is read as a space.
      this.lines[this.at] = ' '.repeat(start) + line.slice(start)
      return this.mapping(start, depth + 1)
    }
    this.at++
    return this.value(line.slice(start), { indent, depth, scalar: this.scalar, isInMapping: false })
  }

  /** The value that begins on a line behind a key or a dash; `indent` is that of the key or dash. */
  private value(raw: string, place: ValuePlace): JsonValue | undefined {
    const text = withoutComment(raw)
    const { indent } = place
    if (text === '') return this.valueBelow(place)
    switch (text[0]) {
      case '|':
      case '>':
        return this.block(text, indent)
      case '"':
      case "'":
        return this.quoted(raw.trim(), indent)
      case '[':
      case '{':
        return this.flow(raw.trim(), place)
      default:
        return this.plain(text, { raw, place })
    }
  }

  private valueBelow(place: ValuePlace): JsonValue | undefined {
    const { indent, depth, isInMapping } = place
    const found = this.nextIndent()
    if (found < 0) return null
    const line = this.line(this.at)
    const isEntry = line.startsWith('- ', found)
    if (found > indent) {
      if (depth > MOST.depth) return undefined
      if (isEntry) return this.sequence(found, depth + 1)
      if (line[found] !== '[' && line[found] !== '{') return this.mapping(found, depth + 1)
      this.at++
      return this.flow(line.trim(), place)
    }
    return found === indent && isEntry && isInMapping ? this.sequence(found, depth + 1) : null
  }

  /** A list or mapping between brackets, with the lines that belong to it. */
  private flow(start: string, { indent, depth }: ValuePlace): JsonValue | undefined {
    let text = withoutComment(start)
    for (; this.at < this.lines.length; this.at++) {
      const line = this.line(this.at)
      const found = indentOf(line)
      if (found === line.length ? this.directIndent() > indent : found > indent) text += `\n${line.trim()}`
      else break
    }
    const { asWritten, numbers } = this.form
    const read = readFlow(text, { asWritten, numbers, depth: MOST.depth - depth, entries: MOST.entries })
    this.entries += read?.entries ?? 0
    return this.entries > MOST.entries ? undefined : read?.value
  }

  /** A value without quotes, on one line or folded over several. */
  private plain(first: string, { raw, place }: { raw: string; place: ValuePlace }): JsonValue | undefined {
    if (this.directIndent() <= place.indent) return readScalar(first, place.scalar)
    if (raw.includes(' #') || !isPlainText(first)) return undefined
    let text = first
    let breaks = 0
    for (; this.at < this.lines.length; this.at++) {
      const line = this.line(this.at)
      const found = indentOf(line)
      if (found === line.length) {
        breaks++
        continue
      }
      if (found <= place.indent) break
      const more = line.trim()
      if (more.charCodeAt(0) === HASH || more.includes(' #') || !hasNoColon(more)) return undefined
      text += (breaks > 0 ? '\n'.repeat(breaks) : ' ') + more
      breaks = 0
    }
    return text
  }

  private quoted(first: string, indent: number): string | undefined {
    const quote = first[0] as string
    let text = first
    let end = closingQuote(text, quote)
    let breaks = 0
    while (end < 0) {
      if (this.at >= this.lines.length || text.endsWith('\\')) return undefined
      const line = this.line(this.at++)
      const found = indentOf(line)
      if (found === line.length) breaks++
      else if (found <= indent) return undefined
      else {
        text += (breaks > 0 ? '\n'.repeat(breaks) : ' ') + line.trim()
        breaks = 0
        end = closingQuote(text, quote)
      }
    }
    return this.directIndent() <= indent && afterClosing(text, end) ? unquote(text.slice(0, end + 1)) : undefined
  }

  /** A literal or folded block; one that begins with an empty line, or keeps line breaks at its end, is declined. */
  private block(header: string, indent: number): string | undefined {
    const column = indentOf(this.lines[this.at] ?? '')
    if (!/^[|>]-?$/.test(header) || column <= indent || column === this.line(this.at).length) return undefined
    const body = this.blockLines(indent, column)
    if (body === undefined) return undefined
    const text = header[0] === '|' ? body.join('\n') : folded(body)
    return text === undefined || header[1] === '-' ? text : `${text}\n`
  }

  private blockLines(indent: number, column: number): string[] | undefined {
    const body: string[] = []
    for (; this.at < this.lines.length; this.at++) {
      const line = this.line(this.at)
      const found = indentOf(line)
      const isBlank = found === line.length
      if (!isBlank && found <= indent) break
      if (isBlank ? found > column : found < column) return undefined
      body.push(line.slice(column))
    }
    while (body.at(-1) === '') body.pop()
    return body
  }

  /** Indentation of the next line with content, -1 at the end. Lines before it are passed. */
  private nextIndent(): number {
    for (; this.at < this.lines.length; this.at++) {
      const line = this.line(this.at)
      const found = indentOf(line)
      if (found < line.length && line.charCodeAt(found) !== HASH) return found
    }
    return -1
  }

  /** Indentation of the next line that is not blank, comments included; -1 at the end. */
  private directIndent(): number {
    for (let at = this.at; at < this.lines.length; at++) {
      const line = this.line(at)
      const found = indentOf(line)
      if (found < line.length) return found
    }
    return -1
  }

  private line(at: number): string {
    return this.lines[at] as string
  }
}

interface Level {
  readonly indent: number
  readonly depth: number
}

interface ValuePlace extends Level {
  readonly scalar: ScalarForm
  /** Behind a key, not behind a dash. */
  readonly isInMapping: boolean
}

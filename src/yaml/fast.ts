import { type JsonObject, type JsonValue, withoutPrototype } from '../kernel/index.ts'
import { closingQuote, FlowReader, hasNoColon, isKey, isPlainText, readScalar, unquote } from './fast-values.ts'

/** Beyond these sizes the full parser decides, which has limits of its own. */
const MOST = { chars: 16_000, entries: 900, depth: 30, backslashes: 500 } as const

/** Controls, tabs, carriage returns, and white space that YAML takes for letters. */
// oxlint-disable-next-line no-control-regex
const ODD = /[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/

const NO_KEYS: ReadonlySet<string> = new Set()
const SPACE = 32
const HASH = 35
const DASH = 45

/**
 * One pass over the lines of a block mapping. It reads only what it surely reads as YAML 1.2 (core schema) does, and gives undefined for
 * everything else; the full parser reads that. `test/yaml/fast.test.ts` compares the two. The plain values of `asWritten` are text at
 * every level.
 */
export function readYamlFast(text: string, asWritten = NO_KEYS): JsonObject | undefined {
  if (text.length > MOST.chars || ODD.test(text)) return undefined
  if (text.includes('\\') && text.split('\\').length > MOST.backslashes) return undefined
  return new FastReader(text, asWritten).read()
}

class FastReader {
  private readonly lines: string[]
  private readonly asWritten: ReadonlySet<string>
  /** Index of the next line. */
  private at = 0
  private entries = 0
  private depth = 0

  constructor(text: string, asWritten: ReadonlySet<string>) {
    this.lines = text.split('\n')
    this.asWritten = asWritten
  }

  read(): JsonObject | undefined {
    if (this.nextIndent() !== 0) return undefined
    const mapping = this.mapping(0)
    return this.nextIndent() < 0 && this.entries <= MOST.entries ? mapping : undefined
  }

  private mapping(indent: number): JsonObject | undefined {
    if (++this.depth > MOST.depth) return undefined
    const result: Record<string, JsonValue> = {}
    for (let found = this.nextIndent(); found >= indent; found = this.nextIndent()) {
      const line = this.line(this.at)
      const end = keyEnd(line, indent)
      if (found > indent || end < 0) return undefined
      const key = keyIn(line.slice(indent, end))
      // A key given twice, or one such as `constructor` that every object inherits.
      if (key === undefined || key in result) return undefined
      this.entries++
      this.at++
      const value = this.value(line.slice(end + 1), indent, key)
      if (value === undefined) return undefined
      result[key] = value
    }
    this.depth--
    return withoutPrototype(result)
  }

  private sequence(indent: number): JsonValue[] | undefined {
    if (++this.depth > MOST.depth) return undefined
    const result: JsonValue[] = []
    for (let found = this.nextIndent(); found >= indent; found = this.nextIndent()) {
      const line = this.line(this.at)
      if (found > indent) return undefined
      if (line.charCodeAt(indent) !== DASH) break
      if (line.charCodeAt(indent + 1) !== SPACE) return undefined
      this.entries++
      const item = this.item(line, indent)
      if (item === undefined) return undefined
      result.push(item)
    }
    this.depth--
    return result
  }

  private item(line: string, indent: number): JsonValue | undefined {
    let start = indent + 2
    while (line.charCodeAt(start) === SPACE) start++
    if (!/["'[{#]/.test(line[start] ?? '') && keyEnd(line, start) >= 0) {
      // The keys of the entry begin in one column, so the dash is read as a space.
      this.lines[this.at] = ' '.repeat(start) + line.slice(start)
      return this.mapping(start)
    }
    this.at++
    return this.value(line.slice(start), indent)
  }

  /** The value that begins on a line behind a key or a dash; `indent` is that of the key or dash. */
  private value(raw: string, indent: number, key?: string): JsonValue | undefined {
    const text = withoutComment(raw)
    switch (text[0]) {
      case undefined:
        return this.valueBelow(indent, key)
      case '|':
      case '>':
        return this.block(text, indent)
      case '"':
      case "'":
        return this.quoted(text, indent)
      case '[':
      case '{':
        return this.flow(text, indent)
      default:
        if (this.directIndent() > indent) return raw.includes(' #') ? undefined : this.folded(text, indent)
        return readScalar(text, key !== undefined && this.asWritten.has(key))
    }
  }

  private valueBelow(indent: number, key: string | undefined): JsonValue | undefined {
    const found = this.nextIndent()
    if (found < 0) return null
    const line = this.line(this.at)
    const isEntry = line.startsWith('- ', found)
    if (found <= indent) return found === indent && isEntry && key !== undefined ? this.sequence(found) : null
    if (isEntry) return this.sequence(found)
    if (line[found] !== '[' && line[found] !== '{') return this.mapping(found)
    this.at++
    return this.flow(withoutComment(line), indent)
  }

  /** A list or mapping between brackets, with the lines that belong to it. */
  private flow(start: string, indent: number): JsonValue | undefined {
    let text = start
    while (this.directIndent() > indent) text += `\n${this.line(this.at++).trim()}`
    const reader = new FlowReader(text, this.asWritten)
    const value = reader.read(MOST.depth - this.depth)
    this.entries += reader.entries
    return value
  }

  /** A value without quotes over several lines. */
  private folded(first: string, indent: number): string | undefined {
    if (!isPlainText(first)) return undefined
    let text = first
    while (this.directIndent() > indent) {
      const breaks = this.skipBlank()
      const more = this.line(this.at++).trim()
      if (more.charCodeAt(0) === HASH || more.includes(' #') || !hasNoColon(more)) return undefined
      text += (breaks || ' ') + more
    }
    return text
  }

  private quoted(first: string, indent: number): string | undefined {
    let text = first
    let end = closingQuote(text)
    while (end < 0) {
      if (this.directIndent() <= indent || text.endsWith('\\')) return undefined
      text += (this.skipBlank() || ' ') + this.line(this.at++).trim()
      end = closingQuote(text)
    }
    if (this.directIndent() > indent || !/^(?: +#.*| *)$/.test(text.slice(end + 1))) return undefined
    return unquote(text.slice(0, end + 1))
  }

  /** A literal or folded block; one that begins with an empty line, or keeps line breaks at its end, is declined. */
  private block(header: string, indent: number): string | undefined {
    const column = indentOf(this.lines[this.at] ?? '')
    if (!/^[|>]-?$/.test(header) || column <= indent || column === this.line(this.at).length) return undefined
    const body = this.blockLines(indent, column)
    // Lines that are indented deeper are not folded.
    if (body === undefined || (header[0] === '>' && body.some((line) => line[0] === ' '))) return undefined
    const text = header[0] === '|' ? body.join('\n') : body.reduce(fold)
    return header[1] === '-' ? text : `${text}\n`
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

  /** Passes empty lines; a line break for each. */
  private skipBlank(): string {
    const from = this.at
    while (indentOf(this.line(this.at)) === this.line(this.at).length) this.at++
    return '\n'.repeat(this.at - from)
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

  /** Indentation of the next line that is not empty, comments included; -1 at the end. */
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

function indentOf(line: string): number {
  let indent = 0
  while (line.charCodeAt(indent) === SPACE) indent++
  return indent
}

/** Index of the colon behind a key; -1 without one. */
function keyEnd(line: string, from: number): number {
  if (line[from] === '"' || line[from] === "'") {
    const end = line.indexOf(line[from], from + 1) + 1
    return end > 0 && line[end] === ':' && isEndOrSpace(line, end + 1) ? end : -1
  }
  let at = line.indexOf(':', from)
  while (at >= 0 && !isEndOrSpace(line, at + 1)) at = line.indexOf(':', at + 1)
  return at
}

function isEndOrSpace(line: string, at: number): boolean {
  return at === line.length || line.charCodeAt(at) === SPACE
}

/** The key without its quotes; undefined for one that the full parser must read. */
function keyIn(written: string): string | undefined {
  const key = written[0] === '"' || written[0] === "'" ? written.slice(1, -1) : written
  return isKey(key) ? key : undefined
}

/** A value without the spaces around it and the comment behind it; a text in quotes may contain what looks like one. */
function withoutComment(raw: string): string {
  const text = raw.trim()
  if (text[0] === '#') return ''
  if (text[0] === '"' || text[0] === "'") return text
  const hash = text.indexOf(' #')
  return hash < 0 ? text : text.slice(0, hash).trimEnd()
}

/** One line break becomes a space, each further one stays. */
function fold(text: string, line: string): string {
  if (line === '') return `${text}\n`
  return text.endsWith('\n') ? text + line : `${text} ${line}`
}

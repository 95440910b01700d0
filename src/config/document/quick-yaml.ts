import type { JsonValue } from '../../kernel/index.ts'

/** A value with the place of its first character, and the places of what is in it. */
export interface Placed {
  readonly value: JsonValue
  readonly offset: number
  /** Of a map or list: where each key or item stands, and what it holds. */
  readonly members?: ReadonlyMap<string | number, { readonly at: number; readonly of: Placed }>
}

/** Beyond these the full parser is warm anyway. */
const MAX_CHARACTERS = 16_384
const MAX_DEPTH = 16

/** Tells the caller to take the full parser; never leaves this file. */
class NotPlain extends Error {}

/**
 * Reads the YAML that people write in settings: block maps and lists, one-line flow collections, plain and quoted
 * scalars, comments. Undefined for anything else, a fault or not: then the full parser has the word. What it returns is
 * what the full parser returns, places included; a property test holds the two together.
 */
export function readQuickYaml(text: string): Placed | undefined {
  // Printable ASCII and line feeds only; a file that ends without one is fine.
  if (text.length > MAX_CHARACTERS || !/^[ -~\n]*$/.test(text)) return undefined
  try {
    const reader = new Reader(text)
    const root = reader.block(0, 0)
    reader.expectEnd()
    return root
  } catch (error) {
    if (error instanceof NotPlain) return undefined
    throw error
  }
}

interface Line {
  /** Offset of the first character that is no space. */
  start: number
  end: number
  indent: number
}

class Reader {
  readonly #text: string
  readonly #lines: Line[] = []
  #line = 0
  /** Where inside the current line reading goes on. */
  #at = 0

  constructor(text: string) {
    this.#text = text
    let offset = 0
    for (const line of text.split('\n')) {
      const indent = line.length - line.trimStart().length
      if (indent < line.length && line[indent] !== '#')
        this.#lines.push({ start: offset + indent, end: offset + line.length, indent })
      offset += line.length + 1
    }
    this.#enterLine()
  }

  expectEnd(): void {
    if (this.#line < this.#lines.length) throw new NotPlain()
  }

  /** The map or list whose first line is the current one. */
  block(indent: number, depth: number): Placed {
    const line = this.#lines[this.#line]
    if (line === undefined || depth > MAX_DEPTH || line.indent < indent) throw new NotPlain()
    return this.#isItem() ? this.#list(line.indent, depth) : this.#map(line.indent, depth)
  }

  #list(indent: number, depth: number): Placed {
    const offset = this.#at
    const values: JsonValue[] = []
    const members = new Map<number, { at: number; of: Placed }>()
    while (this.#lines[this.#line]?.indent === indent && this.#isItem()) {
      this.#at += 1
      this.#skipSpaces()
      // A list in a list on one line, and an item on lines of its own, are rare.
      if (this.#isLineOver() || this.#isItem()) throw new NotPlain()
      const of = this.#isKey() ? this.#compactMap(depth) : this.#inline(indent, depth)
      members.set(values.length, { at: of.offset, of })
      values.push(of.value)
    }
    return { value: values, offset, members }
  }

  /** `- id: main` begins a map whose keys stand under the first one. */
  #compactMap(depth: number): Placed {
    const line = this.#lines[this.#line] as Line
    const column = line.indent + (this.#at - line.start)
    this.#lines[this.#line] = { ...line, start: this.#at, indent: column }
    return this.#map(column, depth + 1)
  }

  #map(indent: number, depth: number): Placed {
    const offset = this.#at
    const value = Object.create(null) as Record<string, JsonValue>
    const members = new Map<string, { at: number; of: Placed }>()
    while (this.#lines[this.#line]?.indent === indent && !this.#isItem()) {
      const at = this.#at
      const key = this.#key()
      this.#skipSpaces()
      const of = this.#isLineOver() ? this.#below(indent, depth) : this.#inline(indent, depth)
      add({ value, members }, key, { at, of })
    }
    return { value, offset, members }
  }

  /** What stands on the lines after `key:`. */
  #below(indent: number, depth: number): Placed {
    const offset = this.#at
    this.#nextLine()
    const next = this.#lines[this.#line]
    if (next === undefined || next.indent < indent) return { value: null, offset }
    if (next.indent > indent) return this.block(next.indent, depth + 1)
    return this.#isItem() ? this.#list(indent, depth + 1) : { value: null, offset }
  }

  /** A scalar or flow collection that ends on this line. */
  #inline(indent: number, depth: number): Placed {
    const of = this.#flow(false, depth)
    this.#skipSpaces()
    if (!this.#isLineOver()) throw new NotPlain()
    this.#nextLine()
    // A deeper line would go on with the scalar.
    if ((this.#lines[this.#line]?.indent ?? 0) > indent) throw new NotPlain()
    return of
  }

  #flow(isInside: boolean, depth: number): Placed {
    if (depth > MAX_DEPTH) throw new NotPlain()
    const offset = this.#at
    switch (this.#text[this.#at]) {
      case '[':
        return this.#flowList(depth)
      case '{':
        return this.#flowMap(depth)
      case '"':
      case "'":
        return { value: this.#quoted(), offset }
      default:
        return { value: resolvePlain(this.#plain(isInside)), offset }
    }
  }

  #flowList(depth: number): Placed {
    const offset = this.#at
    const values: JsonValue[] = []
    const members = new Map<number, { at: number; of: Placed }>()
    this.#each(']', () => {
      if (this.#isKey()) throw new NotPlain()
      const of = this.#flow(true, depth + 1)
      members.set(values.length, { at: of.offset, of })
      values.push(of.value)
    })
    return { value: values, offset, members }
  }

  #flowMap(depth: number): Placed {
    const offset = this.#at
    const value = Object.create(null) as Record<string, JsonValue>
    const members = new Map<string, { at: number; of: Placed }>()
    this.#each('}', () => {
      const at = this.#at
      const key = this.#key()
      this.#skipSpaces()
      add({ value, members }, key, { at, of: this.#flow(true, depth + 1) })
    })
    return { value, offset, members }
  }

  /** Reads what is between brackets, separated by commas; a comma at the end is left to the full parser. */
  #each(close: string, read: () => void): void {
    this.#at += 1
    this.#skipSpaces()
    for (let isFirst = true; this.#text[this.#at] !== close; isFirst = false) {
      if (!isFirst) {
        if (this.#text[this.#at] !== ',') throw new NotPlain()
        this.#at += 1
        this.#skipSpaces()
      }
      read()
      this.#skipSpaces()
    }
    this.#at += 1
  }

  /** The key at this place, and the colon and space (or line end) behind it. */
  #key(): string {
    const match = this.#match(KEY)
    if (match === undefined) throw new NotPlain()
    this.#at += match[0].length
    return match[1] ?? match[2] ?? match[3] ?? ''
  }

  #quoted(): string {
    const match = this.#match(QUOTED)
    if (match === undefined) throw new NotPlain()
    this.#at += match[0].length
    return match[1] ?? match[2] ?? ''
  }

  #plain(isInside: boolean): string {
    const match = this.#match(isInside ? PLAIN_INSIDE : PLAIN)
    if (match === undefined) throw new NotPlain()
    this.#at += match[0].length
    return match[0]
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    const line = this.#lines[this.#line]
    return line ? (pattern.exec(this.#text.slice(this.#at, line.end)) ?? undefined) : undefined
  }

  #isKey(): boolean {
    return this.#match(KEY) !== undefined
  }

  #isItem(): boolean {
    return this.#match(ITEM) !== undefined
  }

  /** Nothing but a comment is left; a comment has a space before it. */
  #isLineOver(): boolean {
    const rest = this.#text[this.#at]
    return rest === undefined || rest === '\n' || (rest === '#' && this.#text[this.#at - 1] === ' ')
  }

  #skipSpaces(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1
  }

  #nextLine(): void {
    this.#line += 1
    this.#enterLine()
  }

  #enterLine(): void {
    this.#at = this.#lines[this.#line]?.start ?? this.#text.length
  }
}

const ITEM = /^-(?: |$)/
/** A word or a quoted text without escapes, then a colon and the end of the line or a space. */
const KEY = /^(?:([A-Za-z_][\w./-]*)|"([^"\\]*)"|'([^']*)'):(?= |$)/
const QUOTED = /^(?:"([^"\\]*)"|'([^']*)')(?=[ ,\]}]|$)/
/** Begins with nothing that means something in YAML, and holds neither ": " nor " #". */
const PLAIN = /^(?:[\w./~+$(=^]|-(?=[\w./]))(?:[!-"$-9;-~]|:(?=[^ ])|(?<! )#| +(?=[^ #]))*/
const PLAIN_INSIDE =
  /^(?:[\w./~+$(=^]|-(?=[\w./]))(?:[!-"$-+.-9;-Z\\^-z|~-]|:(?=[^ ,[\]{}])|(?<! )#| +(?=[^ #,[\]{}]))*/
/** Key words of YAML 1.2 that stand for no text. */
const NO_TEXT = /^(?:~|null|Null|NULL)$/
const TRUE = /^(?:true|True|TRUE)$/
const FALSE = /^(?:false|False|FALSE)$/
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?$/
/** Other numbers, and what only looks like one. */
const NUMBER_LIKE = /^[-+]?(?:\.?\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?|0[ox].*|\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/

function resolvePlain(text: string): JsonValue {
  if (NO_TEXT.test(text)) return null
  if (TRUE.test(text)) return true
  if (FALSE.test(text)) return false
  if (NUMBER.test(text) && text !== '-0') return Number(text)
  if (NUMBER_LIKE.test(text)) throw new NotPlain()
  return text
}

function add(
  { value, members }: { value: Record<string, JsonValue>; members: Map<string, { at: number; of: Placed }> },
  key: string,
  member: { at: number; of: Placed },
): void {
  // Faults and odd names are the full parser's to explain.
  if (members.has(key) || key === '__proto__' || key === '<<' || NO_TEXT.test(key)) throw new NotPlain()
  members.set(key, member)
  value[key] = member.of.value
}

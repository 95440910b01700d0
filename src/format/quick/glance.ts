import { ALIASES, TOP_LEVEL } from '../fields/metadata.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import { COLON, CR, DASH, DOUBLE_QUOTE, LF, SINGLE_QUOTE, SPACE } from './bytes.ts'
import { CLOSER, createPatterns, type Patterns } from './patterns.ts'

const GREATER = 62
const BAR = 124
const OPEN = 40
const CLOSE = 41
const MAX_LEVELS = 10
const MAX_KEYS = 120

/** Where a text stands in the frontmatter, and how it is written. */
export interface Span {
  start: number
  end: number
  form: 'plain' | 'literal' | 'folded'
}

/** Keys that are read, by the number of their first letters. */
type Known = readonly [key: string, role: 'name' | 'description' | 'text' | 'tools' | 'metadata' | 'findings' | 'gates']

const KNOWN: ReadonlyMap<number, readonly Known[]> = known()

function known(): Map<number, Known[]> {
  const flags = ['disable-model-invocation', 'disable_model_invocation', 'user-invocable', 'user_invocable']
  const rows: Known[] = [
    ['name', 'name'],
    ['description', 'description'],
    ['license', 'text'],
    ['compatibility', 'text'],
    ['allowed-tools', 'tools'],
    ['metadata', 'metadata'],
    ['allowed_tools', 'findings'],
    ['arguments', 'findings'],
    ...[...flags, ...TOP_LEVEL].map((key): Known => [key, 'gates']),
  ]
  const found = new Map<number, Known[]>()
  for (const row of rows) {
    const mark = markOf(`${row[0]}:`, 0)
    found.set(mark, [...(found.get(mark) ?? []), row])
  }
  return found
}

/** Keys below metadata that may gate. */
const IN_METADATA: ReadonlySet<number> = new Set(
  [...ALIASES, ...TOP_LEVEL, 'always', 'skillKey'].map((key) => markOf(`${key}:`, 0)),
)

/** The first four characters of a key as a number. Keys that share them are told apart by a closer look, or not at all here. */
function markOf(text: string, at: number): number {
  let mark = 0
  for (let index = at; index < at + 4; index++) {
    const unit = text.charCodeAt(index)
    if (unit === COLON) break
    mark = (mark << 7) | unit
  }
  return mark
}

/**
 * The quickest reading: is this a frontmatter of the plainest kind, and where are its name and description? It accepts less than the
 * scanner, and nothing that the scanner does not. What it gives is good until the next look.
 */
export class Glance {
  readonly name: Span = { start: 0, end: 0, form: 'plain' }
  readonly description: Span = { start: 0, end: 0, form: 'plain' }
  /** The start of the closing line. */
  end = 0
  /** False when all bytes are ASCII. */
  isWide = false
  /** Something may be gated, or be reported. */
  hasGates = false
  hasFindings = false

  #text = ''
  #at = 0
  #level = 0
  #count = 0
  #isOpen = false
  #inMetadata = false
  readonly #indents: number[] = Array.from({ length: MAX_LEVELS + 2 }, () => 0)
  readonly #marks: number[] = Array.from({ length: MAX_KEYS }, () => 0)
  readonly #levels: number[] = Array.from({ length: MAX_KEYS }, () => 0)
  readonly #ascii = createPatterns('ascii')
  readonly #all = createPatterns('all')
  readonly #closer = new RegExp(CLOSER, 'y')

  /** True when `text`, bytes read as Latin-1, is such a frontmatter from `start` to a closing line. */
  look(text: string, start: number): boolean {
    this.#begin(text, start)
    for (;;) {
      const from = this.#at
      const byte = text.charCodeAt(from)
      if (byte === LF) this.#at = from + 1
      else if (byte === DASH) return this.#isClosed(from)
      else if (!(byte === SPACE ? this.#below(from) : this.#top(from))) return false
    }
  }

  #begin(text: string, start: number): void {
    this.#text = text
    this.#at = start
    this.#level = 0
    this.#count = 0
    this.#isOpen = false
    this.#inMetadata = false
    this.isWide = false
    this.hasGates = false
    this.hasFindings = false
    this.name.end = 0
    this.description.end = 0
  }

  #isClosed(at: number): boolean {
    this.end = at
    this.#closer.lastIndex = at
    return this.#closer.test(this.#text) && this.name.end > 0 && this.description.end > 0
  }

  /** An entry at the first column. */
  #top(from: number): boolean {
    const mark = markOf(this.#text, from)
    this.#level = 0
    if (!this.#isNew(mark, 0)) return false
    this.#inMetadata = false
    if (!this.#line('entry', from)) return this.#block(from, mark)
    const rows = KNOWN.get(mark)
    return rows === undefined || this.#read(rows, from)
  }

  /** A line below a key: of a mapping, or of a list. */
  #below(from: number): boolean {
    const text = this.#text
    let at = from
    while (text.charCodeAt(at) === SPACE) at++
    const isItem = text.charCodeAt(at) === DASH
    if (!this.#enter(at - from)) return false
    if (!isItem) {
      const mark = markOf(text, at)
      if (this.#inMetadata && this.#level === 1 && IN_METADATA.has(mark)) this.#gates()
      return this.#isNew(mark, this.#level) && this.#line('entry', at)
    }
    return this.#item(at, at - from)
  }

  /** Goes to the level of an indentation; false when there is none. */
  #enter(indent: number): boolean {
    if (this.#isOpen) {
      this.#isOpen = false
      if (indent > (this.#indents[this.#level] as number)) {
        this.#indents[++this.#level] = indent
        return this.#level < MAX_LEVELS
      }
    }
    while (indent < (this.#indents[this.#level] as number)) this.#level--
    return indent === this.#indents[this.#level]
  }

  #item(at: number, indent: number): boolean {
    // A list and a mapping at one indentation, or a list of which only one item is a mapping: left to the scanner.
    return false && this.#line('item', at) && indent > 0
  }

  /** Remembers a key; false when there was one like it in the same mapping, or there are too many. */
  #isNew(mark: number, level: number): boolean {
    let last = this.#count - 1
    while (last >= 0 && (this.#levels[last] as number) > level) last--
    this.#count = last + 1
    for (; last >= 0 && this.#levels[last] === level; last--) if (this.#marks[last] === mark) return false
    if (this.#count >= MAX_KEYS) return false
    this.#marks[this.#count] = mark
    this.#levels[this.#count++] = level
    return true
  }

  /** Matches a line and goes behind it. */
  #line(what: keyof Patterns, at: number): boolean {
    let pattern = this.#ascii[what]
    pattern.lastIndex = at
    if (!pattern.test(this.#text)) {
      pattern = this.#all[what]
      pattern.lastIndex = at
      if (!pattern.test(this.#text)) return false
      this.isWide = true
    }
    this.#at = pattern.lastIndex
    this.#isOpen = this.#text.charCodeAt(this.#valueEnd() - 1) === COLON
    return true
  }

  /** The end of the text before the current place. */
  #valueEnd(): number {
    const text = this.#text
    let end = this.#at - 1
    while (isBlank(text.charCodeAt(end - 1))) end--
    return end
  }

  #gates(): void {
    this.hasGates = true
    this.hasFindings = true
  }
}

function isBlank(unit: number): boolean {
  return unit === SPACE || unit === CR || unit === LF
}

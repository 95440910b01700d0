import { BAR, COLON, CR, DASH, DOUBLE_QUOTE, GREATER, LF, OPEN_BRACKET, SINGLE_QUOTE, SPACE } from '../quick/bytes.ts'
import { IN_METADATA, markOf, MARKS } from './keys.ts'
import { createCloserPattern, createLinesPattern } from './patterns.ts'

const MAX_LEVELS = 10
const MAX_KEYS = 120

/** An entry at the first column: `from` is its key, `end` the start of the next line. */
export interface TopEntry {
  mark: number
  from: number
  end: number
  /** `block`: lines of a block scalar; `below`: a mapping on the lines below, `list` a list there. */
  form: 'line' | 'block' | 'open' | 'below' | 'list'
}

/**
 * The quickest reading: is this a frontmatter of the plainest kind, and which entries does it have? It accepts less than the scanner,
 * and nothing that the scanner does not. A pattern tells whether its lines are understood, and one loop how they belong together. Good
 * until the next look.
 */
export class Glance {
  readonly entries: readonly TopEntry[] = Array.from({ length: MAX_KEYS }, (): TopEntry => ({
    mark: 0,
    from: 0,
    end: 0,
    form: 'line',
  }))
  count = 0
  /** The start of the closing line. */
  end = 0
  /** False when all bytes are ASCII. */
  isWide = false
  /** Some key below another may gate the skill. */
  hasGates = false
  /** The first line right below metadata whose key may gate; 0 when there is none. */
  gatesFrom = 0

  // Not #private: until it is optimized, code finds those by a symbol, which takes longer than all else that is done for a line.
  /** Per level: its indentation doubled, plus one for a list. */
  private readonly columns: number[] = Array.from({ length: MAX_LEVELS + 2 }, () => 0)
  /** Per level: how many keys stand above those of the mapping that is read there. */
  private readonly firsts: number[] = Array.from({ length: MAX_LEVELS + 2 }, () => 0)
  private readonly marks: number[] = Array.from({ length: MAX_KEYS + 1 }, () => 0)
  private readonly ascii = createLinesPattern('ascii')
  private all: RegExp | undefined
  private readonly closer = createCloserPattern()

  /** True when `text`, bytes read as Latin-1, is such a frontmatter from `start` to a closing line. */
  // One loop on purpose: each of its parts is too small to be worth a call, and calls are what costs before they are compiled.
  // oxlint-disable-next-line complexity
  look(text: string, start: number): boolean {
    this.count = 0
    this.hasGates = false
    this.gatesFrom = 0
    const end = this.endOfLines(text, start)
    if (end < 0) return false
    this.end = end
    const { columns, firsts, marks, entries } = this
    let level = 0
    let keys = 0
    for (let at = start, next = 0; at < end; at = next) {
      let from = at
      while (text.charCodeAt(from) === SPACE) from++
      next = text.indexOf('\n', from) + 1
      const indent = from - at
      const isItem = text.charCodeAt(from) === DASH
      const column = indent + indent + (isItem ? 1 : 0)
      const current = columns[level] as number
      if (indent > current >> 1) {
        if (!isOpen(text, at)) {
          // Only the lines of a block stand deeper than a key with a value.
          if (level > 0 || !this.isBlock(text)) return false
          while (text.charCodeAt(next) <= SPACE) next = text.indexOf('\n', next) + 1
          const block = entries[this.count - 1] as TopEntry
          block.end = next
          block.form = 'block'
          continue
        }
        if (++level > MAX_LEVELS) return false
        columns[level] = column
        firsts[level] = keys
        if (level === 1) (entries[this.count - 1] as TopEntry).form = isItem ? 'list' : 'below'
      } else if (column !== current) {
        while (indent < (columns[level] as number) >> 1) keys = firsts[level--] as number
        if (column !== columns[level]) return false
      }
      let key = from
      if (isItem) {
        // An item: a value, or a mapping that begins behind the dash.
        key = from + 2
        const colon = text.indexOf(':', key)
        if (colon < 0 || colon >= next || !isBlank(text.charCodeAt(colon + 1))) continue
        if (isQuoteOrBracket(text.charCodeAt(key)) || ++level > MAX_LEVELS) return false
        columns[level] = column + 3
        firsts[level] = keys
      }
      const mark = markOf(text, key)
      for (let other = keys - 1; other >= (firsts[level] as number); other--) if (marks[other] === mark) return false
      if (keys >= MAX_KEYS) return false
      marks[keys++] = mark
      if (level === 0) {
        const entry = entries[this.count++] as TopEntry
        entry.mark = mark
        entry.from = from
        entry.end = next
        entry.form = isOpen(text, next) ? 'open' : 'line'
      } else if (level === 1 && IN_METADATA.has(mark)) {
        this.hasGates = true
        if (this.gatesFrom === 0 && (entries[this.count - 1] as TopEntry).mark === MARKS.metadata) this.gatesFrom = at
      }
    }
    return true
  }

  /** The start of the closing line, when all lines before it are understood by themselves; else -1. */
  private endOfLines(text: string, start: number): number {
    const { ascii, closer } = this
    ascii.lastIndex = start
    ascii.test(text)
    let end = ascii.lastIndex
    this.isWide = text.charCodeAt(end) !== DASH
    if (this.isWide) {
      this.all ??= createLinesPattern('all')
      this.all.lastIndex = end
      this.all.test(text)
      end = this.all.lastIndex
    }
    // Nearly always without blanks behind it.
    if (text.startsWith('---\n', end)) return end
    closer.lastIndex = end
    return closer.test(text) ? end : -1
  }

  /** True when the last entry is `key: |` or `key: >`. */
  private isBlock(text: string): boolean {
    if (this.count === 0) return false
    let value = text.indexOf(':', (this.entries[this.count - 1] as TopEntry).from)
    while (text.charCodeAt(++value) === SPACE);
    const first = text.charCodeAt(value)
    return first === BAR || first === GREATER
  }
}

/** True when the line before `next` ends with the colon behind its key. */
function isOpen(text: string, next: number): boolean {
  let at = next - 2
  while (text.charCodeAt(at) <= SPACE) at--
  return text.charCodeAt(at) === COLON
}

function isQuoteOrBracket(unit: number): boolean {
  return unit === DOUBLE_QUOTE || unit === SINGLE_QUOTE || unit === OPEN_BRACKET
}

/** True for what may stand at the end of a line. */
export function isBlank(unit: number): boolean {
  return unit === SPACE || unit === CR || unit === LF
}

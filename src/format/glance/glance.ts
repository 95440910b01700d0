import { CR, DASH, DOUBLE_QUOTE, LF, OPEN_BRACKET, SINGLE_QUOTE, SPACE } from '../quick/bytes.ts'
import { IN_METADATA, markOf } from './keys.ts'
import { createPatterns, type Patterns } from './patterns.ts'

const MAX_LEVELS = 10
const MAX_KEYS = 120
const BAR = 124
const GREATER = 62
const ZERO = 48
const NINE = 57

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
 * and nothing that the scanner does not. Patterns do most of the work, because they need no warming up. Good until the next look.
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

  // Not #private: until it is optimized, code finds those by a symbol, which takes longer than all else that is done for a line.
  /** Per level: its indentation doubled, plus one for a list. */
  private readonly columns: number[] = Array.from({ length: MAX_LEVELS + 3 }, () => 0)
  private readonly marks: number[] = Array.from({ length: MAX_KEYS + 1 }, () => 0)
  private readonly levels: number[] = Array.from({ length: MAX_KEYS + 1 }, () => 0)
  private readonly ascii = createPatterns('ascii')
  private all: Patterns | undefined

  /** True when `text`, bytes read as Latin-1, is such a frontmatter from `start` to a closing line. */
  // One loop on purpose: each of its parts is too small to be worth a call, and calls are what costs before they are compiled.
  // oxlint-disable-next-line complexity
  look(text: string, start: number): boolean {
    const { columns, marks, levels } = this
    // The most frequent form, tried without looking at the value.
    const { plain } = this.ascii.entry
    let at = start
    let level = 0
    let keys = 0
    let isOpen = false
    this.count = 0
    this.isWide = false
    this.hasGates = false
    for (;;) {
      let from = at
      while (text.charCodeAt(from) === SPACE) from++
      const unit = text.charCodeAt(from)
      if (from === at && unit === DASH) break
      const indent = from - at
      const column = indent + indent + (unit === DASH ? 1 : 0)
      const current = columns[level] as number
      if (isOpen && indent > current >> 1) {
        if (++level > MAX_LEVELS) return false
        columns[level] = column
        if (level === 1) (this.entries[this.count - 1] as TopEntry).form = unit === DASH ? 'list' : 'below'
      } else if (column !== current) {
        while (indent < (columns[level] as number) >> 1) level--
        if (column !== columns[level]) return false
      }
      while (keys > 0 && (levels[keys - 1] as number) > level) keys--
      let key = from
      if (unit === DASH) {
        // An item: a value, or a mapping that begins behind the dash.
        if (text.charCodeAt(from + 1) !== SPACE) return false
        key = from + 2
        const colon = text.indexOf(':', key)
        if (colon < 0 || colon > text.indexOf('\n', key) || !isBlank(text.charCodeAt(colon + 1))) {
          at = this.after('value', text, key, text.charCodeAt(key))
          if (at < 0) return false
          isOpen = false
          continue
        }
        columns[++level] = column + 3
        if (level > MAX_LEVELS) return false
      }
      const mark = markOf(text, key)
      for (let last = keys - 1; last >= 0 && levels[last] === level; last--) if (marks[last] === mark) return false
      if (keys >= MAX_KEYS) return false
      marks[keys] = mark
      levels[keys++] = level
      let isBlock = false
      isOpen = false
      plain.lastIndex = key
      if (plain.test(text)) at = plain.lastIndex
      else {
        let value = text.indexOf(':', key)
        while (text.charCodeAt(++value) === SPACE);
        const first = text.charCodeAt(value)
        isBlock = first === BAR || first === GREATER
        if (isBlock && (level > 0 || unit === DASH)) return false
        at = this.after('entry', text, key, first)
        if (at < 0) return false
        isOpen = isBlank(first)
      }
      if (level === 0) {
        const entry = this.entries[this.count++] as TopEntry
        entry.mark = mark
        entry.from = from
        entry.end = at
        entry.form = isOpen ? 'open' : isBlock ? 'block' : 'line'
      } else if (level === 1 && IN_METADATA.has(mark)) {
        this.hasGates = true
      }
    }
    this.end = at
    const { closer } = this.ascii
    closer.lastIndex = at
    return closer.test(text)
  }

  /** Where the next line starts when an entry stands at `at`, or a value alone, whose value begins with `first`; -1 when its form is unknown. */
  // oxlint-disable-next-line max-params
  private after(what: 'entry' | 'value', text: string, at: number, first: number): number {
    const pattern = patternOf(this.ascii, what, first)
    pattern.lastIndex = at
    // Of a block it matches the lines before the first with another character: then more of its lines follow.
    const isMatch = pattern.test(text) && (pattern !== this.ascii.block || text.charCodeAt(pattern.lastIndex) !== SPACE)
    if (isMatch) return pattern.lastIndex
    this.all ??= createPatterns('all')
    const other = patternOf(this.all, what, first)
    other.lastIndex = at
    if (!other.test(text)) return -1
    this.isWide = true
    return other.lastIndex
  }
}

function patternOf({ entry, value, open, block }: Patterns, what: 'entry' | 'value', first: number): RegExp {
  const forms = what === 'entry' ? entry : value
  if (first === DOUBLE_QUOTE) return forms.double
  if (first === SINGLE_QUOTE) return forms.single
  if (first === OPEN_BRACKET) return forms.list
  if (first >= ZERO && first <= NINE) return forms.number
  if (first === LF || first === CR) return open
  return first === BAR || first === GREATER ? block : forms.plain
}

/** True for what may stand at the end of a line. */
export function isBlank(unit: number): boolean {
  return unit === SPACE || unit === CR || unit === LF
}

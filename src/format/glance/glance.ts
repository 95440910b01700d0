import { COLON, CR, DASH, LF, SPACE } from '../quick/bytes.ts'
import { IN_METADATA, markOf } from './keys.ts'
import { CLOSER, createPatterns, type Patterns } from './patterns.ts'

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

  /** Per level: its indentation doubled, plus one for a list. */
  readonly #columns: number[] = Array.from({ length: MAX_LEVELS + 3 }, () => 0)
  readonly #marks: number[] = Array.from({ length: MAX_KEYS + 1 }, () => 0)
  readonly #levels: number[] = Array.from({ length: MAX_KEYS + 1 }, () => 0)
  readonly #ascii = createPatterns('ascii')
  readonly #all = createPatterns('all')
  readonly #closer = new RegExp(CLOSER, 'y')

  /** True when `text`, bytes read as Latin-1, is such a frontmatter from `start` to a closing line. */
  // One loop on purpose: each of its parts is too small to be worth a call, and calls are what costs before they are compiled.
  // oxlint-disable-next-line complexity
  look(text: string, start: number): boolean {
    const columns = this.#columns
    const marks = this.#marks
    const levels = this.#levels
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
      let what: keyof Patterns = 'entry'
      if (unit === DASH) {
        // An item: a value, or a mapping that begins behind the dash.
        if (this.#matches('value', text, from)) {
          at = this.#all.value.lastIndex
          isOpen = false
          continue
        }
        what = 'item'
        key = from + 2
        columns[++level] = column + 3
        if (level > MAX_LEVELS) return false
      }
      const mark = markOf(text, key)
      for (let last = keys - 1; last >= 0 && levels[last] === level; last--) if (marks[last] === mark) return false
      if (keys >= MAX_KEYS) return false
      marks[keys] = mark
      levels[keys++] = level
      let form: TopEntry['form'] = 'line'
      if (!this.#matches(what, text, from)) {
        if (level > 0 || !this.#matches('block', text, from)) return false
        what = 'block'
        form = 'block'
      }
      at = this.#all[what].lastIndex
      let last = at - 2
      while (isBlank(text.charCodeAt(last))) last--
      isOpen = form === 'line' && text.charCodeAt(last) === COLON
      if (level === 0) {
        const entry = this.entries[this.count++] as TopEntry
        entry.mark = mark
        entry.from = from
        entry.end = at
        entry.form = isOpen ? 'open' : form
      } else if (level === 1 && IN_METADATA.has(mark)) {
        this.hasGates = true
      }
    }
    this.end = at
    this.#closer.lastIndex = at
    return this.#closer.test(text)
  }

  /** Afterwards the end of the match is in the pattern of `all`. */
  #matches(what: keyof Patterns, text: string, at: number): boolean {
    const ascii = this.#ascii[what]
    const all = this.#all[what]
    ascii.lastIndex = at
    // Of a block it matches the lines before the first with another character: then more of its lines follow.
    if (ascii.test(text) && (what !== 'block' || text.charCodeAt(ascii.lastIndex) !== SPACE)) {
      all.lastIndex = ascii.lastIndex
      return true
    }
    all.lastIndex = at
    if (!all.test(text)) return false
    this.isWide = true
    return true
  }
}

/** True for what may stand at the end of a line. */
export function isBlank(unit: number): boolean {
  return unit === SPACE || unit === CR || unit === LF
}

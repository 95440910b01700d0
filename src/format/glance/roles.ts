import { ALIASES } from '../fields/metadata-keys.ts'
import { BAR, DOUBLE_QUOTE, LF, NINE, OPEN_BRACKET, SINGLE_QUOTE, SPACE } from '../quick/bytes.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import { type Glance, isBlank, type TopEntry } from './glance.ts'
import { isFlag, isInfluential, MARKS } from './keys.ts'
import { WORD } from './patterns.ts'

const NAME = 'name: '
const DESCRIPTION = 'description: '

/** Text with closed parentheses, which is no number and no word such as null: a value with nothing to report. */
const ORDINARY = new RegExp(
  `(?:license|compatibility|allowed-tools): (?!${WORD} *\\r?\\n)[A-Za-z][^()\\r\\n]*(?:\\([^()\\r\\n]*\\)[^()\\r\\n]*)*\\r?\\n`,
  'y',
)
/** An address in printable ASCII with nothing to report. */
const ADDRESS = /homepage: (["']?)https?:\/\/[!#-&(-[\]-~]+\1 *\r?\n/y
const TEXT_BELOW = new RegExp(`\\n +(?:${ALIASES.join('|')}): *["']`)
/** Bytes of such a line; the shortest limit of a known text is 500. */
const LONG = 400

/** What the entries of a frontmatter mean, as far as a glance tells. Good until it is read again. */
export class Roles {
  /** The text of the description, or the lines of its block. */
  start = 0
  end = 0
  form: 'plain' | 'literal' | 'folded' = 'plain'
  /** Something may be gated or shown. */
  hasGates = false
  /** Something may be reported, metadata aside. */
  hasFindings = false
  /** Something may say who starts it. */
  hasFlags = false
  /** The first line below metadata that may gate; the end when there is none, -1 when something else may gate. */
  gatesFrom = 0
  private readonly ordinary = new RegExp(ORDINARY)
  private readonly address = new RegExp(ADDRESS)

  /** False when the name is not `name`, the description is missing, or only the parsers know what they are. */
  // oxlint-disable-next-line complexity
  read(text: string, { entries, count, end, hasGates, gatesFrom }: Glance, name: string): boolean {
    this.hasGates = hasGates
    let hasFindings = false
    let isNamed = false
    this.end = 0
    this.gatesFrom = end
    this.hasFlags = false
    let hasOther = false
    for (let index = 0; index < count; index++) {
      const entry = entries[index] as TopEntry
      const { from, mark } = entry
      if (mark === MARKS.name) {
        if (!text.startsWith(NAME, from)) return false
        let at = from + NAME.length
        const quote = text.charCodeAt(at)
        const isQuoted = quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE
        if (isQuoted) at++
        if (!text.startsWith(name, at)) return false
        at += name.length
        // A quote that opens is closed; what is between is the name only when it is closed here.
        if (isQuoted && text.charCodeAt(at++) !== quote) return false
        if (text.charCodeAt(at) !== LF && !isRest(text, at, entry.end)) return false
        isNamed = true
      } else if (mark === MARKS.description) {
        if (!text.startsWith(DESCRIPTION, from) || !this.describe(text, entry)) return false
      } else if (mark === MARKS.metadata) {
        if (mayHoldJson(text, entry)) return false
        if (hasGates && TEXT_BELOW.test(text.slice((gatesFrom || from) - 1, end))) return false
        if (gatesFrom > 0 && text.startsWith('metadata:', from)) this.gatesFrom = gatesFrom
        if (entry.form !== 'below' && entry.form !== 'open') hasOther = true
      } else if (mark === MARKS.license || mark === MARKS.compatibility || mark === MARKS.tools) {
        this.ordinary.lastIndex = from
        if (entry.end - from > LONG || !this.ordinary.test(text)) hasFindings = true
      } else if (isFlag(mark)) {
        this.hasFlags = true
        hasFindings = true
      } else if (mark === MARKS.emoji) {
        this.hasGates = true
      } else if (mark === MARKS.homepage) {
        this.address.lastIndex = from
        if (!this.address.test(text)) hasFindings = true
        this.hasGates = true
      } else if (isInfluential(mark)) {
        hasOther = true
      }
    }
    if (hasOther) {
      this.hasGates = true
      this.gatesFrom = -1
    }
    this.hasFindings = hasFindings || hasOther || this.end - this.start > FORMAT_LIMITS.maxDescriptionLength
    return isNamed && this.end > 0
  }

  /** In quotes without escapes, plain, or a block. */
  private describe(text: string, { from, end: next, form }: TopEntry): boolean {
    let start = from + DESCRIPTION.length
    while (text.charCodeAt(start) === SPACE) start++
    let end = next - 1
    while (isBlank(text.charCodeAt(end - 1))) end--
    const first = text.charCodeAt(start)
    this.start = start
    this.end = end
    this.form = 'plain'
    if (form === 'block') {
      this.form = first === BAR ? 'literal' : 'folded'
      this.start = text.indexOf('\n', start) + 1
      return true
    }
    if (first === DOUBLE_QUOTE) return this.unquote(text, '\\')
    if (first === SINGLE_QUOTE) return this.unquote(text, "'")
    // Above the digits, and no list: letters, signs and other alphabets. Words of four or five letters may be null, true or false.
    return form === 'line' && first > NINE && first !== OPEN_BRACKET && end - start > 5
  }

  /** From what stands between quotes to the text; false when it is empty or something in it is escaped. */
  private unquote(text: string, escape: string): boolean {
    this.start++
    this.end--
    // Blanks at the edges do not count; nothing else would make it empty.
    if (text.charCodeAt(this.start) <= SPACE || this.start === this.end) return false
    const at = text.indexOf(escape, this.start)
    return at < 0 || at >= this.end
  }
}

/** Text, of which only the parsers know whether it is JSON, and whether that is sound. */
function mayHoldJson(text: string, { from, form }: TopEntry): boolean {
  let at = text.indexOf(':', from)
  while (text.charCodeAt(++at) === SPACE);
  const first = text.charCodeAt(at)
  return form === 'block' || first === DOUBLE_QUOTE || first === SINGLE_QUOTE
}

/** True when nothing but blanks stands there. */
function isRest(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isBlank(text.charCodeAt(at))) return false
  return true
}

import type { JsonObject, JsonValue } from '../../kernel/index.ts'
import { mayHide } from '../fields/description.ts'
import { TOP_LEVEL } from '../fields/metadata-keys.ts'
import { isCleanName } from '../fields/name.ts'
import { splitToolList } from '../fields/tool-list.ts'
import type { KeyPath } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import { BACKSLASH, DOUBLE_QUOTE, OPEN_BRACKET, SINGLE_QUOTE, SPACE } from '../quick/bytes.ts'
import type { FileText } from '../text.ts'
import { Glance, isBlank, type TopEntry } from './glance.ts'
import { Lines, list, textOf } from './lines.ts'
import { isSoundMetadata } from './metadata.ts'
import { WORD } from './patterns.ts'

/** A frontmatter of so many bytes cannot exceed the limits of keys and tokens. Longer ones are rare. */
const MAX_BYTES = 2_000
/** Keys of more than 1,024 characters are faults. */
const LONG_KEY = /\n[ -]*[\w.-]{200}/
const NINE = 57
const IS_WIDE = /[\x80-\xff]/
/** A value that is no text: a number, or a word in any case. */
const NO_TEXT = new RegExp(`^(?:\\d|${WORD}$)`)

/** Keys that hold gates, or that reading reports: left to it. */
const LEFT: ReadonlySet<string> = new Set([
  ...['arguments', 'allowed_tools', 'disable_model_invocation', 'user_invocable'],
  ...TOP_LEVEL,
])
/** Keys whose plain value is kept as written at every level, as in `yaml/values.ts`. */
const AS_WRITTEN: ReadonlySet<string> = new Set(['name', 'description', 'version'])

/** What the rules of the specification ask of a frontmatter. Good until the next one is read. */
export interface Outline {
  /** Its keys in their order. Texts that no rule looks at are empty. */
  readonly front: JsonObject
  readonly allowedTools: readonly string[]
  /** The start of the closing line. */
  readonly to: number
  /** Where a key begins, at the top level or right below `metadata`. */
  offsetOf(path: KeyPath): number
}

/** Reads the outlines of frontmatters of which reading has nothing to report, in a few patterns. Not for two readings at once. */
export class Outliner {
  readonly #look = new Glance()
  #text = ''
  #tools: readonly string[] = []
  /** The end of what `#written` gave. */
  #writtenTo = 0

  /** Undefined when there may be something to report, or only the parsers know. */
  read(file: FileText, directoryName: string): Outline | undefined {
    const text = file.latin1
    const close = text.indexOf('\n---')
    const from = text.startsWith('---\n') ? 4 : text.startsWith('---\r\n') ? 5 : 0
    if (from === 0 || close < 0 || close > MAX_BYTES || !isCleanName(directoryName)) return undefined
    const look = this.#look
    if (!look.look(text, from) || (close > 1_024 && LONG_KEY.test(text.slice(from - 1, close)))) return undefined
    this.#text = text
    this.#tools = []
    const front = this.#front(file, directoryName)
    if (front === undefined) return undefined
    return { front, allowedTools: this.#tools, to: look.end, offsetOf: (path) => this.#offsetOf(path) }
  }

  #front(file: FileText, directoryName: string): JsonObject | undefined {
    const { entries, count } = this.#look
    const front = Object.create(null) as Record<string, JsonValue>
    for (let index = 0; index < count; index++) {
      const entry = entries[index] as TopEntry
      const key = this.#keyOf(entry)
      const value = this.#value(file, { entry, key, directoryName })
      if (value === undefined) return undefined
      front[key] = value
    }
    return front['name'] === undefined || front['description'] === undefined ? undefined : front
  }

  #keyOf({ from }: TopEntry): string {
    return this.#text.slice(from, this.#text.indexOf(':', from))
  }

  /** A value about which reading has nothing to say; undefined when it may have. */
  #value(
    file: FileText,
    { entry, key, directoryName }: { entry: TopEntry; key: string; directoryName: string },
  ): JsonValue | undefined {
    switch (key) {
      case 'name':
        return unquoted(this.#written(entry, key)) === directoryName ? '' : undefined
      case 'description':
        return this.#isPlainDescription(file, entry) ? '' : undefined
      case 'license':
        return isOneText(entry) && this.#written(entry, key).charCodeAt(0) !== OPEN_BRACKET ? '' : undefined
      case 'compatibility':
        return this.#compatibility(entry)
      case 'allowed-tools':
        return this.#allowedTools(entry)
      case 'disable-model-invocation':
      case 'user-invocable':
        return /^(?:true|false)$/.test(this.#written(entry, key)) ? '' : undefined
      case 'metadata':
        return this.#metadata(entry)
      default:
        return LEFT.has(key) ? undefined : ''
    }
  }

  /** What stands behind a key, without the blanks around it; of a block also its lines. */
  #written({ from, end }: TopEntry, key: string): string {
    const text = this.#text
    let start = from + key.length + 1
    while (text.charCodeAt(start) === SPACE) start++
    let last = end
    while (last > start && isBlank(text.charCodeAt(last - 1))) last--
    this.#writtenTo = last
    return text.slice(start, last)
  }

  /** Text that is not empty, not too long, and hides nothing. */
  #isPlainDescription({ bytes }: FileText, entry: TopEntry): boolean {
    const written = this.#written(entry, 'description')
    if (written.length > FORMAT_LIMITS.maxDescriptionLength || !isOneText(entry)) return false
    // Words of up to five letters may be null, true or false.
    const isText = entry.form === 'block' || isFilled(written) || (isPlainText(written) && written.length > 5)
    if (!isText || !this.#look.isWide || !IS_WIDE.test(written)) return isText
    return !mayHide(bytes.toString('utf8', entry.from, this.#writtenTo))
  }

  #compatibility(entry: TopEntry): JsonValue | undefined {
    if (entry.form === 'open') return null
    const written = this.#written(entry, 'compatibility')
    if (!isOneText(entry) || written.length > FORMAT_LIMITS.maxCompatibilityLength) return undefined
    return entry.form === 'block' || isFilled(written) || isPlainText(written) ? '' : undefined
  }

  #allowedTools(entry: TopEntry): JsonValue | undefined {
    if (entry.form === 'open') return null
    const written = this.#written(entry, 'allowed-tools')
    let value: string | readonly string[] | undefined
    if (entry.form === 'list' || written.charCodeAt(0) === OPEN_BRACKET) {
      const lines = new Lines(this.#text.slice(entry.from, this.#look.end))
      lines.key()
      value = list(lines)
    } else if (entry.form === 'line') value = textOf(written)
    if (value === undefined) return undefined
    const lists = (typeof value === 'string' ? [value] : value).map(splitToolList)
    if (!lists.every(({ balanced }) => balanced)) return undefined
    this.#tools = lists.length === 1 && lists[0] ? lists[0].tools : [...new Set(lists.flatMap(({ tools }) => tools))]
    return value as JsonValue
  }

  /** What stands right below `metadata`, by its kind. The syntax of the lines is known. */
  #metadata(entry: TopEntry): JsonValue | undefined {
    if (entry.form === 'open') return null
    const text = this.#text
    const { hasGates, end } = this.#look
    if (entry.form !== 'below' || (hasGates && !isSoundMetadata(text.slice(entry.from, end)))) return undefined
    const found = Object.create(null) as Record<string, JsonValue>
    const level = indentAt(text, entry.end)
    const deeper = ' '.repeat(level + 1)
    for (let at = entry.end; text.charCodeAt(at) === SPACE;) {
      const colon = text.indexOf(':', at)
      const next = text.indexOf('\n', colon) + 1
      const key = text.slice(at + level, colon)
      const value = kindOf(key, text.slice(colon + 1, next).trim())
      if (value === undefined) return undefined
      const hasBelow = text.startsWith(deeper, next)
      for (at = next; text.startsWith(deeper, at);) at = text.indexOf('\n', at) + 1
      found[key] = value === null && hasBelow ? {} : value
    }
    return found
  }

  #offsetOf([top, below]: KeyPath): number {
    const { entries, count } = this.#look
    const entry = entries.slice(0, count).find((one) => this.#keyOf(one) === top) as TopEntry
    if (below === undefined) return entry.from
    const level = indentAt(this.#text, entry.end)
    return this.#text.indexOf(`\n${' '.repeat(level)}${below}:`, entry.end - 1) + 1 + level
  }
}

/** How many blanks stand there. */
function indentAt(text: string, start: number): number {
  let at = start
  while (text.charCodeAt(at) === SPACE) at++
  return at - start
}

function isOneText({ form }: TopEntry): boolean {
  return form === 'line' || form === 'block'
}

/** In quotes, beginning with a character that counts. */
function isFilled(written: string): boolean {
  const quote = written.charCodeAt(0)
  const first = written.charCodeAt(1)
  return (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) && first > SPACE && first !== quote && first !== BACKSLASH
}

/** Text without quotes, as far as its first character tells. */
function isPlainText(written: string): boolean {
  const first = written.charCodeAt(0)
  return first > NINE ? first !== OPEN_BRACKET : first === 47 || first === 36 || first === 40
}

/** A name as it is written, in quotes or not; clean names need no escapes. */
function unquoted(written: string): string {
  const quote = written.charCodeAt(0)
  return quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE ? written.slice(1, -1) : written
}

/** A value right below metadata: empty text, list or mapping, a number or boolean; null when nothing stands there. */
function kindOf(key: string, written: string): JsonValue | undefined {
  if (written === '') return null
  if (written.charCodeAt(0) === OPEN_BRACKET) return []
  if (!NO_TEXT.test(written) || AS_WRITTEN.has(key)) return ''
  if (written === 'true' || written === 'false') return written === 'true'
  return /^\d+(?:\.\d+)?$/.test(written) ? Number(written) : /^\d/.test(written) ? '' : undefined
}

import type { JsonObject, JsonValue } from '../../kernel/index.ts'
import { mayHide } from '../fields/description.ts'
import { TOP_LEVEL } from '../fields/metadata-keys.ts'
import { isCleanName } from '../fields/name.ts'
import { splitToolList } from '../fields/tool-list.ts'
import type { KeyPath } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import { BACKSLASH, DOUBLE_QUOTE, NINE, OPEN_BRACKET, SINGLE_QUOTE, SPACE } from '../quick/bytes.ts'
import type { FileText } from '../text.ts'
import { Glance, isBlank, type TopEntry } from './glance.ts'
import { isSoundMapping, offsetOfKey, plainJson } from './json-metadata.ts'
import { indentAt, listAt, textOf } from './lists.ts'
import { GatesGlance } from './metadata.ts'
import { SOUND_METADATA } from './sound.ts'
import { WORD } from './patterns.ts'

/** A frontmatter of so many bytes cannot exceed the limits of keys and tokens. Longer ones are rare. */
const MAX_BYTES = 2_000
const FEW = 200
/** Keys of more than 1,024 characters are faults. */
const LONG_KEY = /\n[ -]*[\w.-]{200}/
/** A line of a comment, from the line end before it; not the first line of a block. */
const COMMENT = /(?<![|>]-? *)\n *#[^\x00-\x1f\x7f]*/g
/** The value of a metadata that is written as JSON. */
const JSON_METADATA = /(?<=\nmetadata: *)\{[^\x00-\x1f\x7f]*\}(?= *\r?\n)/
/** Blanks and characters that nobody sees: in a key of JSON they are reported. */
const ODD = /[^\S \t\r\n]|[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f]/
const OPENER = /^--- *\r?\n/
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
  /** True when they have nothing to say. */
  readonly isQuiet: boolean
  readonly allowedTools: readonly string[]
  /** The start of the closing line. */
  readonly to: number
  /** Its keys in their order. Texts that no rule looks at are empty. */
  front(): JsonObject
  /** Where a key begins, at the top level or right below `metadata`. */
  offsetOf(path: KeyPath): number
}

/** Reads the outlines of frontmatters of which reading has nothing to report, in a few patterns. Not for two readings at once. */
export class Outliner implements Outline {
  isQuiet = true
  allowedTools: readonly string[] = []
  // Not #private: those are slow until they are optimized, as in a glance.
  private readonly look = new Glance()
  private readonly gates = new GatesGlance()
  /** What was looked at: the file, or its frontmatter without comments and JSON. Offsets are the same. */
  private text = ''
  private latin1 = ''
  private readonly keys: string[] = []
  private readonly values: JsonValue[] = []
  /** The end of what `written` gave. */
  private writtenTo = 0
  /** Files whose metadata may gate. */
  private gated = 0

  /** Undefined when there may be something to report, or only the parsers know. */
  read(file: FileText, directoryName: string): Outline | undefined {
    const text = file.latin1
    const close = text.indexOf('\n---')
    if (close < 0 || close > MAX_BYTES || !isCleanName(directoryName)) return undefined
    if (!this.sees(text, close) || (close > 1_024 && LONG_KEY.test(text.slice(0, close)))) return undefined
    this.latin1 = text
    this.allowedTools = []
    this.isQuiet = true
    return this.readEntries(file, directoryName) ? this : undefined
  }

  get to(): number {
    return this.look.end
  }

  front(): JsonObject {
    const front = Object.create(null) as Record<string, JsonValue>
    for (let at = 0; at < this.keys.length; at++) front[this.keys[at] as string] = this.values[at] as JsonValue
    return front
  }

  /** Looks at the frontmatter; once more with blanks for comments and a word for JSON when it is not of the plainest kind. */
  private sees(text: string, close: number): boolean {
    const from = text.startsWith('---\n') ? 4 : text.startsWith('---\r\n') ? 5 : 0
    if (from === 0) return false
    this.text = text
    if (this.look.look(text, from)) return true
    const head = text.slice(0, text.indexOf('\n', close + 1) + 1)
    this.text = head.replace(COMMENT, blanked).replace(JSON_METADATA, ({ length }) => 'x'.repeat(length))
    const start = OPENER.exec(this.text)?.[0].length
    return this.text !== head && start !== undefined && this.look.look(this.text, start)
  }

  private readEntries(file: FileText, directoryName: string): boolean {
    const { entries, count } = this.look
    this.keys.length = 0
    this.values.length = 0
    for (let index = 0; index < count; index++) {
      const entry = entries[index] as TopEntry
      const key = this.keyOf(entry)
      const value = this.value(file, { entry, key, directoryName })
      if (value === undefined) return false
      this.keys.push(key)
      this.values.push(value)
    }
    return this.keys.includes('name') && this.keys.includes('description')
  }

  private keyOf({ from }: TopEntry): string {
    return this.text.slice(from, this.text.indexOf(':', from))
  }

  /** A value about which reading has nothing to say; undefined when it may have. */
  private value(
    file: FileText,
    { entry, key, directoryName }: { entry: TopEntry; key: string; directoryName: string },
  ): JsonValue | undefined {
    switch (key) {
      case 'name':
        return unquoted(this.written(entry, key)) === directoryName ? '' : undefined
      case 'description':
        return this.isPlainDescription(file, entry) ? '' : undefined
      case 'license':
        return isOneText(entry) && this.written(entry, key).charCodeAt(0) !== OPEN_BRACKET ? '' : undefined
      case 'compatibility':
        return this.compatible(entry)
      case 'allowed-tools':
        return this.tools(entry)
      case 'disable-model-invocation':
      case 'user-invocable':
        this.isQuiet = false
        return /^(?:true|false)$/.test(this.written(entry, key)) ? '' : undefined
      case 'metadata':
        return this.metadata(file, entry)
      default:
        this.isQuiet = false
        return LEFT.has(key) ? undefined : ''
    }
  }

  /** What stands behind a key, without the blanks around it; of a block also its lines. */
  private written({ from, end }: TopEntry, key: string): string {
    const text = this.text
    let start = from + key.length + 1
    while (text.charCodeAt(start) === SPACE) start++
    let last = end
    while (last > start && isBlank(text.charCodeAt(last - 1))) last--
    this.writtenTo = last
    return text.slice(start, last)
  }

  /** Text that is not empty, not too long, and hides nothing. */
  private isPlainDescription({ bytes }: FileText, entry: TopEntry): boolean {
    const written = this.written(entry, 'description')
    if (written.length > FORMAT_LIMITS.maxDescriptionLength || !isOneText(entry)) return false
    // Words of up to five letters may be null, true or false.
    const isText = entry.form === 'block' || isFilled(written) || (isPlainText(written) && written.length > 5)
    if (!isText || !this.look.isWide || !IS_WIDE.test(written)) return isText
    return !mayHide(bytes.toString('utf8', entry.from, this.writtenTo).replaceAll('\r\n', '\n'))
  }

  private compatible(entry: TopEntry): JsonValue | undefined {
    if (entry.form === 'open') return null
    const written = this.written(entry, 'compatibility')
    if (!isOneText(entry) || written.length > FORMAT_LIMITS.maxCompatibilityLength) return undefined
    return entry.form === 'block' || isFilled(written) || isPlainText(written) ? '' : undefined
  }

  private tools(entry: TopEntry): JsonValue | undefined {
    if (entry.form === 'open') return null
    const written = this.written(entry, 'allowed-tools')
    let value: string | readonly string[] | undefined
    if (entry.form === 'list' || written.charCodeAt(0) === OPEN_BRACKET) {
      value = listAt(this.text, entry.from + 'allowed-tools:'.length, 0)
    } else if (entry.form === 'line') value = textOf(written)
    if (value === undefined) return undefined
    const lists = (typeof value === 'string' ? [value] : value).map(splitToolList)
    if (!lists.every(({ balanced }) => balanced)) return undefined
    this.allowedTools =
      lists.length === 1 && lists[0] ? lists[0].tools : [...new Set(lists.flatMap(({ tools }) => tools))]
    if (this.allowedTools.join(' ') !== value) this.isQuiet = false
    return value as JsonValue
  }

  /** The pattern takes milliseconds to compile, so it has to wait until there are many files. */
  private isSound({ from }: TopEntry): boolean {
    const { gatesFrom, end } = this.look
    if (gatesFrom === 0) return true
    if (this.gated++ > FEW && SOUND_METADATA.test(this.text.slice(from, end))) return true
    return this.gates.isSound(this.text.slice(gatesFrom, end))
  }

  /** What stands right below `metadata`, by its kind. The syntax of the lines is known. */
  private metadata({ bytes }: FileText, entry: TopEntry): JsonValue | undefined {
    if (entry.form === 'open') return null
    if (entry.form === 'line') return this.json(bytes, entry)
    const text = this.text
    if (entry.form !== 'below' || (this.look.hasGates && !this.isSound(entry))) return undefined
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
      if (value !== '') this.isQuiet = false
    }
    return found
  }

  private json(bytes: Buffer, entry: TopEntry): JsonObject | undefined {
    const { length } = this.written(entry, 'metadata')
    const text = bytes.toString('utf8', this.writtenTo - length, this.writtenTo)
    const json = plainJson(text)
    if (json === undefined || !isSoundMapping(json) || ODD.test(text)) return undefined
    this.isQuiet = false
    return json
  }

  offsetOf([top, below]: KeyPath): number {
    const { entries, count } = this.look
    const entry = entries.slice(0, count).find((one) => this.keyOf(one) === top) as TopEntry
    if (below === undefined) return entry.from
    if (entry.form === 'line') {
      const from = this.latin1.indexOf('{', entry.from)
      return from + offsetOfKey(this.latin1.slice(from, entry.end), asLatin1(String(below)))
    }
    const level = indentAt(this.text, entry.end)
    return this.text.indexOf(`\n${' '.repeat(level)}${below}:`, entry.end - 1) + 1 + level
  }
}

/** Its bytes as UTF-8, read as Latin-1. */
function asLatin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** As many blanks. */
function blanked(text: string): string {
  return ' '.repeat(text.length)
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

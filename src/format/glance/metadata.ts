import type { InstallSpec, Requirements, SkillMetadata } from '../../kernel/index.ts'
import { osNames } from '../fields/gating.ts'
import { ALIASES, TOP_LEVEL } from '../fields/metadata.ts'
import { COMMA, DASH, DOUBLE_QUOTE, OPEN_BRACKET, SINGLE_QUOTE, SPACE } from '../quick/bytes.ts'
import { isBlank } from './glance.ts'
import { WORD } from './patterns.ts'

const NONE: readonly never[] = Object.freeze([])
const NO_REQUIREMENTS: Requirements = Object.freeze({ bins: NONE, anyBins: NONE, env: NONE, config: NONE })
const PLACES: ReadonlySet<string> = new Set(ALIASES)
const FIELDS: ReadonlySet<string> = new Set([...TOP_LEVEL, 'always', 'skillKey'])
const OS_NAMES: ReadonlySet<string> = new Set(['linux', 'darwin', 'windows'])
const IS_WORD = new RegExp(`^${WORD}$`)
const NINE = 57

/** The fields that gate while they are collected. */
interface Draft {
  os: readonly string[]
  requires: Requirements
  always: boolean
  primaryEnv: string | undefined
  skillKey: string | undefined
}

/**
 * What gates, when it is written as nearly everybody does: one block below `metadata`, every field that gates of its proper form. `text`
 * are lines that a glance has accepted, so their syntax is known; it begins at `metadata:`. What only people are shown is in `whole`,
 * which is asked for when it is. Undefined: the scanner must read it.
 */
export function glanceAtMetadata(text: string, whole: () => SkillMetadata): SkillMetadata | undefined {
  const lines = new Lines(text)
  lines.next()
  const level = lines.indent
  if (lines.isItem) return undefined
  let draft: Draft | undefined
  while (level > 0 && lines.indent === level) {
    const key = lines.key()
    if (FIELDS.has(key)) return undefined
    if (!PLACES.has(key)) lines.skip()
    else if (draft !== undefined || lines.value() !== '') return undefined
    else if (!fields(lines, (draft = begin()))) return undefined
  }
  return draft && new GlancedMetadata(draft, whole)
}

function begin(): Draft {
  return { os: NONE, requires: NO_REQUIREMENTS, always: false, primaryEnv: undefined, skillKey: undefined }
}

class GlancedMetadata implements SkillMetadata {
  readonly os: readonly string[]
  readonly requires: Requirements
  readonly always: boolean
  declare readonly primaryEnv?: string
  declare readonly skillKey?: string
  readonly #read: () => SkillMetadata
  #all: SkillMetadata | undefined

  constructor({ os, requires, always, primaryEnv, skillKey }: Draft, whole: () => SkillMetadata) {
    this.os = os
    this.requires = requires
    this.always = always
    if (primaryEnv !== undefined) this.primaryEnv = primaryEnv
    if (skillKey !== undefined) this.skillKey = skillKey
    this.#read = whole
    this.#all = undefined
  }

  // Absent and undefined are the same here.
  get emoji(): string {
    return this.toJSON().emoji as string
  }

  get homepage(): string {
    return this.toJSON().homepage as string
  }

  get install(): readonly InstallSpec[] {
    return this.toJSON().install
  }

  /** All of it as plain data. */
  toJSON(): SkillMetadata {
    return (this.#all ??= this.#read())
  }
}

/** The lines one after the other. The current one begins at column `indent`; -1 after the last. */
class Lines {
  indent = 0
  isItem = false
  readonly #text: string
  #from = 0
  #end = 0
  #colon = 0

  constructor(text: string) {
    this.#text = text
    this.#end = text.indexOf('\n')
  }

  next(): void {
    const text = this.#text
    const start = this.#end + 1
    let from = start
    while (text.charCodeAt(from) === SPACE) from++
    this.#end = text.indexOf('\n', from)
    this.#from = from
    this.indent = this.#end < 0 ? -1 : from - start
    this.isItem = text.charCodeAt(from) === DASH
  }

  /** Goes past the current line and all that lies below it. */
  skip(): void {
    const { indent } = this
    do this.next()
    while (this.indent > indent)
  }

  key(): string {
    this.#colon = this.#text.indexOf(':', this.#from)
    return this.#text.slice(this.#from, this.#colon)
  }

  /** What stands behind the key that was asked for. */
  value(): string {
    return this.#slice(this.#colon + 1)
  }

  /** All of the line. */
  whole(): string {
    return this.#slice(this.#from)
  }

  #slice(start: number): string {
    const text = this.#text
    let from = start
    let end = this.#end
    while (text.charCodeAt(from) === SPACE) from++
    while (end > from && isBlank(text.charCodeAt(end - 1))) end--
    return text.slice(from, end)
  }
}

/** The entries below the current line; false when one that gates has another form than the proper one. */
function fields(lines: Lines, draft: Draft): boolean {
  const above = lines.indent
  lines.next()
  const level = lines.indent
  if (level <= above || lines.isItem) return false
  while (lines.indent === level) if (!field(lines, lines.key(), draft)) return false
  return true
}

function field(lines: Lines, key: string, draft: Draft): boolean {
  switch (key) {
    case 'requires':
      return lines.value() === '' && requirements(lines, draft)
    case 'primaryEnv':
    case 'skillKey':
      draft[key] = textOf(lines.value())
      lines.skip()
      return draft[key] !== undefined
    case 'always': {
      const word = lines.value()
      draft.always = word === 'true'
      lines.skip()
      return draft.always || word === 'false'
    }
    case 'os': {
      const names = list(lines)
      if (names) draft.os = names.every((name) => OS_NAMES.has(name)) ? names : osNames(names)
      return names !== undefined
    }
    // Gates only beside or inside `requires`, which is left to the scanner.
    case 'anyBins':
      return false
    default:
      lines.skip()
      return true
  }
}

function requirements(lines: Lines, draft: Draft): boolean {
  const above = lines.indent
  const found = {
    bins: NONE as readonly string[],
    anyBins: NONE as readonly string[],
    env: NONE as readonly string[],
    config: NONE as readonly string[],
  }
  draft.requires = found
  lines.next()
  const level = lines.indent
  if (level <= above || lines.isItem) return false
  while (lines.indent === level) {
    const key = lines.key()
    // These may stand here as well, which is rare.
    if (key === 'os' || key === 'primaryEnv' || key === 'install') return false
    if (key === 'bins' || key === 'anyBins' || key === 'env' || key === 'config') {
      const names = list(lines)
      if (names === undefined) return false
      found[key] = names
    } else lines.skip()
  }
  return true
}

/** Different texts, in brackets or as items below; undefined when it is something else. Goes past them. */
function list(lines: Lines): readonly string[] | undefined {
  const value = lines.value()
  if (value === '') return items(lines)
  const texts = value.charCodeAt(0) === OPEN_BRACKET ? flow(value) : undefined
  lines.skip()
  return texts
}

function items(lines: Lines): readonly string[] | undefined {
  const above = lines.indent
  const texts: string[] = []
  lines.next()
  const level = lines.indent
  if (level <= above || !lines.isItem) return undefined
  while (lines.indent === level && lines.isItem) {
    const whole = lines.whole()
    const text = IS_ITEM.test(whole) ? textOf(whole.slice(2)) : undefined
    if (text === undefined || texts.includes(text)) return undefined
    texts.push(text)
    lines.next()
  }
  return lines.indent < level ? texts : undefined
}

/** A value, and not `- key: value`. */
const IS_ITEM = /^- (?:["']|[\w/($.-][^:]*$)/

/** `[a, "b"]`: words, and texts in double quotes without escapes. */
function flow(value: string): readonly string[] | undefined {
  const texts: string[] = []
  const last = value.length - 1
  for (let at = 1; at < last;) {
    const isQuoted = value.charCodeAt(at) === DOUBLE_QUOTE
    const from = isQuoted ? at + 1 : at
    const found = value.indexOf(isQuoted ? '"' : ',', from)
    const end = found < 0 ? last : found
    const text = value.slice(from, end).trim()
    if (text === '' || texts.includes(text)) return undefined
    texts.push(text)
    at = isQuoted ? end + 1 : end
    while (at < last && (value.charCodeAt(at) === SPACE || value.charCodeAt(at) === COMMA)) at++
  }
  return texts
}

/** A text that is not empty; undefined for numbers, words such as null, and lists. */
function textOf(value: string): string | undefined {
  const text = unquoted(value)?.trim()
  return text === '' ? undefined : text
}

function unquoted(value: string): string | undefined {
  const first = value.charCodeAt(0)
  if (first === DOUBLE_QUOTE) return value.includes('\\') ? (JSON.parse(value) as string) : value.slice(1, -1)
  if (first === SINGLE_QUOTE) return value.slice(1, -1).replaceAll("''", "'")
  const isNoText = (first >= 48 && first <= NINE) || first === OPEN_BRACKET || (value.length < 6 && IS_WORD.test(value))
  return isNoText ? undefined : value
}

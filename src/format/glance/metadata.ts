import type { InstallSpec, Requirements, SkillMetadata } from '../../kernel/index.ts'
import { isWebAddress, osNames, REQUIRED } from '../fields/gating-values.ts'
import { ALIASES, TOP_LEVEL } from '../fields/metadata-keys.ts'
import { DASH, SPACE } from '../quick/bytes.ts'
import { indentAt, isOpenAt, listAt, restOf, textOf } from './lists.ts'

const NONE: readonly never[] = Object.freeze([])
const NO_REQUIREMENTS: Requirements = Object.freeze({ bins: NONE, anyBins: NONE, env: NONE, config: NONE })

const BLOCKS = ALIASES.map((key) => `${key}:`)
const FIELDS = [...TOP_LEVEL, 'always', 'skillKey'].map((key) => `${key}:`)
const SYSTEMS: ReadonlySet<string> = new Set(['linux', 'darwin', 'windows'])

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** The fields that gate. */
type Gating = Pick<SkillMetadata, 'os' | 'requires' | 'always'> & {
  readonly primaryEnv: string | undefined
  readonly skillKey: string | undefined
}

/**
 * What gates, when it is written as nearly everybody does: below `metadata` or in one block there, every field that gates of its proper
 * form. What only people are shown is in the whole of it, which `read` gives and which is asked for when it is.
 */
export class GlancedMetadata implements SkillMetadata {
  readonly os: readonly string[]
  readonly requires: Requirements
  readonly always: boolean
  // Absent and undefined are the same here, and objects of one shape are read faster.
  readonly primaryEnv: string
  readonly skillKey: string
  #whole: SkillMetadata | (() => SkillMetadata)

  constructor({ os, requires, always, primaryEnv, skillKey }: Gating, read: () => SkillMetadata) {
    this.os = os
    this.requires = requires
    this.always = always
    this.primaryEnv = primaryEnv as string
    this.skillKey = skillKey as string
    this.#whole = read
  }

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
    if (typeof this.#whole === 'function') this.#whole = this.#whole()
    return this.#whole
  }
}

/** One pass over the lines below `metadata`. What it found is good until the next. */
export class GatesGlance implements Gating {
  os: readonly string[] = NONE
  requires = NO_REQUIREMENTS
  always = false
  primaryEnv: string | undefined = undefined
  skillKey: string | undefined = undefined
  /** What does not gate is looked at as well, and whether every field has its proper form. */
  private judges = false
  private sound = true
  private text = ''
  /** Where fields were found. */
  private place: 'metadata' | 'block' | undefined = undefined
  /** Where the next line starts. */
  private next = 0

  /** True when every field of such a text has its proper form, so that there is nothing to report about it. */
  isSound(text: string): boolean {
    this.judges = true
    this.sound = true
    const isRead = this.read(text)
    this.judges = false
    return isRead && this.sound
  }

  /**
   * False when only the scanner can tell what gates. `text` are lines that a glance has accepted, so their syntax is known, with their bytes
   * read as Latin-1; it begins with a line right below `metadata`, or is empty.
   */
  read(text: string): boolean {
    this.os = NONE
    this.requires = NO_REQUIREMENTS
    this.always = false
    this.primaryEnv = undefined
    this.skillKey = undefined
    this.text = text
    this.place = undefined
    const outer = indentAt(text, 0)
    // Where fields stand: below metadata or, behind the key of a block, deeper.
    let level = outer
    for (let at = 0; at < text.length; at = this.next) {
      let from = at
      while (text.charCodeAt(from) === SPACE) from++
      const indent = from - at
      if (indent < outer) break
      this.next = text.indexOf('\n', from) + 1
      if (indent === outer) level = this.levelBelow(from, outer)
      else if (indent === level && !this.field(from, indent)) level = -1
      if (level < 0) return false
    }
    return true
  }

  /** How far the fields are indented after a line right below metadata; -1 when they stand in two places, or are not understood. */
  private levelBelow(from: number, outer: number): number {
    const { text, place } = this
    if (startsWithAny(BLOCKS, text, from)) {
      this.place = 'block'
      return place === undefined ? this.levelOfBlock(from, outer) : -1
    }
    if (!startsWithAny(FIELDS, text, from)) return outer
    this.place = 'metadata'
    return place !== 'block' && this.field(from, outer) ? outer : -1
  }

  /** How far the fields of a block are indented; -1 when there are none. */
  private levelOfBlock(from: number, above: number): number {
    const { text, next } = this
    const level = indentAt(text, next)
    const hasFields = level > above && text.charCodeAt(next + level) !== DASH
    return hasFields && isOpenAt(text, text.indexOf(':', from) + 1) ? level : -1
  }

  /** Reads the field whose key begins at `from`; false when it has no proper form. */
  private field(from: number, indent: number): boolean {
    const { text } = this
    switch (text.slice(from, text.indexOf(':', from))) {
      case 'requires':
        return this.requirements(from + 9, indent)
      case 'os':
        return this.systems(from + 3, indent)
      case 'primaryEnv':
        return (this.primaryEnv = textOf(restOf(text, from + 11))) !== undefined
      case 'skillKey':
        return (this.skillKey = textOf(restOf(text, from + 9))) !== undefined
      case 'always':
        return this.alwaysWord(restOf(text, from + 7))
      // Gates only beside or inside `requires`, which is left to the scanner.
      case 'anyBins':
        return false
      // Only shown, and never wrong.
      case 'emoji':
        return true
      case 'homepage':
        return !this.judges || this.judge(isAddress(textOf(restOf(text, from + 9))))
      case 'install':
        return !this.judges || this.judge(isOpenAt(text, from + 8) && this.areSpecs(indent))
      default:
        return this.judge(false)
    }
  }

  /** Notes whether a field is sound that does not gate. */
  private judge(isSound: boolean): true {
    if (!isSound) this.sound = false
    return true
  }

  private systems(start: number, above: number): boolean {
    const names = listAt(this.text, start, above)
    if (names === undefined) return false
    this.os = names.every((name) => SYSTEMS.has(name)) ? names : osNames(names)
    return true
  }

  private alwaysWord(word: string): boolean {
    this.always = word === 'true'
    return this.always || word === 'false'
  }

  /** The lists of names below `requires:`. */
  private requirements(start: number, above: number): boolean {
    const { text } = this
    const level = indentAt(text, this.next)
    if (level <= above || text.charCodeAt(this.next + level) === DASH || !isOpenAt(text, start)) return false
    const found = { bins: NONE, anyBins: NONE, env: NONE, config: NONE } as Writable<Requirements>
    let at = this.next
    for (let indent = level; indent >= level; indent = indentAt(text, at)) {
      if (indent === level) {
        const from = at + level
        const key = requirementAt(text, from)
        // These may stand here as well, which is rare.
        if (key === undefined && startsWithAny(INSIDE, text, from)) return false
        if (key !== undefined) {
          const names = listAt(text, from + key.length + 1, level)
          if (names === undefined) return false
          found[key] = names
          if (this.judges) this.judge(areNames(names, REQUIRED[key]))
        }
      }
      at = text.indexOf('\n', at) + 1
    }
    this.next = at
    this.requires = found
    return true
  }

  /** True for a list of mappings, each with its kind. */
  private areSpecs(above: number): boolean {
    const { text } = this
    const level = indentAt(text, this.next)
    if (level <= above) return false
    let at = this.next
    // Of the entry above, if there is one.
    let hasKind = true
    for (let indent = level; indent >= level; indent = indentAt(text, at)) {
      const isItem = text.charCodeAt(at + indent) === DASH
      if (indent <= level + 2) {
        if (isItem !== (indent === level) || (isItem && !hasKind)) return false
        if (isItem) hasKind = false
        const from = at + level + 2
        // With a blank: `- kind:x` is a text.
        if (text.startsWith('kind: ', from)) hasKind = textOf(restOf(text, from + 5)) !== undefined
        else if (!isListIfNamed(text, from, level + 2)) return false
      }
      at = text.indexOf('\n', at) + 1
    }
    this.next = at
    return hasKind
  }
}

/** The keys that may stand inside `requires` and have nothing to do with it. */
const INSIDE: readonly string[] = ['os:', 'primaryEnv:', 'install:']

function requirementAt(text: string, from: number): keyof Requirements | undefined {
  if (text.startsWith('bins:', from)) return 'bins'
  if (text.startsWith('env:', from)) return 'env'
  if (text.startsWith('anyBins:', from)) return 'anyBins'
  return text.startsWith('config:', from) ? 'config' : undefined
}

/** False for `bins` and `os` that are no lists. */
function isListIfNamed(text: string, from: number, above: number): boolean {
  if (text.startsWith('bins:', from)) return listAt(text, from + 5, above) !== undefined
  return !text.startsWith('os:', from) || listAt(text, from + 3, above) !== undefined
}

function areNames(names: readonly string[], pattern: RegExp): boolean {
  for (const name of names) if (!pattern.test(name)) return false
  return true
}

function isAddress(text: string | undefined): boolean {
  return text !== undefined && isWebAddress(text)
}

function startsWithAny(keys: readonly string[], text: string, from: number): boolean {
  for (const key of keys) if (text.startsWith(key, from)) return true
  return false
}

import type { InstallSpec, Requirements, SkillMetadata } from '../../kernel/index.ts'
import { isWebAddress, osNames, REQUIRED } from '../fields/gating-values.ts'
import { ALIASES, maySlip, TOP_LEVEL } from '../fields/metadata-keys.ts'
import { Lines, list, textOf } from './lines.ts'

const NONE: readonly never[] = Object.freeze([])
const NO_REQUIREMENTS: Requirements = Object.freeze({ bins: NONE, anyBins: NONE, env: NONE, config: NONE })
const PLACES: ReadonlySet<string> = new Set(ALIASES)
const FIELDS: ReadonlySet<string> = new Set([...TOP_LEVEL, 'always', 'skillKey'])
const OS_NAMES: ReadonlySet<string> = new Set(['linux', 'darwin', 'windows'])

/** The fields that gate while they are collected. */
interface Draft {
  os: readonly string[]
  requires: Requirements
  always: boolean
  primaryEnv: string | undefined
  skillKey: string | undefined
}

/**
 * What gates, when it is written as nearly everybody does: below `metadata` or in one block there, every field that gates of its proper
 * form. `text` are lines that a glance has accepted, so their syntax is known, with their bytes read as Latin-1; it begins at `metadata:`,
 * or is empty when there is none.
 * What only people are shown is in `whole`, which is asked for when it is. Undefined: the scanner must read it.
 */
export function glanceAtMetadata<T>(text: string, from: Whole<T>): SkillMetadata | undefined {
  const draft = begin()
  return eachPlace(text, (lines, key) => field(lines, key, draft)) ? new GlancedMetadata(draft, from) : undefined
}

/** How all of it is read, and from what. */
export interface Whole<T> {
  readonly source: T
  readonly read: (source: T) => SkillMetadata
}

/** True when every field of such a text has its proper form, so that there is nothing to report about it. */
export function isSoundMetadata(text: string): boolean {
  return eachPlace(text, isSound)
}

type Take = (lines: Lines, key: string) => boolean

/** Hands every field to `take`, which goes past it; false when one is not taken, or fields stand in two places. */
function eachPlace(text: string, take: Take): boolean {
  if (text === '') return true
  const lines = new Lines(text)
  lines.next()
  const level = lines.indent
  if (lines.isItem) return false
  let place: 'metadata' | 'block' | undefined
  while (level > 0 && lines.indent === level) {
    const key = lines.key()
    if (PLACES.has(key)) {
      if (place !== undefined || !inBlock(lines, take)) return false
      place = 'block'
    } else if (FIELDS.has(key)) {
      if (place === 'block' || !take(lines, key)) return false
      place = 'metadata'
    } else if (!pastOther(lines, key, take)) return false
  }
  return true
}

function inBlock(lines: Lines, take: Take): boolean {
  return lines.value() === '' && eachField(lines, take)
}

/** Only the parser knows whether such a key is a slip. */
function pastOther(lines: Lines, key: string, take: Take): boolean {
  return take === isSound && maySlip(key) ? false : skipped(lines)
}

function begin(): Draft {
  return { os: NONE, requires: NO_REQUIREMENTS, always: false, primaryEnv: undefined, skillKey: undefined }
}

class GlancedMetadata<T> implements SkillMetadata {
  readonly os: readonly string[]
  readonly requires: Requirements
  readonly always: boolean
  declare readonly primaryEnv?: string
  declare readonly skillKey?: string
  readonly #source: T
  readonly #read: (source: T) => SkillMetadata
  #all: SkillMetadata | undefined

  constructor({ os, requires, always, primaryEnv, skillKey }: Draft, { source, read }: Whole<T>) {
    this.os = os
    this.requires = requires
    this.always = always
    if (primaryEnv !== undefined) this.primaryEnv = primaryEnv
    if (skillKey !== undefined) this.skillKey = skillKey
    this.#source = source
    this.#read = read
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
    return (this.#all ??= this.#read(this.#source))
  }
}

/** Hands every key below the current line to `take`, which goes past it; false when one is not taken or there are none. */
function eachField(lines: Lines, take: Take): boolean {
  const above = lines.indent
  lines.next()
  const level = lines.indent
  if (level <= above || lines.isItem) return false
  while (lines.indent === level) if (!take(lines, lines.key())) return false
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
  const found = { ...NO_REQUIREMENTS }
  draft.requires = found
  return eachField(lines, (at, key) => {
    // These may stand here as well, which is rare.
    if (key === 'os' || key === 'primaryEnv' || key === 'install') return false
    if (!isRequirement(key)) return skipped(at)
    const names = list(at)
    if (names === undefined) return false
    found[key] = names
    return true
  })
}

function isRequirement(key: string): key is keyof Requirements {
  return key === 'bins' || key === 'anyBins' || key === 'env' || key === 'config'
}

function skipped(lines: Lines): boolean {
  lines.skip()
  return true
}

function isSound(lines: Lines, key: string): boolean {
  switch (key) {
    case 'requires':
      return lines.value() === '' && eachField(lines, isSoundRequirement)
    case 'install':
      return lines.value() === '' && areSoundSpecs(lines)
    case 'homepage': {
      const address = textOf(lines.value())
      return address !== undefined && isWebAddress(address) && skipped(lines)
    }
    case 'os':
      return list(lines) !== undefined
    case 'always':
      return /^(?:true|false)$/.test(lines.value()) && skipped(lines)
    case 'primaryEnv':
    case 'skillKey':
      return textOf(lines.value()) !== undefined && skipped(lines)
    // Only shown, and never wrong.
    case 'emoji':
      return skipped(lines)
    default:
      return false
  }
}

function isSoundRequirement(lines: Lines, key: string): boolean {
  if (!isRequirement(key)) return false
  const pattern = REQUIRED[key]
  return list(lines)?.every((name) => pattern.test(name)) ?? false
}

/** A list of mappings, each with its kind. */
function areSoundSpecs(lines: Lines): boolean {
  const above = lines.indent
  lines.next()
  const level = lines.indent
  if (level <= above || !lines.isItem) return false
  while (lines.indent === level && lines.isItem) {
    lines.enterItem()
    let hasKind = false
    while (lines.indent === level + 2 && !lines.isItem) {
      const key = lines.key()
      if (key === 'bins' || key === 'os') {
        if (list(lines) === undefined) return false
        continue
      }
      if (key === 'kind') hasKind = textOf(lines.value()) !== undefined
      lines.skip()
    }
    if (!hasKind) return false
  }
  return lines.indent < level
}

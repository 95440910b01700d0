import {
  compareUtf8,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nameKey,
  ownValue,
  sha256,
  type Skill,
  skillAddress,
} from '../../kernel/index.ts'
import { shownName } from './shown-text.ts'

export interface SnapshotSkill {
  readonly name: string
  readonly address: string
  readonly description: string
  readonly directory: string
  /** Bytes of its SKILL.md at that time. */
  readonly size: number
}

/** The skills that a session was offered. Source: seed 001 §5.2. */
export interface CatalogSnapshot {
  /** Equal to the catalog's `version` at that time. */
  readonly version: string
  readonly skills: readonly SnapshotSkill[]
}

const FORMAT = 2
const FIELDS = ['name', 'address', 'description', 'directory'] as const

/** The catalog as JSON for a session's row: what was offered, not the texts. */
export function toSnapshot({
  version,
  skills,
}: {
  readonly version: string
  readonly skills: readonly Skill[]
}): JsonObject {
  return { format: FORMAT, version, skills: skills.map((skill) => ({ ...toRow(skill) })) }
}

function toRow(skill: Skill): SnapshotSkill {
  const { name, description, directory, stamp } = skill
  return { name, address: skillAddress(skill), description, directory, size: stamp.size }
}

/** Reads what `toSnapshot` wrote; undefined for anything else, also for a snapshot whose skills do not match its version. */
export function fromSnapshot(json: unknown): CatalogSnapshot | undefined {
  if (!isJsonObject(json) || ownValue(json, 'format') !== FORMAT) return undefined
  const version = ownValue(json, 'version')
  const list = ownValue(json, 'skills')
  if (typeof version !== 'string' || !Array.isArray(list)) return undefined
  const skills: SnapshotSkill[] = []
  for (const item of list as readonly JsonValue[]) {
    const skill = toSnapshotSkill(item)
    if (!skill) return undefined
    skills.push(skill)
  }
  return hashOf(skills) === version ? { version, skills } : undefined
}

/** Names of skills by what became of them between two snapshots, each list in byte order. */
export interface SnapshotDiff {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** The name means another copy, its description differs, or its SKILL.md has another size. */
  readonly changed: readonly string[]
}

/** All lists are empty exactly when the versions are equal. */
export function diffSnapshots(
  before: Pick<CatalogSnapshot, 'skills'>,
  now: Pick<CatalogSnapshot, 'skills'>,
): SnapshotDiff {
  const old = byName(before.skills)
  const current = byName(now.skills)
  const known = [...current].filter(([key]) => old.has(key))
  return {
    added: names([...current].filter(([key]) => !old.has(key))),
    removed: names([...old].filter(([key]) => !current.has(key))),
    changed: names(known.filter(([key, skill]) => isChanged(old.get(key) as SnapshotSkill, skill))),
  }
}

export function diffCatalogs(before: Offered, now: Offered): SnapshotDiff {
  return diffSnapshots({ skills: before.skills.map(toRow) }, { skills: now.skills.map(toRow) })
}

interface Offered {
  readonly skills: readonly Skill[]
}

function names(skills: readonly (readonly [string, SnapshotSkill])[]): readonly string[] {
  return skills.map(([, skill]) => shownName(skill)).sort(compareUtf8)
}

/** One line about a difference, such as `Skills changed: added a, b; removed c.`; empty when there is none. */
export function describeDiff({ added, removed, changed }: SnapshotDiff): string {
  const parts = [listed('added', added), listed('removed', removed), listed('changed', changed)]
  const said = parts.filter((part) => part !== '')
  return said.length === 0 ? '' : `Skills changed: ${said.join('; ')}.`
}

const MAX_LISTED = 10
const MAX_SHOWN_CHARS = 80

function listed(verb: string, names: readonly string[]): string {
  if (names.length === 0) return ''
  const shown = names.slice(0, MAX_LISTED).map((name) => name.slice(0, MAX_SHOWN_CHARS).toWellFormed())
  const rest = names.length - shown.length
  return `${verb} ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

function byName(skills: readonly SnapshotSkill[]): ReadonlyMap<string, SnapshotSkill> {
  return new Map(skills.map((skill) => [nameKey(shownName(skill)), skill]))
}

function isChanged(before: SnapshotSkill, now: SnapshotSkill): boolean {
  return before.address !== now.address || before.size !== now.size || before.description !== now.description
}

/**
 * Hex sha256 over addresses, descriptions and sizes, in order: it changes when what the model sees changes. Not over the bytes: they
 * would have to be read and hashed at every look, and loading reads them as they are anyway.
 */
export function versionOf(skills: readonly Skill[]): string {
  return hashOf(skills.map(toRow))
}

function hashOf(skills: readonly SnapshotSkill[]): string {
  // JSON text is unambiguous: no address can look like the end of another.
  const rows = skills.map(({ address, description, size }) => [address, description, size])
  return sha256(`nexus-catalog-v2\u0000${JSON.stringify(rows)}`)
}

function toSnapshotSkill(item: JsonValue): SnapshotSkill | undefined {
  if (!isJsonObject(item)) return undefined
  const values = FIELDS.map((field) => ownValue(item, field))
  if (!values.every((value) => typeof value === 'string')) return undefined
  const [name, address, description, directory] = values as [string, string, string, string]
  const size = ownValue(item, 'size')
  return typeof size === 'number' ? { name, address, description, directory, size } : undefined
}

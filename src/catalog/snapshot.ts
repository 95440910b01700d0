import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nameKey,
  type Skill,
  skillAddress,
  createSha256,
} from '../kernel/index.ts'
import { compareBytes } from './precedence.ts'
import { shownName } from './shown-text.ts'
import { atOnce, type Breathe, inSlices, sorted, type Steps, STRIDE } from './steps.ts'

/** One skill as a session remembers it. */
export interface SnapshotSkill {
  readonly name: string
  readonly address: string
  readonly description: string
  readonly directory: string
  /** Bytes of its SKILL.md at that time. */
  readonly size: number
}

/** The skills that a session was told about. Source: seed 001 §5.2. */
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
  return {
    format: FORMAT,
    version,
    skills: skills.map((skill) => ({ ...toRow(skill) })),
  }
}

function toRow(skill: Skill): SnapshotSkill {
  const { name, description, directory, stamp } = skill
  return { name, address: skillAddress(skill), description, directory, size: stamp.size }
}

/** Reads what `toSnapshot` wrote; undefined for anything else, also for a snapshot whose skills do not match its version. */
export function fromSnapshot(json: unknown): CatalogSnapshot | undefined {
  if (!isJsonObject(json) || own(json, 'format') !== FORMAT) return undefined
  const version = own(json, 'version')
  const list = own(json, 'skills')
  if (typeof version !== 'string' || !Array.isArray(list)) return undefined
  const skills: SnapshotSkill[] = []
  for (const item of list as readonly JsonValue[]) {
    const skill = toSnapshotSkill(item)
    if (!skill) return undefined
    skills.push(skill)
  }
  return atOnce(hashing(skills, (row) => row)) === version ? { version, skills } : undefined
}

/** Names of skills by what became of them between two snapshots, each list in byte order. */
export interface SnapshotDiff {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** The name means another copy, its description differs, or its SKILL.md has another size. */
  readonly changed: readonly string[]
}

/** What changed for a session between two snapshots. All lists are empty exactly when the versions are equal. */
export function diffSnapshots(
  before: Pick<CatalogSnapshot, 'skills'>,
  now: Pick<CatalogSnapshot, 'skills'>,
): SnapshotDiff {
  return atOnce(differing(before.skills, now.skills))
}

/** The same between two catalogs, for thousands of skills in a server, with pauses and without making snapshots. */
export function diffCatalogs(before: Offered, now: Offered, breathe: Breathe): Promise<SnapshotDiff> {
  return inSlices(comparing(before.skills, now.skills), breathe)
}

interface Offered {
  readonly skills: readonly Skill[]
}

/** Nearly all skills are as they were, one beside the other; only those between the first and the last difference are sought by name. */
function* comparing(before: readonly Skill[], now: readonly Skill[]): Steps<SnapshotDiff> {
  const most = Math.min(before.length, now.length)
  const isSameAt = (old: number, current: number): boolean => isSame(before[old] as Skill, now[current] as Skill)
  let from = 0
  while (from < most && isSameAt(from, from)) if (++from % STRIDE === 0) yield
  let end = 0
  while (end < most - from && isSameAt(before.length - 1 - end, now.length - 1 - end)) if (++end % STRIDE === 0) yield
  const between = (skills: readonly Skill[]): SnapshotSkill[] => skills.slice(from, skills.length - end).map(toRow)
  return yield* differing(between(before), between(now))
}

/** Same to the model, and in the same place. One elsewhere may be the same too, which is then found by its name. */
function isSame(before: Skill, now: Skill): boolean {
  // A skill that did not change is often the same object from one look to the next.
  if (before === now) return true
  return (
    before.name === now.name &&
    before.origin.source === now.origin.source &&
    before.stamp.size === now.stamp.size &&
    before.directory === now.directory &&
    before.description === now.description
  )
}

function* differing(before: readonly SnapshotSkill[], now: readonly SnapshotSkill[]): Steps<SnapshotDiff> {
  const old = yield* byName(before)
  const current = yield* byName(now)
  const added: SnapshotSkill[] = []
  const removed: SnapshotSkill[] = []
  const changed: SnapshotSkill[] = []
  for (const [key, skill] of current) {
    yield
    const known = old.get(key)
    if (!known) added.push(skill)
    else if (isChanged(known, skill)) changed.push(skill)
  }
  for (const [key, skill] of old) {
    yield
    if (!current.has(key)) removed.push(skill)
  }
  return { added: yield* names(added), removed: yield* names(removed), changed: yield* names(changed) }
}

function* names(skills: readonly SnapshotSkill[]): Steps<string[]> {
  return yield* sorted(skills.map(shownName), compareBytes)
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

function* byName(skills: readonly SnapshotSkill[]): Steps<ReadonlyMap<string, SnapshotSkill>> {
  const found = new Map<string, SnapshotSkill>()
  for (const [index, skill] of skills.entries()) {
    if (index % STRIDE === 0) yield
    found.set(nameKey(shownName(skill)), skill)
  }
  return found
}

function isChanged(before: SnapshotSkill, now: SnapshotSkill): boolean {
  return before.address !== now.address || before.size !== now.size || before.description !== now.description
}

/**
 * Hex sha256 over addresses, descriptions and sizes, in order: it changes when what the model sees changes. Not over the bytes: they
 * would have to be read and hashed at every look, and loading reads them as they are anyway.
 */
export function* versionOf(skills: readonly Skill[]): Steps<string> {
  return yield* hashing(skills, toRow)
}

function* hashing<T>(items: readonly T[], rowOf: (item: T) => Row): Steps<string> {
  const hash = createSha256().update('nexus-catalog-v2\u0000[')
  for (let from = 0; from < items.length; from += STRIDE) {
    // JSON text is unambiguous: no address can look like the end of another.
    const rows = items.slice(from, from + STRIDE).map((item) => {
      const { address, description, size } = rowOf(item)
      return [address, description, size]
    })
    hash.update(`${from === 0 ? '' : ','}${JSON.stringify(rows).slice(1, -1)}`)
    yield
  }
  return hash.update(']').digest('hex')
}

type Row = Pick<SnapshotSkill, 'address' | 'description' | 'size'>

function toSnapshotSkill(item: JsonValue): SnapshotSkill | undefined {
  if (!isJsonObject(item)) return undefined
  const values = FIELDS.map((field) => own(item, field))
  if (!values.every((value) => typeof value === 'string')) return undefined
  const [name, address, description, directory] = values as [string, string, string, string]
  const size = own(item, 'size')
  return typeof size === 'number' ? { name, address, description, directory, size } : undefined
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

import {
  type Diagnostic,
  type Gated,
  type HeldReason,
  type HeldSkill,
  type RejectedSkill,
  type Skill,
  toSafeLine,
} from '../kernel/index.ts'
import type { Catalog, ShadowedSkill } from './catalog.ts'
import { type Copy, createLookUp, type Groups, isReady, keyOf, PLAIN_NAME, takesPart, toKey } from './look-up.ts'
import { compareBytes, compareCopies, compareOrigins } from './precedence.ts'
import { shownName } from './shown-text.ts'
import { versionOf } from './snapshot.ts'
import { atOnce, type Breathe, inSlices, sorted, type Steps, STRIDE } from './steps.ts'

/** What discovery and gating found. */
export interface CatalogParts {
  readonly gated: Gated
  readonly rejected?: readonly RejectedSkill[]
  readonly diagnostics?: readonly Diagnostic[]
}

const NO_REASONS: readonly HeldReason[] = []
/** The code that sources use too. */
const DUPLICATE = 'duplicate-name'

/** What became of the copies of one name. */
interface Settled {
  readonly winner: Copy
  /** Copies that take no part: untrusted, or not meant for this agent, beside others that are. */
  readonly apart: readonly HeldSkill[]
  readonly shadowed: readonly ShadowedSkill[]
}

/**
 * Decides which copy each name means and lists every other copy with its reason. Highest tier wins, then the earlier source,
 * then, within one source, the last in path order with a warning. Pure; the same input gives the same catalog and version.
 * A held copy still hides lower ones, so that a name always means the same copy; an untrusted one never hides a trusted one.
 */
export function buildCatalog(parts: CatalogParts): Catalog {
  return atOnce(building(parts))
}

/** `buildCatalog` for thousands of skills in a server: the same outcome, with pauses. */
export function buildCatalogInSlices(parts: CatalogParts, breathe: Breathe): Promise<Catalog> {
  return inSlices(building(parts), breathe)
}

function* building({ gated, rejected = [], diagnostics = [] }: CatalogParts): Steps<Catalog> {
  const { skills, held, shadowed, groups, winners } = (yield* inOrder(gated))
    ? asTheyAre(gated)
    : yield* arranged(gated)
  const told = new Set(diagnostics.filter(({ code }) => code === DUPLICATE).map(({ path }) => path))
  const more: Diagnostic[] = []
  for (const copies of groups.values()) more.push(...(yield* duplicatesOf(copies, told)))
  if (rejected.length > 0) more.push(...(yield* substitutes(rejected, winners())))
  // Both are needed by some callers only.
  const lookUp = once(() => createLookUp(skills, groups))
  let version: string | undefined
  return Object.freeze({
    ...{ skills: Object.freeze(skills), held: Object.freeze(held), shadowed: Object.freeze(shadowed) },
    rejected,
    diagnostics: [...diagnostics, ...more],
    get version() {
      return (version ??= atOnce(versionOf(skills)))
    },
    versionInSlices: async (breathe: Breathe) => (version ??= await inSlices(versionOf(skills), breathe)),
    find: (nameOrAddress: string) => lookUp()(toKey(withoutScheme(nameOrAddress))),
  })
}

/** `skill://source/name/SKILL.md` is how the index gives an address; a model may hand it back. */
function withoutScheme(text: string): string {
  return text.startsWith('skill://') ? text.slice('skill://'.length).replace(/\/SKILL\.md$/, '') : text
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Every copy in its place. */
interface Arranged {
  readonly skills: readonly Skill[]
  readonly held: readonly HeldSkill[]
  readonly shadowed: readonly ShadowedSkill[]
  readonly groups: Groups
  /** The copies that their names mean. */
  readonly winners: () => readonly Skill[]
}

function asTheyAre({ ready, held }: Gated): Arranged {
  const winners = (): readonly Skill[] => [...ready, ...held.map(({ skill }) => skill)]
  return { skills: [...ready], held: [...held], shadowed: [], groups: new Map(), winners }
}

function* arranged(gated: Gated): Steps<Arranged> {
  const { single, groups } = yield* groupByName(gated)
  const winners = [...single]
  const apart: HeldSkill[] = []
  const shadowed: ShadowedSkill[] = []
  for (const copies of groups.values()) {
    const settled = yield* settle(copies)
    winners.push(settled.winner)
    for (const copy of settled.apart) apart.push(copy)
    for (const copy of settled.shadowed) shadowed.push(copy)
  }
  const ready = winners.filter(isReady).map(({ skill }) => skill)
  yield
  const held = winners.filter((copy) => !isReady(copy))
  return {
    skills: yield* sorted(ready, byName),
    held: yield* sorted([...held, ...apart], (a, b) => byName(a.skill, b.skill)),
    shadowed: yield* sorted(shadowed, (a, b) => byName(a.skill, b.skill)),
    groups,
    winners: () => winners.map(({ skill }) => skill),
  }
}

interface Grouped {
  /** Copies whose name no other copy has. */
  readonly single: readonly Copy[]
  /** The copies of each other name. */
  readonly groups: Groups
}

function* groupByName({ ready, held }: Gated): Steps<Grouped> {
  const first = new Map<string, Copy>()
  const found = new Map<string, Copy[]>()
  for (let index = 0; index < ready.length + held.length; index++) {
    if (index % STRIDE === 0) yield
    const skill = ready[index]
    const copy = skill ? { skill, reasons: NO_REASONS } : (held[index - ready.length] as HeldSkill)
    const key = keyOf(copy.skill)
    const before = first.get(key)
    const group = found.get(key)
    if (!before) first.set(key, copy)
    else if (group) group.push(copy)
    else found.set(key, [before, copy])
  }
  const groups = new Map<string, readonly Copy[]>()
  for (const [key, group] of found) {
    first.delete(key)
    groups.set(key, yield* sorted(group, (a, b) => compareCopies(a.skill, b.skill)))
    yield
  }
  return { single: [...first.values()], groups }
}

/**
 * True when both lists ascend by name, have no name in common, and every name is its own key: nothing to group and to sort.
 * So it is with one folder whose skills have the names of their directories.
 */
function* inOrder({ ready, held }: Gated): Steps<boolean> {
  const others = held.map(({ skill }) => skill)
  if (!(yield* ascends(ready)) || !(yield* ascends(others))) return false
  let other = 0
  for (const [index, { name }] of ready.entries()) {
    if (index % STRIDE === 0) yield
    while (other < others.length && (others[other] as Skill).name < name) other++
    if (others[other]?.name === name) return false
  }
  return true
}

function* ascends(skills: readonly Skill[]): Steps<boolean> {
  let last = ''
  for (const [index, { name }] of skills.entries()) {
    if (index % STRIDE === 0) yield
    if (!(last < name) || !PLAIN_NAME.test(name)) return false
    last = name
  }
  return true
}

/** `copies` are in order of precedence. */
function* settle(copies: readonly Copy[]): Steps<Settled> {
  const contenders = contendersOf(copies)
  const winner = contenders[0] as Copy
  const shadowed: ShadowedSkill[] = []
  for (const { skill, reasons } of contenders.slice(1)) {
    yield
    const why = hasSameBytes(skill, winner.skill) ? 'identical' : 'lower'
    shadowed.push({ skill, by: winner.skill, why, reasons })
  }
  const isContender = new Set(contenders)
  return { winner, shadowed, apart: copies.filter((copy) => !isContender.has(copy)) }
}

/** Only copies of one name are compared, because a digest costs a reading of the file. An unknown one equals nothing. */
function hasSameBytes(a: Skill, b: Skill): boolean {
  return a.stamp.size === b.stamp.size && a.fileDigest !== '' && a.fileDigest === b.fileDigest
}

function contendersOf(copies: readonly Copy[]): readonly Copy[] {
  const eligible = copies.filter(takesPart)
  if (eligible.length > 0) return eligible
  const trusted = copies.filter(({ skill }) => skill.origin.trusted)
  return trusted.length > 0 ? trusted : copies
}

function byName(a: Skill, b: Skill): number {
  return compareBytes(a.name, b.name) || compareCopies(a, b)
}

/** One warning for each copy that another of the same source hides, unless the source has told of one of the two files. */
function* duplicatesOf(copies: readonly Copy[], told: ReadonlySet<string>): Steps<Diagnostic[]> {
  const firstOf = new Map<string, Skill>()
  const found: Diagnostic[] = []
  for (const { skill } of copies) {
    yield
    const first = firstOf.get(skill.origin.source)
    if (!first) firstOf.set(skill.origin.source, skill)
    else if (!told.has(first.file) && !told.has(skill.file) && !hasSameBytes(first, skill)) {
      found.push(duplicate(skill, first))
    }
  }
  return found
}

function duplicate(hidden: Skill, used: Skill): Diagnostic {
  const name = shownName(hidden)
  return {
    code: DUPLICATE,
    severity: 'warning',
    message: `Source '${hidden.origin.source}' has '${name}' twice: ${toSafeLine(used.file)} is used, ${toSafeLine(hidden.file)} is not.`,
    path: hidden.file,
    fix: 'Give one of them another name, or remove it.',
  }
}

/** A warning for each name whose best copy cannot be read, so that a lower one stands in for it. */
function* substitutes(rejected: readonly RejectedSkill[], winners: readonly Skill[]): Steps<Diagnostic[]> {
  const byKey = new Map<string, Skill>()
  for (const [index, skill] of winners.entries()) {
    if (index % STRIDE === 0) yield
    byKey.set(keyOf(skill), skill)
  }
  const found: Diagnostic[] = []
  for (const [index, { name, file, origin }] of rejected.entries()) {
    if (index % STRIDE === 0) yield
    const used = byKey.get(toKey(name))
    if (!used || !origin.trusted || compareOrigins(origin, used.origin) >= 0) continue
    const message = `'${shownName(used)}' of source '${origin.source}' cannot be read; ${toSafeLine(used.file)} is used instead.`
    const fix = `Run: nexus skills validate ${toSafeLine(file)}`
    found.push({ code: 'lower-copy-used', severity: 'warning', message, path: file, fix })
  }
  return found
}

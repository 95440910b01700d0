import {
  type Diagnostic,
  type Gated,
  type HeldReason,
  type HeldSkill,
  nameKey,
  type RejectedSkill,
  type Skill,
  toSafeLine,
} from '../kernel/index.ts'
import type { Catalog, ShadowedSkill } from './catalog.ts'
import { compareBytes, compareCopies, compareOrigins } from './precedence.ts'
import { shownName, shownText } from './shown-text.ts'
import { catalogVersion } from './snapshot.ts'

/** What discovery and gating found. */
export interface CatalogParts {
  readonly gated: Gated
  readonly rejected?: readonly RejectedSkill[]
  readonly diagnostics?: readonly Diagnostic[]
}

const NO_REASONS: readonly HeldReason[] = []
/** The code that sources use too. */
const DUPLICATE = 'duplicate-name'
const PLAIN_NAME = /^[\w.-]+$/

interface Copy {
  readonly skill: Skill
  readonly reasons: readonly HeldReason[]
}

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
export function buildCatalog({ gated, rejected = [], diagnostics = [] }: CatalogParts): Catalog {
  const isOrdered = inOrder(gated)
  const { single, groups } = isOrdered ? ungrouped(gated) : groupByName(gated)
  const settled = groups.map(settle)
  const winners = [...single, ...settled.map(({ winner }) => winner)]
  const ready = winners.filter(isReady).map(({ skill }) => skill)
  const skills = Object.freeze(isOrdered ? ready : ready.sort(byName))
  const held = [...winners.filter((copy) => !isReady(copy)), ...settled.flatMap(({ apart }) => apart)]
  const shadowed = settled.flatMap((group) => group.shadowed)
  const told = new Set(diagnostics.filter(({ code }) => code === DUPLICATE).map(({ path }) => path))
  // Both are needed by some callers only, and cost more than all the rest when there are thousands of skills.
  const version = once(() => catalogVersion(skills))
  const lookUp = once(() => createLookUp(skills, [...single.map((copy) => [copy]), ...groups]))
  return Object.freeze({
    skills,
    held: Object.freeze(held.sort((a, b) => byName(a.skill, b.skill))),
    shadowed: Object.freeze(shadowed.sort((a, b) => byName(a.skill, b.skill))),
    rejected,
    diagnostics: [
      ...diagnostics,
      ...groups.flatMap((copies) => duplicatesOf(copies, told)),
      ...substitutes(rejected, winners),
    ],
    get version() {
      return version()
    },
    find: (nameOrAddress: string) => lookUp().get(toKey(withoutScheme(nameOrAddress))),
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

interface Grouped {
  /** Copies whose name no other copy has. */
  readonly single: readonly Copy[]
  /** The copies of each other name, in order of precedence. */
  readonly groups: readonly (readonly Copy[])[]
}

function ungrouped({ ready, held }: Gated): Grouped {
  return { single: [...ready.map((skill) => ({ skill, reasons: NO_REASONS })), ...held], groups: [] }
}

function groupByName({ ready, held }: Gated): Grouped {
  const first = new Map<string, Copy>()
  const groups = new Map<string, Copy[]>()
  const add = (copy: Copy): void => {
    const key = keyOf(copy.skill)
    const before = first.get(key)
    const group = groups.get(key)
    if (!before) first.set(key, copy)
    else if (group) group.push(copy)
    else groups.set(key, [before, copy])
  }
  for (const skill of ready) add({ skill, reasons: NO_REASONS })
  for (const copy of held) add(copy)
  for (const [key, group] of groups) {
    first.delete(key)
    group.sort((a, b) => compareCopies(a.skill, b.skill))
  }
  return { single: [...first.values()], groups: [...groups.values()] }
}

/**
 * True when both lists ascend by name, have no name in common, and every name is its own key: nothing to group and to sort.
 * So it is with one folder whose skills have the names of their directories.
 */
function inOrder({ ready, held }: Gated): boolean {
  if (!ascends(ready) || !ascends(held.map(({ skill }) => skill))) return false
  let other = 0
  for (const { name } of ready) {
    while (other < held.length && (held[other] as HeldSkill).skill.name < name) other++
    if (held[other]?.skill.name === name) return false
  }
  return true
}

function ascends(skills: readonly Skill[]): boolean {
  let last = ''
  for (const { name } of skills) {
    if (!(last < name) || !PLAIN_NAME.test(name)) return false
    last = name
  }
  return true
}

/** Names that a reader cannot tell apart are one name; most names need no folding. */
function keyOf(skill: Skill): string {
  return PLAIN_NAME.test(skill.name) ? skill.name : toKey(shownName(skill))
}

function toKey(nameOrAddress: string): string {
  return nameKey(shownText(nameOrAddress))
}

/** `copies` are in order of precedence. */
function settle(copies: readonly Copy[]): Settled {
  const contenders = contendersOf(copies)
  const winner = contenders[0] as Copy
  const shadowed = contenders.slice(1).map(({ skill, reasons }): ShadowedSkill => {
    const why = hasSameBytes(skill, winner.skill) ? 'identical' : 'lower'
    return { skill, by: winner.skill, why, reasons }
  })
  return { winner, shadowed, apart: copies.filter((copy) => !contenders.includes(copy)) }
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

/** A copy that is untrusted, or that this agent may not see, must not take a name away from one that is and may. */
function takesPart({ skill, reasons }: Copy): boolean {
  return skill.origin.trusted && !reasons.some(({ code }) => code === 'not-allowed')
}

function isReady({ reasons }: Copy): boolean {
  return reasons.length === 0
}

function byName(a: Skill, b: Skill): number {
  return compareBytes(a.name, b.name) || compareCopies(a, b)
}

/** Names of offered skills, and addresses of every ready copy; an address means the copy that wins within its source. */
function createLookUp(skills: readonly Skill[], groups: Iterable<readonly Copy[]>): ReadonlyMap<string, Skill> {
  const found = new Map(skills.map((skill) => [keyOf(skill), skill]))
  for (const copies of groups) {
    const sources = new Set<string>()
    for (const copy of copies) {
      const { source } = copy.skill.origin
      if (!takesPart(copy) || sources.has(source)) continue
      sources.add(source)
      // An address wins over a skill whose label merely looks like that address.
      if (isReady(copy)) found.set(toKey(`${source}/${shownName(copy.skill)}`), copy.skill)
    }
  }
  return found
}

/** One warning for each copy that another of the same source hides, unless the source has told of one of the two files. */
function duplicatesOf(copies: readonly Copy[], told: ReadonlySet<string>): Diagnostic[] {
  const firstOf = new Map<string, Skill>()
  const found: Diagnostic[] = []
  for (const { skill } of copies) {
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
function substitutes(rejected: readonly RejectedSkill[], winners: readonly Copy[]): Diagnostic[] {
  if (rejected.length === 0) return []
  const byKey = new Map(winners.map(({ skill }) => [keyOf(skill), skill]))
  return rejected.flatMap(({ name, file, origin }): Diagnostic[] => {
    const used = byKey.get(toKey(name))
    if (!used || !origin.trusted || compareOrigins(origin, used.origin) >= 0) return []
    const message = `'${shownName(used)}' of source '${origin.source}' cannot be read; ${toSafeLine(used.file)} is used instead.`
    return [
      {
        code: 'lower-copy-used',
        severity: 'warning',
        message,
        path: file,
        fix: `Run: nexus skills validate ${toSafeLine(file)}`,
      },
    ]
  })
}

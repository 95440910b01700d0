import type { Gated, HeldReason, HeldSkill, Skill } from '../kernel/index.ts'
import type { ShadowedSkill } from './catalog.ts'
import { type Copy, type Groups, isReady, keyOf, PLAIN_NAME, takesPart } from './look-up.ts'
import { compareBytes, compareCopies } from './precedence.ts'
import { sorted, type Steps, STRIDE } from './steps.ts'

/** Every copy in its place. */
export interface Arranged {
  readonly skills: readonly Skill[]
  readonly held: readonly HeldSkill[]
  readonly shadowed: readonly ShadowedSkill[]
  readonly groups: Groups
  /** The copies that their names mean. */
  readonly winners: () => readonly Skill[]
}

const NO_REASONS: readonly HeldReason[] = []

/** Finds the copy that each name means, and a place for every other. */
export function* arrange(gated: Gated): Steps<Arranged> {
  return (yield* arrangeDifferent(gated)) ?? (yield* arrangeCopies(gated))
}

/** For names that are their own keys, and different: nothing to group. Nearly always so; undefined when it is not. */
function* arrangeDifferent({ ready, held }: Gated): Steps<Arranged | undefined> {
  const isPlain = (yield* everyName(ready, nameOf, isPlainName)) && (yield* everyName(held, nameOfHeld, isPlainName))
  if (!isPlain) return undefined
  const skills = yield* sorted(ready, (a, b) => compareNames(a.name, b.name))
  const others = yield* sorted(held, (a, b) => compareNames(a.skill.name, b.skill.name))
  const isSingle =
    (yield* everyName(skills, nameOf, isAfter)) &&
    (yield* everyName(others, nameOfHeld, isAfter)) &&
    (yield* haveNoneInCommon(skills, others))
  if (!isSingle) return undefined
  const winners = (): readonly Skill[] => [...skills, ...others.map(({ skill }) => skill)]
  return { skills, held: others, shadowed: [], groups: new Map(), winners }
}

function nameOf({ name }: Skill): string {
  return name
}

function nameOfHeld({ skill }: HeldSkill): string {
  return skill.name
}

function isPlainName(name: string): boolean {
  return PLAIN_NAME.test(name)
}

function isAfter(name: string, before: string): boolean {
  return before < name
}

/** True when that is so of every name and the one before it; before the first is the empty one. */
function* everyName<T>(
  items: readonly T[],
  toName: (item: T) => string,
  isSo: (name: string, before: string) => boolean,
): Steps<boolean> {
  let before = ''
  for (let index = 0; index < items.length; index++) {
    if (index % STRIDE === 0) yield
    const name = toName(items[index] as T)
    if (!isSo(name, before)) return false
    before = name
  }
  return true
}

/** Of two lists in order of their names. */
function* haveNoneInCommon(skills: readonly Skill[], others: readonly HeldSkill[]): Steps<boolean> {
  let next = 0
  for (let index = 0; index < others.length; index++) {
    if (index % STRIDE === 0) yield
    const { name } = (others[index] as HeldSkill).skill
    while (next < skills.length && (skills[next] as Skill).name < name) next++
    if (skills[next]?.name === name) return false
  }
  return true
}

/** The order of plain names, which are ASCII. */
function compareNames(a: string, b: string): number {
  return a < b ? -1 : a === b ? 0 : 1
}

function* arrangeCopies(gated: Gated): Steps<Arranged> {
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

/** What became of the copies of one name. */
interface Settled {
  readonly winner: Copy
  /** Copies that take no part: untrusted, or not meant for this agent, beside others that are. */
  readonly apart: readonly HeldSkill[]
  readonly shadowed: readonly ShadowedSkill[]
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
export function hasSameBytes(a: Skill, b: Skill): boolean {
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

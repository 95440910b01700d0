import type { Gated, HeldReason, HeldSkill, Skill } from '../kernel/index.ts'
import type { ShadowedSkill } from './catalog.ts'
import { type Copy, type Groups, isReady, keyOf, PLAIN_NAME, takesPart } from './look-up.ts'
import { compareBytes, compareCopies } from './precedence.ts'
import { everyStretch, sorted, type Steps, STRIDE } from './steps.ts'

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
  if (!(yield* arePlain(ready, (skill) => skill)) || !(yield* arePlain(held, skillOf))) return undefined
  let isTwice = false
  const compare = (a: Skill, b: Skill): number => {
    // Plain names are ASCII, for which JavaScript's order is that of bytes.
    if (a.name < b.name) return -1
    // Nothing can be sorted without comparing what is equal: so all names are different when none was.
    if (a.name === b.name) isTwice = true
    return a.name === b.name ? 0 : 1
  }
  const skills = yield* sorted(ready, compare)
  const others = yield* sorted(held, (a, b) => compare(a.skill, b.skill))
  if (isTwice || !(yield* haveNoneInCommon(skills, others))) return undefined
  const winners = (): readonly Skill[] => [...skills, ...others.map(skillOf)]
  return { skills, held: others, shadowed: [], groups: new Map(), winners }
}

function skillOf({ skill }: HeldSkill): Skill {
  return skill
}

function arePlain<T>(items: readonly T[], toSkill: (item: T) => Skill): Steps<boolean> {
  return everyStretch(items.length, ({ from, end }) => {
    for (let index = from; index < end; index++) {
      if (!PLAIN_NAME.test(toSkill(items[index] as T).name)) return false
    }
    return true
  })
}

/** Of two lists in order of their names. */
function haveNoneInCommon(skills: readonly Skill[], others: readonly HeldSkill[]): Steps<boolean> {
  let next = 0
  return everyStretch(others.length, ({ from, end }) => {
    for (let index = from; index < end; index++) {
      const { name } = (others[index] as HeldSkill).skill
      while (next < skills.length && (skills[next] as Skill).name < name) next++
      if (skills[next]?.name === name) return false
    }
    return true
  })
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

import { compareUtf8, type Gated, type HeldSkill, type Skill } from '../../kernel/index.ts'
import type { ShadowedSkill } from './catalog.ts'
import { canYield, type CopiesByName, type Copy, isReady, keyOf, takesPart, compareCopies } from './copy.ts'

/** Every copy in one of the lists, which are in order of names. */
export interface Arranged {
  readonly skills: readonly Skill[]
  readonly held: readonly HeldSkill[]
  readonly shadowed: readonly ShadowedSkill[]
  readonly copies: CopiesByName
  /** The copy that each name means, by the key of the name. */
  readonly winners: ReadonlyMap<string, Copy>
  /** Held copies above the winner of their name, which cannot run here. */
  readonly skipped: readonly SkippedCopy[]
}

/** A held copy, and the lower one that is used in its place. */
export interface SkippedCopy {
  readonly copy: Copy
  readonly used: Skill
}

export type IsSame = (a: Skill, b: Skill) => boolean

/** Finds the copy that each name means, and puts every other copy in one of the lists. */
export function arrange({ ready, held }: Gated, isSame: IsSame): Arranged {
  const all: readonly Copy[] = [...ready.map((skill) => ({ skill, reasons: [] })), ...held]
  const copies = new Map<string, readonly Copy[]>()
  const winners = new Map<string, Copy>()
  const apart: Copy[] = []
  const shadowed: ShadowedSkill[] = []
  const skipped: SkippedCopy[] = []
  for (const [key, found] of Map.groupBy(all, ({ skill }) => keyOf(skill))) {
    const ofName = found.sort((a, b) => compareCopies(a.skill, b.skill))
    const contenders = contendersOf(ofName)
    const winner = winnerOf(contenders)
    copies.set(key, ofName)
    winners.set(key, winner)
    const rank = contenders.indexOf(winner)
    for (const copy of contenders.slice(0, rank)) skipped.push({ copy, used: winner.skill })
    for (const { skill, reasons } of contenders.slice(rank + 1))
      shadowed.push({ skill, by: winner.skill, why: isSame(skill, winner.skill) ? 'duplicate' : 'lower', reasons })
    // Untrusted, or not meant for this agent, beside others that are.
    for (const copy of ofName) if (!contenders.includes(copy)) apart.push(copy)
  }
  const won = [...winners.values()]
  const skills = won.filter(isReady).map(({ skill }) => skill)
  return {
    skills: skills.sort(byName),
    held: [...won.filter((copy) => !isReady(copy)), ...skipped.map(({ copy }) => copy), ...apart].sort((a, b) =>
      byName(a.skill, b.skill),
    ),
    shadowed: shadowed.sort((a, b) => byName(a.skill, b.skill)),
    copies,
    winners,
    skipped,
  }
}

function contendersOf(copies: readonly Copy[]): readonly Copy[] {
  const eligible = copies.filter(takesPart)
  if (eligible.length > 0) return eligible
  const trusted = copies.filter(({ skill }) => skill.origin.trusted)
  return trusted.length > 0 ? trusted : copies
}

/**
 * The first copy, unless it and all before the first ready one only lack something here: then the ready one. What is disabled
 * goes by name, so it hides all below it. Source: decisions, "a copy that cannot run".
 */
export function winnerOf(contenders: readonly Copy[]): Copy {
  const decisive = contenders.find((copy) => !canYield(copy))
  return decisive && isReady(decisive) ? decisive : (contenders[0] as Copy)
}

function byName(a: Skill, b: Skill): number {
  return compareUtf8(a.name, b.name) || compareCopies(a, b)
}

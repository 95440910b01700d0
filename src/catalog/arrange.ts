import { compareUtf8, type Gated, type HeldSkill, type Skill } from '../kernel/index.ts'
import type { ShadowedSkill } from './catalog.ts'
import { type CopiesByName, type Copy, isReady, keyOf, takesPart } from './copy.ts'
import { compareCopies } from './precedence.ts'

/** Every copy in its place. The lists are in order of names. */
export interface Arranged {
  readonly skills: readonly Skill[]
  readonly held: readonly HeldSkill[]
  readonly shadowed: readonly ShadowedSkill[]
  readonly copies: CopiesByName
  /** The copy that each name means, by the key of the name. */
  readonly winners: ReadonlyMap<string, Copy>
}

/** Says whether two copies have the same SKILL.md. */
export type IsSame = (a: Skill, b: Skill) => boolean

/** Finds the copy that each name means, and a place for every other. */
export function arrange({ ready, held }: Gated, isSame: IsSame): Arranged {
  const all: readonly Copy[] = [...ready.map((skill) => ({ skill, reasons: [] })), ...held]
  const copies = new Map<string, readonly Copy[]>()
  const winners = new Map<string, Copy>()
  const apart: Copy[] = []
  const shadowed: ShadowedSkill[] = []
  for (const [key, found] of Map.groupBy(all, ({ skill }) => keyOf(skill))) {
    const ofName = found.sort((a, b) => compareCopies(a.skill, b.skill))
    const contenders = contendersOf(ofName)
    const [winner, ...others] = contenders as [Copy, ...Copy[]]
    copies.set(key, ofName)
    winners.set(key, winner)
    for (const { skill, reasons } of others)
      shadowed.push({ skill, by: winner.skill, why: isSame(skill, winner.skill) ? 'identical' : 'lower', reasons })
    // Untrusted, or not meant for this agent, beside others that are.
    for (const copy of ofName) if (!contenders.includes(copy)) apart.push(copy)
  }
  const won = [...winners.values()]
  const skills = won.filter(isReady).map(({ skill }) => skill)
  return {
    skills: skills.sort(byName),
    held: [...won.filter((copy) => !isReady(copy)), ...apart].sort((a, b) => byName(a.skill, b.skill)),
    shadowed: shadowed.sort((a, b) => byName(a.skill, b.skill)),
    copies,
    winners,
  }
}

function contendersOf(copies: readonly Copy[]): readonly Copy[] {
  const eligible = copies.filter(takesPart)
  if (eligible.length > 0) return eligible
  const trusted = copies.filter(({ skill }) => skill.origin.trusted)
  return trusted.length > 0 ? trusted : copies
}

function byName(a: Skill, b: Skill): number {
  return compareUtf8(a.name, b.name) || compareCopies(a, b)
}

import type { Gated, HeldReason, HeldSkill, RejectedSkill, Skill, TargetFacts } from '../kernel/index.ts'
import { type Lack, lacksOf } from './needs.ts'
import { type Ground, prepare } from './prepare.ts'
import { reasonFor } from './reasons.ts'
import type { GateRules } from './rules.ts'

/** Besides the rules: those found that could not be read. What is configured for a trusted one stays its own. Absent = none. */
export interface Unreadable {
  readonly rejected?: readonly RejectedSkill[]
}

/**
 * Sorts skills into those that can run on the target and those that are held back, each with every reason.
 * Order of the gates: disabled, allow-list, OS, `always`, bins, anyBins, env, config, tool groups.
 * Each skill lands in exactly one list, in the order given. Source: decisions, "gate order" and "gate where".
 */
export function gate(skills: readonly Skill[], facts: TargetFacts, rules: GateRules & Unreadable): Gated {
  const { rejected = [] } = rules
  const ground = prepare(facts, rules, { skills, rejected })
  const gated: Sorted = { ready: [], held: [] }
  sortSome(skills, { from: 0, end: skills.length }, { ground, gated })
  return gated
}

/** What gating in slices needs besides. */
export interface SliceOptions extends Unreadable {
  readonly rules: GateRules
  /** Asked after every few skills; what it returns is awaited, so that a server stays alive. It may reject. */
  readonly breathe: () => Promise<void> | undefined
}

/** One skill takes microseconds. */
const BETWEEN_BREATHS = 16

/** `gate` for thousands of skills in a server: the same outcome, with pauses. */
export async function gateInSlices(
  skills: readonly Skill[],
  facts: TargetFacts,
  { rules, rejected = [], breathe }: SliceOptions,
): Promise<Gated> {
  const ground = prepare(facts, rules, { skills, rejected })
  const gated: Sorted = { ready: [], held: [] }
  for (let from = 0; from < skills.length; from += BETWEEN_BREATHS) {
    const pause = breathe()
    if (pause) await pause
    sortSome(skills, { from, end: Math.min(from + BETWEEN_BREATHS, skills.length) }, { ground, gated })
  }
  return gated
}

interface Sorted {
  readonly ready: Skill[]
  readonly held: HeldSkill[]
}

/** Apart from the loop that waits, which V8 is slow to compile. */
function sortSome(
  skills: readonly Skill[],
  { from, end }: { readonly from: number; readonly end: number },
  { ground, gated }: { readonly ground: Ground; readonly gated: Sorted },
): void {
  for (let index = from; index < end; index++) sortIn(skills[index] as Skill, ground, gated)
}

function sortIn(skill: Skill, ground: Ground, { ready, held }: Sorted): void {
  const lacks = lacksOf(skill, ground)
  if (lacks) held.push(new LazilyHeld(skill, ground, lacks))
  else ready.push(skill)
}

/** Of thousands that are held the reasons of few are ever asked for, so they are worded when they are. */
class LazilyHeld implements HeldSkill {
  readonly skill: Skill
  // One private field: until they are optimized, code takes long to find them.
  #reasons: readonly HeldReason[] | (() => readonly HeldReason[])

  constructor(skill: Skill, ground: Ground, lacks: readonly Lack[]) {
    this.skill = skill
    this.#reasons = () => lacks.map((lack) => reasonFor(lack, skill, ground))
  }

  get reasons(): readonly HeldReason[] {
    if (typeof this.#reasons === 'function') this.#reasons = this.#reasons()
    return this.#reasons
  }

  toJSON(): HeldSkill {
    return { skill: this.skill, reasons: this.reasons }
  }
}

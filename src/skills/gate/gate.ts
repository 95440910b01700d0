import type { Gated, HeldSkill, InvalidSkill, Skill, TargetFacts } from '../../kernel/index.ts'
import { unmetRequirements } from './needs.ts'
import { prepare, type GateRules } from './prepare.ts'
import { reasonFor } from './reasons.ts'

/**
 * Sorts skills into those that can run on the target and those that are held, each with every reason. Each skill is in exactly one
 * list, in the order given. `invalid` are skills that could not be read: no other skill gets what is configured for a trusted one.
 */
export function gate(
  skills: readonly Skill[],
  facts: TargetFacts,
  rules: GateRules & { readonly invalid?: readonly InvalidSkill[] },
): Gated {
  const context = prepare(facts, rules, { skills, invalid: rules.invalid ?? [] })
  const ready: Skill[] = []
  const held: HeldSkill[] = []
  for (const skill of skills) {
    const reasons = [...unmetRequirements(skill, context)].map((unmet) => reasonFor(unmet, skill, context))
    if (reasons.length === 0) ready.push(skill)
    else held.push({ skill, reasons })
  }
  return { ready, held }
}

import {
  type HeldCode,
  type HeldReason,
  nameKey,
  type Skill,
  compareUtf8,
  type SkillOrigin,
  TIERS,
} from '../../kernel/index.ts'
import { shownName, shownText } from './shown-text.ts'

/** One found file of a name, and why it cannot run; no reason when it can. */
export interface Copy {
  readonly skill: Skill
  readonly reasons: readonly HeldReason[]
}

/** The copies of each name by its key, in order of precedence. */
export type CopiesByName = ReadonlyMap<string, readonly Copy[]>

/** A name that is its own key: nothing to fold, nothing to hide. */
export const PLAIN_NAME = /^[\w.-]+$/

/** Names that look the same are one name. */
export function keyOf(skill: Skill): string {
  return PLAIN_NAME.test(skill.name) ? skill.name : toKey(shownName(skill))
}

export function toKey(nameOrAddress: string): string {
  return nameKey(shownText(nameOrAddress))
}

export function addressKeyOf(skill: Skill): string {
  return toKey(`${skill.origin.source}/${keyOf(skill)}`)
}

export function isReady({ reasons }: Copy): boolean {
  return reasons.length === 0
}

/** A copy that is untrusted, or that this agent may not see, must not take a name away from one that is and may. */
export function takesPart({ skill, reasons }: Copy): boolean {
  return skill.origin.trusted && !reasons.some(({ code }) => code === 'not-allowed')
}

/** A copy that only lacks something here leaves its name to a ready one; one that is disabled, or kept from this agent, does not. */
export function canYield({ skill, reasons }: Copy): boolean {
  return skill.origin.trusted && reasons.length > 0 && !reasons.some(({ code }) => BY_NAME.has(code))
}

/** Reasons that a person gave for a name, whichever copy has it. */
const BY_NAME: ReadonlySet<HeldCode> = new Set(['disabled', 'not-allowed'])

/** Negative when a source ranks above another: by tier, then by rank, then by name so that the order is total. */
export function compareOrigins(a: SkillOrigin, b: SkillOrigin): number {
  return TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier) || a.rank - b.rank || compareUtf8(a.source, b.source)
}

/**
 * Negative when copy `a` wins over copy `b`: higher tier, then earlier source, then, within one source,
 * the later directory in path order. Source: decisions, "duplicate names"; seed 003 for the last rule.
 */
export function compareCopies(a: Skill, b: Skill): number {
  return compareOrigins(a.origin, b.origin) || compareUtf8(inPathOrder(b), inPathOrder(a))
}

/** A separator sorts before every character of a name, so that `a/z` comes before `a-b`. */
function inPathOrder(skill: Skill): string {
  return skill.directory.replace(/[/\\]/g, '\u0000')
}

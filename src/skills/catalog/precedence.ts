import { compareUtf8, type Skill, type SkillOrigin, TIERS } from '../../kernel/index.ts'

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

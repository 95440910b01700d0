import { type Skill, type SkillOrigin, TIERS } from '../kernel/index.ts'

/** Sorts as UTF-8 bytes do, which JavaScript's own order of UTF-16 units does not. */
export function compareBytes(a: string, b: string): number {
  for (let index = 0; index < a.length && index < b.length; index++) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left !== right) return byteRank(left) - byteRank(right)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above every other unit. */
function byteRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** Negative when a source stands above another: by tier, then by rank, then by name so that the order is total. */
export function compareOrigins(a: SkillOrigin, b: SkillOrigin): number {
  return TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier) || a.rank - b.rank || compareBytes(a.source, b.source)
}

/**
 * Negative when copy `a` wins over copy `b`: higher tier, then earlier source, then, within one source,
 * the later directory in path order. Source: decisions, "duplicate names"; seed 003 for the last rule.
 */
export function compareCopies(a: Skill, b: Skill): number {
  return compareOrigins(a.origin, b.origin) || compareBytes(inPathOrder(b), inPathOrder(a))
}

/** A separator sorts before every character of a name, so that `a/z` stands before `a-b`. */
function inPathOrder(skill: Skill): string {
  return skill.directory.replace(/[/\\]/g, '\u0000')
}

import { type HeldReason, nameKey, type Skill } from '../kernel/index.ts'
import { compareBytes } from './precedence.ts'
import { shownName, shownText } from './shown-text.ts'

/** One found file of a name, and why it cannot run; nothing when it can. */
export interface Copy {
  readonly skill: Skill
  readonly reasons: readonly HeldReason[]
}

/** A name that is its own key: nothing to fold, nothing to hide. */
export const PLAIN_NAME = /^[\w.-]+$/
const PLAIN_SOURCE = /^[\w.:-]+$/

/** Names that a reader cannot tell apart are one name; most names need no folding. */
export function keyOf(skill: Skill): string {
  return PLAIN_NAME.test(skill.name) ? skill.name : toKey(shownName(skill))
}

export function toKey(nameOrAddress: string): string {
  return nameKey(shownText(nameOrAddress))
}

export function isReady({ reasons }: Copy): boolean {
  return reasons.length === 0
}

/** A copy that is untrusted, or that this agent may not see, must not take a name away from one that is and may. */
export function takesPart({ skill, reasons }: Copy): boolean {
  return skill.origin.trusted && !reasons.some(({ code }) => code === 'not-allowed')
}

/**
 * Finds offered skills (sorted by name) by name, and every ready copy by its address: it means the copy that wins within its source.
 * `groups` are the copies of each name that has several, in order of precedence. Nearly all names are plain, and need no table.
 */
export function createLookUp(
  skills: readonly Skill[],
  groups: readonly (readonly Copy[])[],
): (key: string) => Skill | undefined {
  const names = new Map<string, Skill>()
  const addresses = new Map<string, Skill>()
  for (const skill of skills) {
    if (PLAIN_NAME.test(skill.name)) continue
    names.set(keyOf(skill), skill)
    if (skill.origin.trusted) addresses.set(addressKeyOf(skill), skill)
  }
  for (const copies of groups) {
    const sources = new Set<string>()
    for (const copy of copies) {
      const { source } = copy.skill.origin
      if (!takesPart(copy) || sources.has(source)) continue
      sources.add(source)
      if (isReady(copy)) addresses.set(addressKeyOf(copy.skill), copy.skill)
    }
  }
  const byPlainAddress = (key: string): Skill | undefined => {
    const slash = key.lastIndexOf('/')
    const skill = slash < 0 ? undefined : byPlainName(skills, key.slice(slash + 1))
    return skill?.origin.trusted && addressKeyOf(skill) === key ? skill : undefined
  }
  // An address wins over a skill whose label merely looks like that address.
  return (key) => addresses.get(key) ?? byPlainAddress(key) ?? names.get(key) ?? byPlainName(skills, key)
}

function addressKeyOf(skill: Skill): string {
  const { name, origin } = skill
  if (PLAIN_NAME.test(name) && PLAIN_SOURCE.test(origin.source)) return `${origin.source}/${name}`
  return toKey(`${origin.source}/${shownName(skill)}`)
}

function byPlainName(skills: readonly Skill[], name: string): Skill | undefined {
  if (!PLAIN_NAME.test(name)) return undefined
  let from = 0
  let to = skills.length
  while (from < to) {
    const middle = (from + to) >> 1
    if (compareBytes((skills[middle] as Skill).name, name) < 0) from = middle + 1
    else to = middle
  }
  const found = skills[from]
  return found?.name === name ? found : undefined
}

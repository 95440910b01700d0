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

/** The copies of each name that has several, by its key, in order of precedence. */
export type Groups = ReadonlyMap<string, readonly Copy[]>

/** What is looked up in. */
export interface LookUpParts {
  /** Offered, sorted by name. */
  readonly skills: readonly Skill[]
  readonly held: readonly Copy[]
  readonly groups: Groups
  /** Copies with addresses of their own, by the keys of these. */
  readonly twins: ReadonlyMap<string, Copy>
}

/** Both take keys, see `toKey`. */
export interface LookUp {
  readonly find: (key: string) => Skill | undefined
  /** True for the name or address of a copy that is held: it still is that copy's. */
  readonly isHeld: (key: string) => boolean
}

/**
 * Finds offered skills by name, and every ready copy by its address: `source/name` means the copy that wins within its source.
 * Nearly all names are plain, and need no table of their own.
 */
export function createLookUp({ skills, held, groups, twins }: LookUpParts): LookUp {
  const names = new Map<string, Skill>()
  const addresses = new Map<string, Skill>()
  for (const skill of skills) {
    if (PLAIN_NAME.test(skill.name)) continue
    names.set(keyOf(skill), skill)
    if (skill.origin.trusted) addresses.set(addressKeyOf(skill), skill)
  }
  for (const [key, copy] of twins) if (takesPart(copy) && isReady(copy)) addresses.set(key, copy.skill)
  for (const [name, copies] of groups) {
    if (PLAIN_NAME.test(name)) continue
    for (const key of new Set(copies.map(({ skill }) => addressKeyOf(skill)))) {
      const found = atAddress(copies, key)
      if (found) addresses.set(key, found)
    }
  }
  const byPlainAddress = (key: string): Skill | undefined => {
    const slash = key.lastIndexOf('/')
    if (slash < 0) return undefined
    const name = key.slice(slash + 1)
    const copies = PLAIN_NAME.test(name) ? groups.get(name) : undefined
    if (copies) return atAddress(copies, key)
    const skill = byPlainName(skills, name)
    return skill?.origin.trusted && addressKeyOf(skill) === key ? skill : undefined
  }
  const isHeldAt = (key: string): boolean => {
    const isThere = (copy: Copy): boolean => addressKeyOf(copy.skill) === key && takesPart(copy)
    const twin = twins.get(key)
    return (twin !== undefined && takesPart(twin)) || held.some(isThere) || [...groups.values()].flat().some(isThere)
  }
  // An address wins over a skill whose label merely looks like that address.
  const find = (key: string): Skill | undefined => {
    const addressed = addresses.get(key) ?? byPlainAddress(key)
    if (addressed) return addressed
    const named = names.get(key)
    return named && key.includes('/') && isHeldAt(key) ? undefined : (named ?? byPlainName(skills, key))
  }
  const isHeld = (key: string): boolean =>
    held.some((copy) => keyOf(copy.skill) === key && takesPart(copy)) || (key.includes('/') && isHeldAt(key))
  return { find, isHeld }
}

/** The copy that wins within its source, when it is ready. `copies` are in order of precedence. */
function atAddress(copies: readonly Copy[], key: string): Skill | undefined {
  const best = copies.find((copy) => takesPart(copy) && addressKeyOf(copy.skill) === key)
  return best && isReady(best) ? best.skill : undefined
}

/** The key of `source/name`. */
export function addressKeyOf(skill: Skill): string {
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

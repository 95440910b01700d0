import { basename, dirname } from 'node:path'

import {
  configKey,
  nameKey,
  type RejectedSkill,
  type Skill,
  skillAddress,
  type TargetFacts,
  toOsName,
} from '../kernel/index.ts'
import type { EntryRules, GateRules } from './rules.ts'

/** Facts and rules made ready for many skills: look-ups by key, and each binary asked for once. The look-ups are total. */
export interface Ground {
  readonly facts: TargetFacts
  readonly os: string
  readonly hasBin: (name: string) => boolean
  readonly rules: GateRules
  /** What configuration switches off: the name's or entry's key for comparing, and the way to undo it. */
  readonly disabled: ReadonlyMap<string, string>
  readonly allowed: ReadonlySet<string> | undefined
  /** Whether something is configured that cannot be had. */
  readonly hasBroken: boolean
  /** Whether a trusted skill has that name: what is configured for it goes to no other. */
  readonly isNameOfSkill: (name: string) => boolean
  /** Whether that is the address of a trusted skill: then it means no other one, whatever that is named. */
  readonly isAddress: (text: string) => boolean
}

/** Everything that was found. */
export interface Found {
  readonly skills: readonly Skill[]
  readonly rejected: readonly RejectedSkill[]
}

export function prepare(facts: TargetFacts, rules: GateRules, found: Found): Ground {
  const known = new Map<string, boolean>()
  const hasBin = (name: string): boolean => {
    const before = known.get(name)
    if (before !== undefined) return before
    const isThere = isBinName(name) && facts.hasBin(name)
    known.set(name, isThere)
    return isThere
  }
  return {
    facts,
    os: toOsName(facts.os),
    hasBin,
    rules,
    disabled: switchedOff(rules),
    allowed: rules.allowList && new Set(rules.allowList.map(nameKey)),
    hasBroken: [...rules.entries.values()].some(({ broken }) => broken !== undefined && broken.size > 0),
    isNameOfSkill: trustedNames(found),
    isAddress: trustedAddresses(found),
  }
}

/** Asked only about a `skillKey`, which few skills have: the names are gathered for the first. */
function trustedNames(found: Found): (name: string) => boolean {
  let names: ReadonlySet<string> | undefined
  return (name) => (names ??= gathered(found)).has(nameKey(name))
}

/** Asked only about a name with a slash in it, which few skills have. */
function trustedAddresses({ skills }: Found): (text: string) => boolean {
  let addresses: ReadonlySet<string> | undefined
  return (text) => {
    addresses ??= new Set(skills.filter(isTrusted).map((skill) => nameKey(skillAddress(skill))))
    return addresses.has(nameKey(text))
  }
}

/** A skill that cannot be read may not have told its name: that of its directory is its own as well. */
function gathered({ skills, rejected }: Found): ReadonlySet<string> {
  const names = new Set(skills.filter(isTrusted).map(({ name }) => nameKey(name)))
  for (const { name, file } of rejected.filter(isTrusted)) {
    names.add(nameKey(name)).add(nameKey(basename(dirname(file))))
  }
  return names
}

function isTrusted({ origin }: Pick<Skill, 'origin'>): boolean {
  return origin.trusted
}

/** Compared by name key, so that a look-alike of a disabled name is disabled with it. */
function switchedOff(rules: GateRules): ReadonlyMap<string, string> {
  const off = new Map<string, string>()
  for (const name of rules.disabledSkills) off.set(nameKey(name), `Take ${name} out of skills.disabled_skills.`)
  for (const [key, entry] of rules.entries) {
    if (entry.enabled === false) off.set(nameKey(key), `Set skills.entries.${key}.enabled to true, or remove it.`)
  }
  return off
}

/** How to switch a skill on again; undefined when nothing switches it off. */
export function enabling(skill: Skill, { disabled }: Ground): string | undefined {
  if (disabled.size === 0) return undefined
  return disabled.get(nameKey(configKey(skill))) ?? disabled.get(nameKey(skill.name))
}

/** The key of a skill under `skills.entries`, where secrets go along. */
export function entryKey(skill: Skill, { isNameOfSkill }: Ground): string {
  return configKey(skill, isNameOfSkill)
}

/** Secrets go to the copy, not to the name: an entry gives nothing to a copy from an untrusted source. */
export function entryOf(skill: Skill, ground: Ground): EntryRules | undefined {
  const { entries } = ground.rules
  return entries.size > 0 && skill.origin.trusted ? entries.get(entryKey(skill, ground)) : undefined
}

/** What is wrong with the value that is configured for a variable, and what to do; undefined when there is none, or nothing is. */
export function brokenReference(skill: Skill, name: string, ground: Ground): string | undefined {
  const { broken } = entryOf(skill, ground) ?? {}
  return broken?.get(`env.${name}`) ?? (skill.metadata.primaryEnv === name ? broken?.get('apiKey') : undefined)
}

/** What of the skill's entry is configured and cannot be had: `apiKey`, `env.NAME`, `config.…`. */
export function brokenParts(skill: Skill, ground: Ground): Iterable<string> {
  return entryOf(skill, ground)?.broken?.keys() ?? []
}

/** A part of the skill's entry as a dotted path of the configuration. */
export function settingAt(part: string, skill: Skill, ground: Ground): string {
  return `skills.entries.${entryKey(skill, ground)}.${part}`
}

/** What is wrong with the reference at a dotted path of the configuration, and what to do; undefined when nothing is. */
export function brokenSetting(skill: Skill, path: string, ground: Ground): string | undefined {
  for (const [part, problem] of entryOf(skill, ground)?.broken ?? [])
    if (settingAt(part, skill, ground) === path) return problem
  return ground.rules.brokenSetting?.(path)
}

/** True for a command's bare name: no path, no white space, nothing a shell would read. */
export function isBinName(name: string): boolean {
  // Patterns over all of Unicode cost a millisecond before their first answer.
  return /^\w[\w.+@-]*$/.test(name) || /^[\p{L}\p{N}_][\p{L}\p{N}_.+@-]*$/u.test(name)
}

/** True for a name that can be an environment variable. */
export function isEnvName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
}

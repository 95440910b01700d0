import { basename, dirname } from 'node:path'

import {
  configKey,
  type Gated,
  type HeldReason,
  type HeldSkill,
  nameKey,
  type RejectedSkill,
  type Skill,
  skillAddress,
  type TargetFacts,
} from '../kernel/index.ts'
import { type Ground, isBinName, isEnvName, LIFTED_BY_ALWAYS, needOs, reason } from './needs.ts'
import { toOsName } from './os.ts'
import type { EntryRules, GateRules } from './rules.ts'

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
  const prepared = prepare(facts, rules, { skills, rejected })
  const gated: Sorted = { ready: [], held: [] }
  for (const skill of skills) sortIn(skill, prepared, gated)
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
  const prepared = prepare(facts, rules, { skills, rejected })
  const gated: Sorted = { ready: [], held: [] }
  for (const [index, skill] of skills.entries()) {
    const pause = index % BETWEEN_BREATHS === 0 ? breathe() : undefined
    if (pause) await pause
    sortIn(skill, prepared, gated)
  }
  return gated
}

interface Sorted {
  readonly ready: Skill[]
  readonly held: HeldSkill[]
}

function sortIn(skill: Skill, prepared: Prepared, { ready, held }: Sorted): void {
  const reasons = reasonsOf(skill, prepared)
  if (reasons.length === 0) ready.push(skill)
  else held.push({ skill, reasons })
}

/** Facts and rules made ready for many skills: look-ups by key, and each binary asked for once. */
interface Prepared {
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
}

/** Everything that was found. */
interface Found {
  readonly skills: readonly Skill[]
  readonly rejected: readonly RejectedSkill[]
}

function prepare(facts: TargetFacts, rules: GateRules, found: Found): Prepared {
  const known = new Map<string, boolean>()
  const hasBin = (name: string): boolean => {
    const before = known.get(name)
    if (before !== undefined) return before
    const found = isBinName(name) && facts.hasBin(name)
    known.set(name, found)
    return found
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
  }
}

/** Asked only about a `skillKey`, which few skills have: the names are gathered for the first. */
function trustedNames(found: Found): (name: string) => boolean {
  let names: ReadonlySet<string> | undefined
  return (name) => (names ??= gathered(found)).has(nameKey(name))
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

function reasonsOf(skill: Skill, prepared: Prepared): readonly HeldReason[] {
  const reasons = standing(skill, prepared)
  const { rules, hasBroken } = prepared
  if (needsNothing(skill) && !rules.allowsToolGroup && !(hasBroken && skill.metadata.primaryEnv)) return reasons
  const ground = groundFor(skill, prepared)
  reasons.push(...needOs(skill, ground))
  if (skill.metadata.always && skill.origin.trusted) return reasons
  for (const need of LIFTED_BY_ALWAYS) reasons.push(...need(skill, ground))
  return reasons
}

function needsNothing({ metadata: { os, requires } }: Skill): boolean {
  const { bins, anyBins, env, config } = requires
  return os.length + bins.length + anyBins.length + env.length + config.length === 0
}

/** The gates before the target matters: is it a whole skill, trusted, switched on, and meant for this agent? */
function standing(skill: Skill, { disabled, allowed }: Prepared): HeldReason[] {
  const reasons: HeldReason[] = []
  if (!skill.isDescribed && skill.description.trim() === '') {
    reasons.push(
      reason('missing-description', 'missing description', () => `Add a description: line to ${skill.file}.`),
    )
  }
  if (!skill.origin.trusted) {
    reasons.push(reason('untrusted', 'its source is not trusted', () => 'Look at the skill, then run: nexus trust'))
  }
  const enable =
    disabled.size === 0 ? undefined : (disabled.get(nameKey(configKey(skill))) ?? disabled.get(nameKey(skill.name)))
  if (enable !== undefined) reasons.push(reason('disabled', 'disabled in config', () => enable))
  if (allowed && !allowed.has(nameKey(skill.name)) && !allowed.has(nameKey(skillAddress(skill)))) {
    reasons.push(
      reason('not-allowed', 'not allowed for this agent', () => `Add ${skill.name} to the agent's skills: list.`),
    )
  }
  return reasons
}

function groundFor(skill: Skill, { facts, os, hasBin, rules, isNameOfSkill }: Prepared): Ground {
  const key = configKey(skill, isNameOfSkill)
  // Secrets go to the copy, not to the name: an entry gives nothing to a copy from an untrusted source.
  const entry = skill.origin.trusted ? rules.entries.get(key) : undefined
  return {
    target: facts.target,
    os,
    key,
    hasBin,
    hasEnv: (name) =>
      isEnvName(name) &&
      (facts.hasEnv(name) || (entryGives(skill, entry, name) && rules.refusedVariable?.(name) === undefined)),
    brokenReference: (name) => brokenReference(skill, entry, name),
    ...(rules.refusedVariable && { refusedVariable: rules.refusedVariable }),
    configTruthy: (path) => path !== '' && rules.configTruthy(path),
    ...(rules.allowsToolGroup && { allowsToolGroup: rules.allowsToolGroup }),
  }
}

function entryGives(skill: Skill, entry: EntryRules | undefined, name: string): boolean {
  if (!entry) return false
  return entry.env.has(name) || (entry.hasApiKey && skill.metadata.primaryEnv === name)
}

/** What is wrong with the value that is configured for a variable; undefined when there is none, or nothing is. */
function brokenReference({ metadata }: Skill, entry: EntryRules | undefined, name: string): string | undefined {
  const { broken } = entry ?? {}
  return broken?.get(`env.${name}`) ?? (metadata.primaryEnv === name ? broken?.get('apiKey') : undefined)
}

import {
  type HeldCode,
  nameKey,
  type Requirements,
  type Skill,
  skillAddress,
  type SkillMetadata,
  toOsName,
} from '../kernel/index.ts'
import { brokenParts, enabling, entryOf, type Ground, isEnvName, settingAt } from './prepare.ts'
import { toolGroupsOf } from './tool-groups.ts'

/** One thing that keeps a skill back. `reasons.ts` has the words for it. */
export interface Lack {
  readonly code: HeldCode
  /** Which of the names that are needed is not there; empty for a need that is one for all names. */
  readonly name: string
}

/**
 * Everything that keeps a skill back, in the order of the gates; undefined for most skills, which nothing keeps back. Thousands are asked
 * about, so nothing is made for those, and what a skill does not need is not looked at.
 */
export function lacksOf(skill: Skill, ground: Ground): readonly Lack[] | undefined {
  const lacks = standing(skill, ground)
  const { metadata } = skill
  if (!mayNeed(skill, ground)) return lacks?.slice()
  const found = lacks ?? []
  if (metadata.os.length > 0) needOs(metadata.os, ground, found)
  // It does not lift the operating system.
  if (!(metadata.always && skill.origin.trusted)) needRest(skill, metadata, { ground, lacks: found })
  // A copy, because an array that grows keeps room for more.
  return found.length > 0 ? found.slice() : undefined
}

function mayNeed(skill: Skill, { rules, hasBroken }: Ground): boolean {
  const { os, requires } = skill.metadata
  const { bins, anyBins, env, config } = requires
  if (os.length + bins.length + anyBins.length + env.length + config.length > 0) return true
  return hasBroken || (rules.allowsToolGroup !== undefined && skill.mayNameToolGroups !== false)
}

/** The gates before the target matters: is it a whole skill, trusted, switched on, and meant for this agent? */
function standing(skill: Skill, ground: Ground): Lack[] | undefined {
  const isDescribed = skill.isDescribed === true || skill.description.trim() !== ''
  const isDisabled = ground.disabled.size > 0 && enabling(skill, ground) !== undefined
  const isAllowed = ground.allowed === undefined || isListed(skill, ground.allowed, ground)
  const { trusted } = skill.origin
  if (isDescribed && trusted && !isDisabled && isAllowed) return undefined
  const lacks: Lack[] = []
  if (!isDescribed) lack('missing-description', lacks)
  if (!trusted) lack('untrusted', lacks)
  if (isDisabled) lack('disabled', lacks)
  if (!isAllowed) lack('not-allowed', lacks)
  return lacks
}

/** By its address, or by its name unless that is the address of another skill. */
function isListed(skill: Skill, allowed: ReadonlySet<string>, { isAddress }: Ground): boolean {
  const key = nameKey(skill.name)
  if (allowed.has(nameKey(skillAddress(skill)))) return true
  return allowed.has(key) && !(key.includes('/') && isAddress(key))
}

function needOs(os: readonly string[], ground: Ground, lacks: Lack[]): void {
  if (os.includes(ground.os) || os.some((name) => toOsName(name) === ground.os)) return
  lack('os', lacks)
}

/** The needs that `always` lifts, in the order of the gates. */
function needRest(
  skill: Skill,
  { requires }: SkillMetadata,
  { ground, lacks }: { readonly ground: Ground; readonly lacks: Lack[] },
): void {
  const { rules } = ground
  const { bins, anyBins, env, config } = requires
  if (bins.length + anyBins.length > 0) needBins(requires, ground, lacks)
  if (env.length > 0 || ground.hasBroken) needEnv(skill, ground, lacks)
  for (const name of config) if (name === '' || !rules.configTruthy(name)) lacks.push({ code: 'config', name })
  if (ground.hasBroken) needEntry(skill, ground, lacks)
  if (!rules.allowsToolGroup || skill.mayNameToolGroups === false) return
  // Those of `metadata.toolGroups`.
  for (const name of toolGroupsOf(skill)) if (!rules.allowsToolGroup(name)) lacks.push({ code: 'tool-group', name })
}

/** Every binary of `bins`, and at least one of `anyBins`. */
function needBins({ bins, anyBins }: Requirements, { hasBin }: Ground, lacks: Lack[]): void {
  for (const name of bins) if (!hasBin(name)) lacks.push({ code: 'bin', name })
  if (anyBins.length > 0 && !anyBins.some(hasBin)) lack('any-bins', lacks)
}

/** Every variable of `requires.env`, and every one that is configured but cannot be had, whether the skill asks for it or not. */
function needEnv(skill: Skill, ground: Ground, lacks: Lack[]): void {
  const { requires } = skill.metadata
  for (const name of requires.env) if (!hasEnv(skill, name, ground)) lacks.push({ code: 'env', name })
  if (!ground.hasBroken) return
  for (const at of brokenParts(skill, ground)) {
    const name = variableAt(at, skill)
    if (name === undefined || requires.env.includes(name) || hasEnv(skill, name, ground)) continue
    if (!lacks.some((each) => each.code === 'env' && each.name === name)) lacks.push({ code: 'env', name })
  }
}

/** Every other part of its entry that cannot be had. Source: decisions, "an unset `${ENV}` holds that entry". */
function needEntry(skill: Skill, ground: Ground, lacks: Lack[]): void {
  for (const at of brokenParts(skill, ground)) {
    const variable = variableAt(at, skill)
    if (variable !== undefined && !hasEnv(skill, variable, ground)) continue
    const name = settingAt(at, skill, ground)
    if (!lacks.some((each) => each.code === 'config' && each.name === name)) lacks.push({ code: 'config', name })
  }
}

/** The variable that a part of an entry gives to commands. */
function variableAt(at: string, { metadata }: Skill): string | undefined {
  return at === 'apiKey' ? metadata.primaryEnv : at.startsWith('env.') ? at.slice('env.'.length) : undefined
}

function hasEnv(skill: Skill, name: string, ground: Ground): boolean {
  if (!isEnvName(name)) return false
  return ground.facts.hasEnv(name) || isGiven(skill, name, ground)
}

/** True when the entry of the skill gives that variable to its commands. */
function isGiven(skill: Skill, name: string, ground: Ground): boolean {
  const entry = entryOf(skill, ground)
  if (!entry || ground.rules.refusedVariable?.(name) !== undefined) return false
  return entry.env.has(name) || (entry.hasApiKey && skill.metadata.primaryEnv === name)
}

function lack(code: HeldCode, lacks: Lack[]): void {
  lacks.push({ code, name: '' })
}

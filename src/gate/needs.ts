import { type HeldCode, nameKey, type Skill, skillAddress, toOsName } from '../kernel/index.ts'
import { brokenParts, entryOf, type Ground, isEnvName, settingAt, switchOf } from './prepare.ts'
import { toolGroupsOf } from './tool-groups.ts'

/** One thing that keeps a skill back. `reasons.ts` has the words for it. */
export interface Lack {
  readonly code: HeldCode
  /** The needed name that is missing; empty when the code names none, or all names together. */
  readonly name: string
}

const NONE: ReadonlySet<string> = new Set()

/** Everything that keeps a skill back. This is the order of the gates. Source: decisions, "gate order". */
export function* lacksOf(skill: Skill, ground: Ground): Generator<Lack> {
  const { metadata, origin } = skill
  if (skill.description.trim() === '') yield { code: 'missing-description', name: '' }
  if (!origin.trusted) yield { code: 'untrusted', name: '' }
  if (switchOf(skill, ground)) yield { code: 'disabled', name: '' }
  if (!isAllowed(skill, ground)) yield { code: 'not-allowed', name: '' }
  if (!isForSystem(metadata.os, ground.os)) yield { code: 'os', name: '' }
  // `always` does not lift what stands above.
  if (!(metadata.always && origin.trusted)) yield* unmetNeeds(skill, ground)
}

function* unmetNeeds(skill: Skill, ground: Ground): Generator<Lack> {
  const { bins, anyBins } = skill.metadata.requires
  const { allowsToolGroup } = ground.rules
  for (const name of bins) if (!ground.hasBin(name)) yield { code: 'bin', name }
  if (anyBins.length > 0 && !anyBins.some(ground.hasBin)) yield { code: 'any-bins', name: '' }
  const variables = missingVariables(skill, ground)
  for (const name of variables) yield { code: 'env', name }
  for (const name of missingSettings(skill, ground, variables)) yield { code: 'config', name }
  const groups = allowsToolGroup ? toolGroupsOf(skill) : []
  for (const name of groups) if (!allowsToolGroup?.(name)) yield { code: 'tool-group', name }
}

function isForSystem(names: readonly string[], system: string): boolean {
  return names.length === 0 || names.some((name) => toOsName(name) === system)
}

/** By its address, or by its name unless that is the address of another skill. */
function isAllowed(skill: Skill, { allowed, isAddress }: Ground): boolean {
  if (!allowed || allowed.has(nameKey(skillAddress(skill)))) return true
  const key = nameKey(skill.name)
  return allowed.has(key) && !(key.includes('/') && isAddress(key))
}

/** Of `requires.env`, and of what is configured for the skill and cannot be resolved, whether the skill asks for it or not. */
function missingVariables(skill: Skill, ground: Ground): ReadonlySet<string> {
  if (!ground.hasBroken && skill.metadata.requires.env.length === 0) return NONE
  const configured = brokenParts(skill, ground).map((part) => variableAt(part, skill))
  const names = [...skill.metadata.requires.env, ...configured].filter((name) => name !== undefined)
  return new Set(names.filter((name) => !hasEnv(skill, name, ground)))
}

/** Of `requires.config`, and every other part of its entry that cannot be resolved. Source: decisions, "an unset `${ENV}` holds that entry". */
function missingSettings(skill: Skill, ground: Ground, variables: ReadonlySet<string>): ReadonlySet<string> {
  if (!ground.hasBroken && skill.metadata.requires.config.length === 0) return NONE
  const unset = skill.metadata.requires.config.filter((path) => path === '' || !ground.rules.configTruthy(path))
  const broken = brokenParts(skill, ground).filter((part) => !variables.has(variableAt(part, skill) ?? ''))
  return new Set([...unset, ...broken.map((part) => settingAt(part, skill, ground).join('.'))])
}

/** The variable that a part of an entry gives to commands. */
function variableAt(part: string, { metadata }: Skill): string | undefined {
  return part === 'apiKey' ? metadata.primaryEnv : part.startsWith('env.') ? part.slice('env.'.length) : undefined
}

function hasEnv(skill: Skill, name: string, ground: Ground): boolean {
  return isEnvName(name) && (ground.facts.hasEnv(name) || isGiven(skill, name, ground))
}

/** True when the entry of the skill gives that variable to its commands. */
function isGiven(skill: Skill, name: string, ground: Ground): boolean {
  const entry = entryOf(skill, ground)
  if (!entry || ground.rules.refusedVariable?.(name) !== undefined) return false
  return entry.env.has(name) || (entry.hasApiKey && skill.metadata.primaryEnv === name)
}

import { type HeldCode, nameKey, type Skill, skillAddress } from '../kernel/index.ts'
import { toOsName } from './os.ts'
import { brokenReference, enabling, entryOf, type Ground, isEnvName } from './prepare.ts'
import { toolGroupsOf } from './tool-groups.ts'

/** One thing that keeps a skill back. `reasons.ts` has the words for it. */
export interface Lack {
  readonly code: HeldCode
  /** Which of the names that are needed is not there; empty for a need that is one for all names. */
  readonly name: string
}

/** One gate: adds what it finds to `lacks`. Most skills need nothing, so nothing is made for them. */
export type Gate = (skill: Skill, ground: Ground, lacks: Lack[]) => void

/** The gates before the target matters: is it a whole skill, trusted, switched on, and meant for this agent? */
export const standing: Gate = (skill, ground, lacks) => {
  if (!skill.isDescribed && skill.description.trim() === '') lack('missing-description', lacks)
  if (!skill.origin.trusted) lack('untrusted', lacks)
  if (enabling(skill, ground) !== undefined) lack('disabled', lacks)
  if (ground.allowed && !isListed(skill, ground.allowed, ground)) lack('not-allowed', lacks)
}

/** By its address, or by its name unless that is the address of another skill. */
function isListed(skill: Skill, allowed: ReadonlySet<string>, { isAddress }: Ground): boolean {
  const key = nameKey(skill.name)
  if (allowed.has(nameKey(skillAddress(skill)))) return true
  return allowed.has(key) && !(key.includes('/') && isAddress(key))
}

/** The operating system; `always` does not lift it. */
export const needOs: Gate = ({ metadata: { os } }, ground, lacks) => {
  if (os.length === 0 || os.includes(ground.os) || os.some((name) => toOsName(name) === ground.os)) return
  lack('os', lacks)
}

/** Every binary of `requires.bins`. */
const needBins: Gate = ({ metadata }, { hasBin }, lacks) => {
  for (const name of metadata.requires.bins) if (!hasBin(name)) lacks.push({ code: 'bin', name })
}

/** At least one binary of `requires.anyBins`. */
const needAnyBins: Gate = ({ metadata }, { hasBin }, lacks) => {
  const { anyBins } = metadata.requires
  if (anyBins.length > 0 && !anyBins.some(hasBin)) lack('any-bins', lacks)
}

/** Every variable of `requires.env`, and the `primaryEnv` when its value is configured but cannot be had. */
const needEnv: Gate = (skill, ground, lacks) => {
  const { primaryEnv, requires } = skill.metadata
  for (const name of requires.env) if (!hasEnv(skill, name, ground)) lacks.push({ code: 'env', name })
  if (!ground.hasBroken || primaryEnv === undefined || requires.env.includes(primaryEnv)) return
  if (brokenReference(skill, primaryEnv, ground) !== undefined && !hasEnv(skill, primaryEnv, ground))
    lacks.push({ code: 'env', name: primaryEnv })
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

/** Every configuration path of `requires.config`. */
const needConfig: Gate = ({ metadata }, { rules }, lacks) => {
  for (const name of metadata.requires.config)
    if (name === '' || !rules.configTruthy(name)) lacks.push({ code: 'config', name })
}

/** Every tool group of `metadata.toolGroups`. */
const needToolGroups: Gate = (skill, { rules }, lacks) => {
  if (!rules.allowsToolGroup || skill.mayNameToolGroups === false) return
  for (const name of toolGroupsOf(skill)) if (!rules.allowsToolGroup(name)) lacks.push({ code: 'tool-group', name })
}

/** The needs that `always` lifts, in the order of the gates. */
export const LIFTED_BY_ALWAYS: readonly Gate[] = [needBins, needAnyBins, needEnv, needConfig, needToolGroups]

function lack(code: HeldCode, lacks: Lack[]): void {
  lacks.push({ code, name: '' })
}

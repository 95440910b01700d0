import {
  type HeldCode,
  nameKey,
  type Skill,
  skillAddress,
  toOsName,
  CLIENT_BLOCKS,
  isJsonObject,
  type JsonValue,
  listsHost,
  ownValue,
  readHostRule,
} from '../../kernel/index.ts'
import { brokenParts, entryOf, type GateContext, isEnvName, settingAt, switchOf } from './prepare.ts'

/** A requirement of a skill that the target or the rules do not meet. `reasons.ts` has the words for it. */
export interface Unmet {
  readonly code: HeldCode
  /** The needed name that is missing; empty when the code names none, or all names together. */
  readonly name: string
}

const NONE: ReadonlySet<string> = new Set()

/** Everything for which a skill is held, in the order of the gates. Source: decisions, "gate order". */
export function* unmetRequirements(skill: Skill, context: GateContext): Generator<Unmet> {
  const { metadata, origin } = skill
  if (skill.description.trim() === '') yield { code: 'missing-description', name: '' }
  if (!origin.trusted) yield { code: 'untrusted', name: '' }
  if (switchOf(skill, context)) yield { code: 'disabled', name: '' }
  if (!isAllowed(skill, context)) yield { code: 'not-allowed', name: '' }
  if (!isForSystem(metadata.os, context.os)) yield { code: 'os', name: '' }
  // `always` lifts only what follows.
  if (!(metadata.always && origin.trusted)) yield* unmetNeeds(skill, context)
}

function* unmetNeeds(skill: Skill, context: GateContext): Generator<Unmet> {
  const { requires, unreadable = [] } = skill.metadata
  const { bins, anyBins } = requires
  const { allowsToolGroup } = context.rules
  for (const { key } of unreadable) yield { code: 'invalid-requirement', name: key }
  for (const name of bins) if (!context.hasBin(name)) yield { code: 'bin', name }
  if (anyBins.length > 0 && !anyBins.some(context.hasBin)) yield { code: 'any-bins', name: '' }
  const variables = missingVariables(skill, context)
  for (const name of variables) yield { code: 'env', name }
  for (const name of missingSettings(skill, context, variables)) yield { code: 'config', name }
  if (missingHosts(skill, context).length > 0) yield { code: 'network', name: '' }
  yield* failedSetup(skill, context)
  if (allowsToolGroup) yield* refusedGroups(skill, allowsToolGroup)
}

/** Hosts of `requires.network` that no setting lets its commands reach. A target whose network is open needs no setting. */
export function missingHosts(skill: Skill, context: GateContext): readonly string[] {
  const { network } = skill.metadata.requires
  if (network.length === 0 || context.facts.network !== false) return []
  const { allowed, denied } = context.rules.network ?? { allowed: [], denied: [] }
  const own = entryOf(skill, context)?.hosts ?? []
  return network.filter((text) => {
    const wanted = readHostRule(text)
    return wanted === undefined || !listsHost({ allowed: [...allowed, ...own], denied }, wanted)
  })
}

function* failedSetup(skill: Skill, context: GateContext): Generator<Unmet> {
  const setup = entryOf(skill, context)?.setup
  const output = setup === undefined ? undefined : context.facts.failedSetup?.(skill, setup)
  if (output !== undefined) yield { code: 'setup', name: output.trimEnd().split('\n').at(-1) || 'without a word' }
}

function* refusedGroups(skill: Skill, allows: (name: string) => boolean): Generator<Unmet> {
  for (const name of toolGroupsOf(skill)) if (!allows(name)) yield { code: 'tool-group', name }
}

function isForSystem(names: readonly string[], system: string): boolean {
  return names.length === 0 || names.some((name) => toOsName(name) === system)
}

/** Matches its address, or its name unless that is the address of another skill. */
function isAllowed(skill: Skill, { allowed, isAddress }: GateContext): boolean {
  if (!allowed || allowed.has(nameKey(skillAddress(skill)))) return true
  const key = nameKey(skill.name)
  return allowed.has(key) && !(key.includes('/') && isAddress(key))
}

/** Missing names of `requires.env`, and configured variables that cannot be resolved, also unrequested ones. */
function missingVariables(skill: Skill, context: GateContext): ReadonlySet<string> {
  if (!context.hasBroken && skill.metadata.requires.env.length === 0) return NONE
  const configured = brokenParts(skill, context).map((part) => variableAt(part, skill))
  const names = [...skill.metadata.requires.env, ...configured].filter((name) => name !== undefined)
  return new Set(names.filter((name) => !hasEnv(skill, name, context)))
}

/** Settings of `requires.config`, and other parts of its entry that cannot be resolved. Source: decisions, "an unset `${ENV}` holds that entry". */
function missingSettings(skill: Skill, context: GateContext, variables: ReadonlySet<string>): ReadonlySet<string> {
  if (!context.hasBroken && skill.metadata.requires.config.length === 0) return NONE
  const unset = skill.metadata.requires.config.filter((path) => path === '' || !context.rules.configTruthy(path))
  const broken = brokenParts(skill, context).filter((part) => !variables.has(variableAt(part, skill) ?? ''))
  return new Set([...unset, ...broken.map((part) => settingAt(part, skill, context).join('.'))])
}

function variableAt(part: string, { metadata }: Skill): string | undefined {
  if (part === 'apiKey') return metadata.primaryEnv
  return part.startsWith('env.') ? part.slice('env.'.length) : undefined
}

function hasEnv(skill: Skill, name: string, context: GateContext): boolean {
  return isEnvName(name) && (context.facts.hasEnv(name) || isGiven(skill, name, context))
}

function isGiven(skill: Skill, name: string, context: GateContext): boolean {
  const entry = entryOf(skill, context)
  if (!entry || context.rules.refusedVariable?.(name) !== undefined) return false
  return entry.env.has(name) || (entry.hasApiKey && skill.metadata.primaryEnv === name)
}

/** The tool groups a skill says it needs: `metadata.toolGroups`, a list or a comma string. Source: contracts §2.1. */
function toolGroupsOf(skill: Pick<Skill, 'frontmatter'>): readonly string[] {
  const metadata = ownValue(skill.frontmatter, 'metadata')
  if (!isJsonObject(metadata)) return []
  for (const block of [metadata, ...CLIENT_BLOCKS.map((name) => ownValue(metadata, name))]) {
    const groups = isJsonObject(block) ? toNames(ownValue(block, 'toolGroups')) : []
    if (groups.length > 0) return groups
  }
  return []
}

function toNames(value: JsonValue | undefined): readonly string[] {
  const parts = typeof value === 'string' ? value.split(',') : value
  if (!Array.isArray(parts)) return []
  return (parts as readonly JsonValue[])
    .filter((part) => typeof part === 'string')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

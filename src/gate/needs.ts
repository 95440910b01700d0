import { type HeldReason, nearest, type Skill, toSafeLine } from '../kernel/index.ts'
import { toOsName } from './os.ts'
import { toolGroupsOf } from './tool-groups.ts'

const MET: readonly HeldReason[] = []

/** What the needs of one skill are checked against. The look-ups are total: they answer false for names that make no sense. */
export interface Ground {
  readonly target: string
  readonly os: string
  readonly hasBin: (name: string) => boolean
  readonly hasEnv: (name: string) => boolean
  /** For a variable whose configured value cannot be had: the reference, what is wrong with it, and what to do. */
  readonly brokenReference: (name: string) => string | undefined
  /** Why no command may be given that variable. Absent = any may be given. */
  readonly refusedVariable?: (name: string) => string | undefined
  readonly configTruthy: (path: string) => boolean
  /** Absent = every group is allowed. */
  readonly allowsToolGroup?: (group: string) => boolean
  /** The key of the skill under `skills.entries`. */
  readonly key: string
}

/** One need: the reasons why it is not met; none when it is. */
export type Need = (skill: Skill, ground: Ground) => readonly HeldReason[]

/** A need of the operating system; `always` does not lift it. */
export const needOs: Need = ({ metadata }, ground) => {
  if (metadata.os.length === 0 || metadata.os.some((name) => toOsName(name) === ground.os)) return MET
  return [reason('os', `requires OS ${listed(metadata.os)}, have ${ground.os}`, () => osFix(metadata.os, ground.os))]
}

const SYSTEMS = ['linux', 'darwin', 'windows']

function osFix(names: readonly string[], target: string): string {
  const unknown = names.find((name) => !SYSTEMS.includes(toOsName(name)))
  if (unknown === undefined) {
    return `Run it on ${names.join(' or ')}; when it works on ${target} too, add ${target} to os: in its frontmatter.`
  }
  const near = nearest(unknown, SYSTEMS)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  return `Correct os: in its frontmatter: '${unknown}' is no system; they are ${SYSTEMS.join(', ')}.${hint}`
}

/** Every binary of `requires.bins`. */
export const needBins: Need = (skill, ground) =>
  unmet(skill.metadata.requires.bins, ground.hasBin, (name) =>
    reason('bin', `missing binary: ${name}`, () => binFix(skill, [name], ground)),
  )

/** At least one binary of `requires.anyBins`. */
export const needAnyBins: Need = (skill, ground) => {
  const { anyBins } = skill.metadata.requires
  if (anyBins.length === 0 || anyBins.some(ground.hasBin)) return MET
  return [reason('any-bins', `missing any of: ${listed(anyBins)}`, () => binFix(skill, anyBins, ground))]
}

/** Every variable of `requires.env`, and the `primaryEnv` when its value is configured but cannot be had. */
export const needEnv: Need = (skill, ground) =>
  unmet(neededEnv(skill, ground), ground.hasEnv, (name) =>
    reason('env', `missing env: ${name}`, () => envFix(skill, name, ground)),
  )

function neededEnv({ metadata: { primaryEnv, requires } }: Skill, ground: Ground): readonly string[] {
  if (primaryEnv === undefined || requires.env.includes(primaryEnv)) return requires.env
  return ground.brokenReference(primaryEnv) === undefined ? requires.env : [...requires.env, primaryEnv]
}

/** Every configuration path of `requires.config`. */
export const needConfig: Need = ({ metadata }, ground) =>
  unmet(metadata.requires.config, ground.configTruthy, (path) =>
    reason('config', `config not truthy: ${path}`, () => `Set ${path} in nexus.yaml.`),
  )

/** Every tool group of `metadata.toolGroups`. */
export const needToolGroups: Need = (skill, { allowsToolGroup }) => {
  if (!allowsToolGroup) return MET
  return unmet(toolGroupsOf(skill), allowsToolGroup, (group) =>
    reason(
      'tool-group',
      `required tool group not allowed: ${group}`,
      () => `Allow ${group} in the agent's tools policy.`,
    ),
  )
}

/** The needs that `always` lifts, in the order of the gates. */
export const LIFTED_BY_ALWAYS: readonly Need[] = [needBins, needAnyBins, needEnv, needConfig, needToolGroups]

/** A reason for each name that is not there; most skills need nothing, so nothing is made for them. */
function unmet(
  names: readonly string[],
  isMet: (name: string) => boolean,
  toReason: (name: string) => HeldReason,
): readonly HeldReason[] {
  return names.length === 0 ? MET : names.filter((name) => !isMet(name)).map(toReason)
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

/** A reason whose words are safe to print: names come from skills. Few fixes are ever shown, so each is worded when it is asked for. */
export function reason(code: HeldReason['code'], text: string, fix: () => string): HeldReason {
  return {
    code,
    text: toSafeLine(text),
    get fix() {
      return toSafeLine(fix())
    },
  }
}

/** `[a b]`, as Go prints a list with %v. Source: seed 001 §3.1. */
function listed(names: readonly string[]): string {
  return `[${names.join(' ')}]`
}

function binFix(skill: Skill, names: readonly string[], ground: Ground): string {
  const wrong = names.find((name) => !isBinName(name))
  if (wrong !== undefined) return `Correct ${skill.file}: '${wrong}' is not the bare name of a command.`
  const where = `Install ${names.join(' or ')} where commands run (${ground.target})`
  const labels = skill.metadata.install
    .filter((spec) => spec.bins.some((name) => names.includes(name)))
    .filter((spec) => spec.os.length === 0 || spec.os.some((name) => toOsName(name) === ground.os))
    .map((spec) => spec.label ?? spec.kind)
  return labels.length === 0 ? `${where}.` : `${where}; the skill proposes: ${labels.join('; ')}.`
}

function envFix(skill: Skill, name: string, ground: Ground): string {
  if (!isEnvName(name)) return `Correct ${skill.file}: '${name}' cannot be the name of a variable.`
  if (!skill.origin.trusted) return `Trust its source first (nexus trust), then set ${name} for it.`
  const refused = ground.refusedVariable?.(name)
  if (refused !== undefined) return `Nothing can give ${name} to a command: it ${refused}.`
  const broken = ground.brokenReference(name)
  if (broken !== undefined) return broken
  if (skill.metadata.primaryEnv === name) return `Set skills.entries.${ground.key}.apiKey in nexus.yaml.`
  return `Set skills.entries.${ground.key}.env.${name} in nexus.yaml.`
}

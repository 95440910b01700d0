import { type HeldReason, nearest, type Skill, toOsName, toSafeLine } from '../kernel/index.ts'
import type { Lack } from './needs.ts'
import { brokenReference, brokenSetting, enabling, entryKey, type Ground, isBinName, isEnvName } from './prepare.ts'

/** What a lack is called, and what to do about it. */
export function reasonFor({ code, name }: Lack, skill: Skill, ground: Ground): HeldReason {
  const { os, requires } = skill.metadata
  const reason = (missing: readonly string[], text: string, fix: string): HeldReason => ({
    code,
    missing,
    // Names come from skills, so the words are made safe to print.
    text: toSafeLine(text),
    fix: toSafeLine(fix),
  })
  switch (code) {
    case 'missing-description':
      return reason([], 'missing description', `Add a description: line to ${skill.file}.`)
    case 'untrusted':
      return reason([], 'its source is not trusted', 'Look at the skill, then run: nexus trust')
    case 'disabled':
      return reason([], 'disabled in config', enabling(skill, ground) ?? '')
    case 'not-allowed':
      return reason([], 'not allowed for this agent', `Add ${skill.name} to the agent's skills: list.`)
    case 'os':
      return reason(os, `requires OS ${listed(os)}, have ${ground.os}`, osFix(os, ground.os))
    case 'bin':
      return reason([name], `missing binary: ${name}`, binFix(skill, [name], ground))
    case 'any-bins':
      return reason(
        requires.anyBins,
        `missing any of: ${listed(requires.anyBins)}`,
        binFix(skill, requires.anyBins, ground),
      )
    case 'env':
      return reason([name], `missing env: ${name}`, envFix(skill, name, ground))
    case 'config':
      return reason([name], `config not truthy: ${name}`, brokenSetting(skill, name, ground) ?? configFix(skill, name))
    case 'tool-group':
      return reason(
        [name],
        `required tool group not allowed: ${name}`,
        `Allow ${/^group:/i.test(name) ? name : `group:${name}`} in the agent's tools policy.`,
      )
  }
}

function configFix({ file }: Skill, path: string): string {
  return path.split('.').includes('')
    ? `Correct ${file}: '${path}' is no path of a setting, because a part of it is empty.`
    : `Set ${path} in nexus.yaml.`
}

/** `[a b]`, as Go prints a list with %v. Source: seed 001 §3.1. */
function listed(names: readonly string[]): string {
  return `[${names.join(' ')}]`
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

function binFix(skill: Skill, names: readonly string[], ground: Ground): string {
  const wrong = names.find((name) => !isBinName(name))
  if (wrong !== undefined) return `Correct ${skill.file}: '${wrong}' is not the bare name of a command.`
  const where = `Install ${names.join(' or ')} where commands run (${ground.facts.target})`
  const labels = skill.metadata.install
    .filter((spec) => spec.bins.some((name) => names.includes(name)))
    .filter((spec) => spec.os.length === 0 || spec.os.some((name) => toOsName(name) === ground.os))
    .map((spec) => spec.label ?? spec.kind)
  return labels.length === 0 ? `${where}.` : `${where}; the skill proposes: ${labels.join('; ')}.`
}

function envFix(skill: Skill, name: string, ground: Ground): string {
  if (!isEnvName(name)) return `Correct ${skill.file}: '${name}' cannot be the name of a variable.`
  if (!skill.origin.trusted) return `Trust its source first (nexus trust), then set ${name} for it.`
  const refused = ground.rules.refusedVariable?.(name)
  if (refused !== undefined) return `Nothing can give ${name} to a command: it ${refused}.`
  const broken = brokenReference(skill, name, ground)
  if (broken !== undefined) return broken
  const key = entryKey(skill, ground)
  if (skill.metadata.primaryEnv === name) return `Set skills.entries.${key}.apiKey in nexus.yaml.`
  return `Set skills.entries.${key}.env.${name} in nexus.yaml.`
}

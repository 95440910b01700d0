import { type HeldReason, nearest, type Skill, toOsName, toSafeLine } from '../kernel/index.ts'
import type { Lack } from './needs.ts'
import { entryKey, entryOf, type Ground, isBinName, isEnvName, type Setting, settingAt, switchOf } from './prepare.ts'

/** What there is to say about one lack. */
interface Words {
  readonly text: string
  readonly fix: string
  readonly missing?: readonly string[]
  readonly setting?: Setting | undefined
  readonly broken?: true
}

/** What a lack is called, and what to do about it. Names come from skills, so the words are made safe to print. */
export function reasonFor(lack: Lack, skill: Skill, ground: Ground): HeldReason {
  const { text, fix, missing = [], setting, broken } = wordsFor(lack, skill, ground)
  return {
    ...{ code: lack.code, missing, text: toSafeLine(text), fix: toSafeLine(fix) },
    ...(setting && { setting }),
    ...(broken && { broken }),
  }
}

function wordsFor({ code, name }: Lack, skill: Skill, ground: Ground): Words {
  const { os, requires } = skill.metadata
  switch (code) {
    case 'missing-description':
      return { text: 'missing description', fix: `Add a description: line to ${skill.file}.` }
    case 'untrusted':
      return { text: 'its source is not trusted', fix: 'Look at the skill, then run: nexus trust' }
    case 'disabled': {
      const setting = switchOf(skill, ground)
      return { text: 'disabled in config', fix: enabling(setting ?? [], ground), setting }
    }
    case 'not-allowed':
      return { text: 'not allowed for this agent', fix: `Add ${skill.name} to the agent's skills: list.` }
    case 'os':
      return { missing: os, text: `requires OS ${listed(os)}, have ${ground.os}`, fix: osFix(os, ground.os) }
    case 'invalid-requirement':
      return { missing: [name], text: `invalid requirement: ${name}`, fix: requirementFix(skill, name) }
    case 'bin':
      return { missing: [name], text: `missing binary: ${name}`, fix: binFix(skill, [name], ground) }
    case 'any-bins': {
      const names = requires.anyBins
      return { missing: names, text: `missing any of: ${listed(names)}`, fix: binFix(skill, names, ground) }
    }
    case 'env':
      return { missing: [name], text: `missing env: ${name}`, ...envWords(skill, name, ground) }
    case 'config':
      return { missing: [name], text: `config not truthy: ${name}`, ...configWords(skill, name, ground) }
    case 'tool-group':
      return {
        missing: [name],
        text: `required tool group not allowed: ${name}`,
        fix: `Allow ${/^group:/i.test(name) ? name : `group:${name}`} in the agent's tools policy.`,
      }
  }
}

function enabling(setting: Setting, { rules }: Ground): string {
  const [, section, key] = setting
  return section === 'disabled_skills'
    ? `Take ${rules.disabledSkills[Number(key)]} out of skills.disabled_skills.`
    : `Set ${setting.join('.')} to true, or remove it.`
}

function configWords(skill: Skill, path: string, ground: Ground): Pick<Words, 'fix' | 'setting' | 'broken'> {
  const own = [...(entryOf(skill, ground)?.broken ?? [])]
    .map(([part, problem]) => ({ setting: settingAt(part, skill, ground), problem }))
    .find(({ setting }) => setting.join('.') === path)
  const setting = own?.setting ?? path.split('.')
  const problem = own?.problem ?? ground.rules.brokenSetting?.(path)
  if (problem !== undefined) return { setting, broken: true, fix: problem }
  if (!setting.includes('')) return { setting, fix: `Set ${path} in nexus.yaml.` }
  return { fix: `Correct ${skill.file}: '${path}' is no path of a setting, because a part of it is empty.` }
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

function requirementFix({ file, metadata }: Skill, name: string): string {
  const { line, example } = metadata.unreadable?.find(({ key }) => key === name) ?? {}
  return `Correct ${name} in ${file}:${line}, for example: ${example}`
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

function envWords(skill: Skill, name: string, ground: Ground): Pick<Words, 'fix' | 'setting' | 'broken'> {
  if (!isEnvName(name)) return { fix: `Correct ${skill.file}: '${name}' cannot be the name of a variable.` }
  if (!skill.origin.trusted) return { fix: `Trust its source first (nexus trust), then set ${name} for it.` }
  const refused = ground.rules.refusedVariable?.(name)
  if (refused !== undefined) return { fix: `Nothing can give ${name} to a command: it ${refused}.` }
  const isKey = skill.metadata.primaryEnv === name
  const setting = ['skills', 'entries', entryKey(skill, ground), ...(isKey ? ['apiKey'] : ['env', name])]
  const { broken } = entryOf(skill, ground) ?? {}
  const problem = broken?.get(`env.${name}`) ?? (isKey ? broken?.get('apiKey') : undefined)
  if (problem !== undefined) return { setting, broken: true, fix: problem }
  return { setting, fix: `Set ${setting.join('.')} in nexus.yaml.` }
}

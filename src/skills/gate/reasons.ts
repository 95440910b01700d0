import {
  commandFix,
  type HeldReason,
  nearest,
  networkLine,
  type ProposedCommand,
  type Skill,
  shownRule,
  SKILL_FILE,
  toOsName,
  toSafeLine,
} from '../../kernel/index.ts'
import { missingHosts, type Unmet } from './needs.ts'
import {
  entryKey,
  entryOf,
  type GateContext,
  isBinName,
  isEnvName,
  type Setting,
  settingAt,
  switchOf,
} from './prepare.ts'

interface Words {
  readonly text: string
  readonly fix: string
  readonly proposal?: ProposedCommand
  readonly missing?: readonly string[]
  readonly setting?: Setting | undefined
  readonly broken?: true
}

/** An unmet requirement as a reason: its text, its fix and its data. Names come from skills, so the words are made safe to print. */
export function reasonFor(unmet: Unmet, skill: Skill, context: GateContext): HeldReason {
  const { text, fix, proposal, missing = [], setting, broken } = wordsFor(unmet, skill, context)
  return {
    ...{ code: unmet.code, missing, text: toSafeLine(text), fix: toSafeLine(fix) },
    ...(proposal && { proposal }),
    ...(setting && { setting }),
    ...(broken && { broken }),
  }
}

function wordsFor({ code, name }: Unmet, skill: Skill, context: GateContext): Words {
  const { os, requires } = skill.metadata
  switch (code) {
    case 'missing-description':
      return { text: 'missing description', fix: `Add a description: line to its ${SKILL_FILE}.` }
    case 'untrusted':
      return { text: 'its source is not trusted', ...commandFix('Inspect the skill, then run:', 'trust') }
    case 'disabled': {
      const setting = switchOf(skill, context)
      return { text: 'disabled in config', fix: enabling(setting ?? [], context), setting }
    }
    case 'not-allowed':
      return { text: 'not allowed for this agent', fix: `Add ${skill.name} to the agent's skills: list.` }
    case 'os':
      return { missing: os, text: `requires OS ${listed(os)}, have ${context.os}`, fix: osFix(os, context.os) }
    case 'invalid-requirement':
      return { missing: [name], text: `invalid requirement: ${name}`, fix: requirementFix(skill, name) }
    case 'bin':
      return { missing: [name], text: `missing binary: ${name}`, fix: binFix(skill, [name], context) }
    case 'any-bins': {
      const names = requires.anyBins
      return { missing: names, text: `missing any of: ${listed(names)}`, fix: binFix(skill, names, context) }
    }
    case 'env':
      return { missing: [name], text: `missing env: ${name}`, ...envWords(skill, name, context) }
    case 'config':
      return { missing: [name], text: `config not truthy: ${name}`, ...configWords(skill, name, context) }
    case 'network': {
      const hosts = missingHosts(skill, context)
      return { missing: hosts, text: `network not allowed: ${hosts.join(', ')}`, ...hostWords(skill, hosts, context) }
    }
    case 'setup': {
      const setting = ['skills', 'entries', entryKey(skill, context), 'setup']
      return { text: `setup failed: ${name}`, setting, fix: setupFix(setting.join('.')) }
    }
    case 'tool-group':
      return {
        missing: [name],
        text: `required tool group not allowed: ${name}`,
        fix: `Allow ${/^group:/i.test(name) ? name : `group:${name}`} in the agent's tools policy.`,
      }
  }
}

/** The whole line, with the hosts that are in it already. */
function hostWords(skill: Skill, hosts: readonly string[], context: GateContext): Pick<Words, 'fix' | 'setting'> {
  if (!skill.origin.trusted) return { fix: 'Inspect the skill, trust its workspace, then allow the hosts for it.' }
  const key = entryKey(skill, context)
  const known = (entryOf(skill, context)?.hosts ?? []).map(shownRule)
  const setting = ['skills', 'entries', key, 'network']
  return { setting, fix: `Write in nexus.yaml: ${networkLine(key, [...known, ...hosts])}` }
}

function enabling(setting: Setting, { rules }: GateContext): string {
  const [, section, key] = setting
  return section === 'disabled_skills'
    ? `Remove ${rules.disabledSkills[Number(key)]} from skills.disabled_skills.`
    : `Set ${setting.join('.')} to true, or remove it.`
}

function configWords(skill: Skill, path: string, context: GateContext): Pick<Words, 'fix' | 'setting' | 'broken'> {
  const own = [...(entryOf(skill, context)?.broken ?? [])]
    .map(([part, problem]) => ({ setting: settingAt(part, skill, context), problem }))
    .find(({ setting }) => setting.join('.') === path)
  const setting = own?.setting ?? path.split('.')
  const problem = own?.problem ?? context.rules.brokenSetting?.(path)
  if (problem !== undefined) return { setting, broken: true, fix: problem }
  if (!setting.includes('')) return { setting, fix: `Set ${path} in nexus.yaml.` }
  return { fix: `Fix its ${SKILL_FILE}: '${path}' is not a valid setting, because a part of it is empty.` }
}

/** `[a b]`, as Go prints a list with %v. Source: seed 001 §3.1. */
function listed(names: readonly string[]): string {
  return `[${names.join(' ')}]`
}

const SYSTEMS = ['linux', 'darwin', 'windows']

function osFix(names: readonly string[], target: string): string {
  const unknown = names.find((name) => !SYSTEMS.includes(toOsName(name)))
  if (unknown === undefined) {
    return `Run it on ${names.join(' or ')}. If it also works on ${target}, add ${target} to os: in its frontmatter.`
  }
  const near = nearest(unknown, SYSTEMS)
  if (near !== undefined) return `Write: os: [${names.map((name) => (name === unknown ? near : name)).join(', ')}]`
  return `Fix os: in its frontmatter: '${unknown}' is an unknown system. Known systems: ${SYSTEMS.join(', ')}.`
}

function setupFix(setting: string): string {
  return `Correct ${setting} in nexus.yaml, or what it needs, such as hosts in network. Nexus tries it again when it has changed, or after 10 minutes.`
}

function requirementFix({ metadata }: Skill, name: string): string {
  const { line, example } = metadata.unreadable?.find(({ key }) => key === name) ?? {}
  const place = line === undefined ? '' : `line ${line} of `
  return `Fix ${name} in ${place}its ${SKILL_FILE}. For example, write: ${example}`
}

function binFix(skill: Skill, names: readonly string[], context: GateContext): string {
  const wrong = names.find((name) => !isBinName(name))
  if (wrong !== undefined)
    return `Fix its ${SKILL_FILE}: '${wrong}' must be the name of a program, without path or options.`
  const where = `Install ${names.join(' or ')} ${installPlace(context)}`
  const labels = skill.metadata.install
    .filter((spec) => spec.bins.some((name) => names.includes(name)))
    .filter((spec) => spec.os.length === 0 || spec.os.some((name) => toOsName(name) === context.os))
    .map((spec) => spec.label ?? spec.kind)
  return labels.length === 0 ? `${where}.` : `${where}. The skill proposes: ${labels.join('; ')}.`
}

function installPlace({ facts: { target, programDirectories } }: GateContext): string {
  if (programDirectories === undefined) return `where commands run: ${target}`
  const system = programDirectories.filter((directory) => directory.startsWith('/usr/'))
  const shown = system.length > 0 ? system : programDirectories
  return `for all users of this machine. Commands find programs only in ${shown.join(', ')}`
}

function envWords(skill: Skill, name: string, context: GateContext): Pick<Words, 'fix' | 'setting' | 'broken'> {
  if (!isEnvName(name)) return { fix: `Fix its ${SKILL_FILE}: '${name}' is not a valid name of a variable.` }
  if (!skill.origin.trusted) return { fix: `Inspect the skill, trust its workspace, then set ${name} for it.` }
  const refused = context.rules.refusedVariable?.(name)
  if (refused !== undefined) return { fix: `Nexus never gives ${name} to commands: it ${refused}.` }
  const isKey = skill.metadata.primaryEnv === name
  const setting = ['skills', 'entries', entryKey(skill, context), ...(isKey ? ['apiKey'] : ['env', name])]
  const { broken } = entryOf(skill, context) ?? {}
  const problem = broken?.get(`env.${name}`) ?? (isKey ? broken?.get('apiKey') : undefined)
  if (problem !== undefined) return { setting, broken: true, fix: problem }
  return { setting, fix: `Set ${setting.join('.')} in nexus.yaml.` }
}

import { shownName } from '../catalog/index.ts'
import { type Diagnostic, type HeldReason, nameKey, type Skill } from '../../kernel/index.ts'
import type { Facts, Host } from './facts.ts'
import { type Finding, finding, fromDiagnostics } from './finding.ts'
import { aboutHosts } from './hosts.ts'
import { ADVICE, MESSAGES } from './messages.ts'
import { aboutLeftOut, aboutLoading, aboutSetup } from './ready.ts'

/** Every reason of a skill that is held, then what else there is to say about its file. */
export function aboutHeld(skill: Skill, reasons: readonly HeldReason[], facts: Facts): readonly Finding[] {
  const { diagnostics } = skill
  const isMute = reasons.some(({ code }) => code === 'missing-description')
  const cause = isMute ? diagnostics.find(({ code }) => code === 'description-missing') : undefined
  return [
    ...reasons.map((reason) =>
      cause && reason.code === 'missing-description' ? fromCause(reason, cause) : aboutReason(skill, reason, facts),
    ),
    ...aboutLoading(skill, facts),
    ...inSession(skill, facts),
    ...aboutLeftOut(skill, facts),
    ...aboutHosts(skill, facts),
    ...aboutSetup(skill, facts),
    ...fromDiagnostics(diagnostics.filter((diagnostic) => diagnostic !== cause)),
  ]
}

function fromCause({ code, text, fix }: HeldReason, cause: Diagnostic): Finding {
  const { code: _, severity: __, ...place } = cause
  const message = MESSAGES.held(`${text}: ${cause.message}`)
  return finding(code, 'error', { fix, ...place, message, reason: text })
}

/** One reason with the place of its cause and the nearest thing to do. */
export function aboutReason(skill: Skill, reason: HeldReason, { host, agentId }: Facts): Finding {
  const { code, text, missing, proposal } = reason
  const fix = proposal ? { fix: proposal.lead, command: proposal.args } : { fix: reason.fix }
  const advice = host && adviceFor(skill, reason, host)
  const message = messageFor(reason, agentId)
  return finding(code, 'error', { path: skill.file, message, reason: text, missing, ...fix, ...advice })
}

/** 001's text is for programs; where people would not understand it, they get another one. */
function messageFor({ code, text, missing: [name], broken }: HeldReason, agentId: string | undefined): string {
  if (code === 'not-allowed' && agentId !== undefined) return MESSAGES.notAllowed(agentId)
  if (code === 'config' && name !== undefined && broken !== true) return MESSAGES.settingMissing(name)
  return MESSAGES.held(text)
}

function inSession(skill: Skill, { snapshot }: Facts): readonly Finding[] {
  const key = nameKey(shownName(skill))
  if (!snapshot?.skills.some((each) => nameKey(shownName(each)) === key)) return []
  return [finding('stale-session', 'info', { path: skill.file, ...MESSAGES['stale-session'].held() })]
}

type Advice = Partial<Pick<Finding, 'path' | 'line' | 'fix' | 'command'>>

/** A place and a fix from what this machine and its settings are. */
function adviceFor(skill: Skill, reason: HeldReason, host: Host): Advice {
  const { code, setting, missing } = reason
  switch (code) {
    case 'disabled':
      return host.placeOf(setting ?? []) ?? {}
    case 'not-allowed':
      return host.placeOf(['agents', host.agentIndex, 'skills']) ?? {}
    case 'untrusted':
      return ADVICE.untrusted(host.workspace, host.homeIsWorkspace)
    case 'missing-description':
      return {}
    case 'invalid-requirement':
      return { line: skill.metadata.unreadable?.find(({ key }) => key === missing[0])?.line }
    default: {
      const head = host.heads.get(skill) ?? []
      const line = (code === 'os' ? lineOfSystems(head) : undefined) ?? lineOf(head, missing[0])
      const fix = fixFor(reason, host)
      return { line: isOfEntry(skill, reason) ? undefined : line, ...fix }
    }
  }
}

/** True for a setting that only nexus.yaml speaks of: it is in no line of the skill. */
function isOfEntry({ metadata }: Skill, { code, broken, missing }: HeldReason): boolean {
  return code === 'config' && broken === true && !missing.some((path) => metadata.requires.config.includes(path))
}

/** The line that names it, below the lines of name and description; else that of the section. */
function lineOf(lines: readonly string[], name = ''): number | undefined {
  if (name === '') return undefined
  const word = new RegExp(`(?:^|[^\\w.-])${name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}(?:[^\\w.-]|$)`, 'i')
  const index = lines.findIndex((line) => !PROSE.test(line) && word.test(line))
  const found = index >= 0 ? index : lines.findIndex((line) => /^(?:metadata|requires|os)[ \t]*:/.test(line))
  return found < 0 ? undefined : found + 1
}

const PROSE = /^(?:name|description)[ \t]*:/

/** The line with the key of the systems, which may be spelled otherwise there. Install entries have such a key too, further in. */
function lineOfSystems(lines: readonly string[]): number | undefined {
  const keys = lines.flatMap((line, index) =>
    SYSTEMS.test(line) && !PROSE.test(line) ? [{ line: index + 1, indent: line.search(/[^ ]/) }] : [],
  )
  return keys.toSorted((a, b) => a.indent - b.indent)[0]?.line
}

const SYSTEMS = /(?:^|[\s{,])["']?os["']?[ \t]*:/

function fixFor({ code, missing, setting, broken }: HeldReason, host: Host): Pick<Advice, 'fix' | 'command'> {
  const program = missing.find((name) => host.programs.has(name))
  if (code === 'bin' || code === 'any-bins') return program === undefined ? {} : { fix: programFix(program, host) }
  const [name = ''] = missing
  // Without a setting nothing in nexus.yaml helps; for a broken one the gate has the fix.
  if (!setting || broken) return {}
  if (code === 'env') return { fix: variableFix(name, setting.map(String), host) }
  return code === 'config' ? configFix(name, host) : {}
}

/** A program that the person has, but no command of a skill. */
function programFix(name: string, host: Host): string {
  const { programs, target, isRoot, mounted } = host
  const program = programs.get(name) ?? { path: name, real: name }
  if (program.kind !== undefined)
    return ADVICE.mountable({ name, path: program.path, kind: program.kind, mounted, file: fileOf(host) })
  return ADVICE.program({ name, target, isRoot, ...program })
}

/** `setting` is `skills.entries.<key>.apiKey` or `skills.entries.<key>.env.<name>`. */
function variableFix(name: string, setting: readonly string[], host: Host): string {
  const [, , key = '', part] = setting
  const isSet = host.isSet(name)
  return ADVICE.variable({ name, key, setting: setting.join('.'), isKey: part === 'apiKey', isSet, file: fileOf(host) })
}

/** Sections of nexus.yaml that hold whatever a person writes there. */
const FREE = /^(?:tools\.[^.]+\.|skills\.entries\.[^.]+\.config\.)/

function configFix(path: string, host: Host): Pick<Advice, 'fix' | 'command'> {
  const file = fileOf(host)
  if (FREE.test(path)) return { fix: ADVICE.freeSetting(path, file) }
  return host.knowsSetting(path) ? ADVICE.setting(path, file) : { fix: ADVICE.noSetting(path, file) }
}

function fileOf({ settingsFile, homeIsWorkspace }: Host): string {
  return ADVICE.settingsFile(settingsFile, homeIsWorkspace)
}

import { realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Advice, ExplainParts } from '../../catalog/index.ts'
import { type Environment, explainConfig, type LoadedConfig } from '../../config/index.ts'
import {
  configKey,
  type HeldReason,
  isNexusError,
  nameKey,
  shellWord,
  type Skill,
  type TargetFacts,
} from '../../kernel/index.ts'
import { readOfSkill } from '../../sources/index.ts'

interface Ground {
  readonly loaded: LoadedConfig
  readonly facts: TargetFacts
  readonly environment: Environment
  readonly agentId: string | undefined
  readonly signal?: AbortSignal | undefined
}

type Advise = NonNullable<ExplainParts['advise']>

/**
 * What this machine, its settings and the skills' files know of the reasons why skills are held: the line that asks for something, the line of
 * nexus.yaml that forbids it, a program that is there but not for commands. Reads the frontmatter of the given skills, nothing else.
 */
export async function prepareAdvice(skills: readonly Skill[], ground: Ground): Promise<Advise> {
  const { document, originOf } = await explainConfig(ground.loaded)
  const heads = new Map<Skill, readonly string[]>()
  for (const skill of skills) heads.set(skill, await headOf(skill, ground.signal))
  const place = (keys: readonly (string | number)[]): Advice => {
    const origin = originOf(keys)
    return origin === undefined ? {} : { file: origin.path, ...(origin.line !== undefined && { line: origin.line }) }
  }
  return (skill, reason) => {
    const { code } = reason
    if (code === 'disabled') return place(switchOf(skill, document))
    if (code === 'not-allowed') return place(listOf(document, ground))
    if (code === 'untrusted') return { fix: trustFix(ground.loaded) }
    const need = subjectOf(skill, reason)
    const lines = isOfEntry(skill, reason, need) ? [] : (heads.get(skill) ?? [])
    const line = (code === 'os' ? lineOfSystems(lines) : undefined) ?? lineOf(lines, need)
    const fix = fixFor(skill, { reason, need, ground })
    return { ...(line !== undefined && { line }), ...(fix !== undefined && { fix }) }
  }
}

/** Where the home lies in the workspace, trust cannot be remembered. */
function trustFix({ workspace, homeIsWorkspace }: LoadedConfig): string {
  const first = homeIsWorkspace ? `set ${OWN_HOME}, ` : ''
  return `Look at the skill, ${first}then run: nexus trust ${shellWord(workspace.directory)}`
}

const OWN_HOME = 'HOME, or NEXUS_HOME, to a directory of yours outside of the workspace'

/** True for a setting that only nexus.yaml speaks of: it is in no line of the skill. */
function isOfEntry({ metadata }: Skill, { code }: HeldReason, need: string | undefined): boolean {
  return code === 'config' && need?.startsWith('skills.entries.') === true && !metadata.requires.config.includes(need)
}

const MAX_HEAD_BYTES = 1_048_576

/** The lines of a file up to the end of its frontmatter; none when it cannot be read. */
async function headOf(skill: Skill, signal: AbortSignal | undefined): Promise<readonly string[]> {
  try {
    const { bytes } = await readOfSkill(skill, 'SKILL.md', { maxBytes: MAX_HEAD_BYTES, ...(signal && { signal }) })
    const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
      .toString('utf8')
      .split(/\r\n?|\n/)
    const first = lines.findIndex((line) => /^\uFEFF?---[ \t]*$/.test(line))
    const last = lines.findIndex((line, index) => index > first && /^(?:---|\.\.\.)[ \t]*$/.test(line))
    return first < 0 ? [] : lines.slice(0, last < 0 ? undefined : last)
  } catch (error) {
    if (!isNexusError(error) || error.code === 'CANCELLED') throw error
    // Gone, or a link: the reason is told without its line.
    return []
  }
}

/** The keys of the setting that switches a skill off. */
function switchOf(skill: Skill, document: unknown): readonly (string | number)[] {
  const { disabled_skills: names = [], entries = {} } = sectionOf(document, 'skills') as {
    disabled_skills?: readonly string[]
    entries?: Readonly<Record<string, { enabled?: boolean }>>
  }
  const keys = new Set([nameKey(skill.name), nameKey(configKey(skill))])
  const entry = Object.keys(entries).find((key) => keys.has(nameKey(key)) && entries[key]?.enabled === false)
  if (entry !== undefined) return ['skills', 'entries', entry, 'enabled']
  const index = names.findIndex((name) => keys.has(nameKey(name)))
  return ['skills', 'disabled_skills', ...(index < 0 ? [] : [index])]
}

/** The keys of the agent's list of skills. */
function listOf(document: unknown, { agentId }: Ground): readonly (string | number)[] {
  const agents = (document as { agents?: readonly { id?: string }[] }).agents ?? []
  return [
    'agents',
    Math.max(
      0,
      agents.findIndex(({ id }) => id === agentId),
    ),
    'skills',
  ]
}

function sectionOf(document: unknown, key: string): object {
  const section = (document as Readonly<Record<string, unknown>>)[key]
  return typeof section === 'object' && section !== null ? section : {}
}

/** The program, variable, path, system or group that is missing, as the skill wrote it. */
function subjectOf({ metadata }: Skill, { code, text }: HeldReason): string | undefined {
  const { bins, anyBins, env, config } = metadata.requires
  if (code === 'any-bins') return anyBins[0]
  if (code === 'os') return metadata.os[0]
  const all = { bin: bins, env: [...env, metadata.primaryEnv ?? ''], config } as Readonly<
    Record<string, readonly string[]>
  >
  return all[code]?.find((name) => name !== '' && text.endsWith(`: ${name}`)) ?? text.split(': ')[1]
}

/** The line that names it, below the lines of name and description. */
function lineOf(lines: readonly string[], subject: string | undefined): number | undefined {
  if (subject === undefined || subject === '') return undefined
  const word = new RegExp(`(?:^|[^\\w.-])${subject.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}(?:[^\\w.-]|$)`, 'i')
  const index = lines.findIndex((line) => !/^(?:name|description)[ \t]*:/.test(line) && word.test(line))
  if (index >= 0) return index + 1
  const section = lines.findIndex((line) => /^(?:metadata|requires|os)[ \t]*:/.test(line))
  return section < 0 ? undefined : section + 1
}

/** The line with the key of the systems; they may be spelled otherwise there, and install entries have such a key of their own. */
function lineOfSystems(lines: readonly string[]): number | undefined {
  let install: number | undefined
  for (const [index, line] of lines.entries()) {
    const indent = line.search(/[^ ]|$/)
    if (install !== undefined && (indent > install || (indent === install && line.startsWith('-', indent)))) continue
    install = /^[ -]*["']?install["']?[ \t]*:[ \t]*$/.test(line) ? indent : undefined
    if (/(?:^|[\s{,])["']?os["']?[ \t]*:/.test(line) && !/^(?:name|description)[ \t]*:/.test(line)) return index + 1
  }
  return undefined
}

interface Question {
  readonly reason: HeldReason
  readonly need: string | undefined
  readonly ground: Ground
}

function fixFor(skill: Skill, { reason, need, ground }: Question): string | undefined {
  const { code, fix = '' } = reason
  if (need === undefined) return undefined
  if (code === 'bin' || code === 'any-bins') {
    const names = code === 'bin' ? [need] : skill.metadata.requires.anyBins
    return names.map((name) => hiddenProgram(name, ground)).find((found) => found !== undefined)
  }
  if (code === 'env') return variableFix(skill, { name: need, fix, ground })
  // Other words of the gate name the reference that leads nowhere, or the part of the path that is empty.
  if (code === 'config') return fix === `Set ${need} in nexus.yaml.` ? configFix(need, ground) : undefined
  return undefined
}

/** A program that the person's PATH finds, but no command of a skill. */
function hiddenProgram(name: string, { environment, facts }: Ground): string | undefined {
  if (!/^[\w.+-]+$/.test(name)) return undefined
  const directories = (environment.get('PATH') ?? '').split(delimiter).filter((directory) => isAbsolute(directory))
  const path = directories.map((directory) => join(directory, name)).find(isProgram)
  if (path === undefined) return undefined
  const real = realpathSync(path)
  const leads = real === path ? '' : ` (it leads to ${real})`
  const how = /^\/(?:usr|bin|sbin)\//.test(real)
    ? `Let every user run it, for example: sudo chmod a+rx ${shellWord(real)}`
    : `Install it for all users, for example: sudo install -m 755 ${shellWord(real)} /usr/local/bin/${name}`
  return `You have ${path}${leads}, but commands of skills (${facts.target}) do not see it: they have the programs below /usr, /bin and /sbin that every user may run. ${how}`
}

function isProgram(path: string): boolean {
  try {
    const stats = statSync(path)
    return stats.isFile() && (stats.mode & 0o111) !== 0
  } catch {
    // Not there.
    return false
  }
}

/** The fix of the gate, with the file and an example. Only the gate knows the names that decide which entry is the skill's. */
function variableFix(
  { metadata }: Skill,
  { name, fix, ground }: { readonly name: string; readonly fix: string; readonly ground: Ground },
): string | undefined {
  const { environment, loaded } = ground
  const isKey = metadata.primaryEnv === name
  const [head, tail] = ['Set skills.entries.', `.${isKey ? 'apiKey' : `env.${name}`} in nexus.yaml.`]
  // Other words of the gate say why no setting would help.
  if (!fix.startsWith(head) || !fix.endsWith(tail)) return undefined
  const key = fix.slice(head.length, -tail.length)
  const isSet = (environment.get(name) ?? '') !== ''
  const value = isSet ? `"\${${name}}"` : '"…"'
  const entry = isKey ? `apiKey: ${value}` : `env: { ${name}: ${value} }`
  const why = isSet ? `${name} is set in your environment, but skills get only what nexus.yaml gives them. ` : ''
  const setting = `skills.entries.${key}.${isKey ? 'apiKey' : `env.${name}`}`
  const yaml = `skills: { entries: { ${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)}: { ${entry} } } }`
  return `${why}Set ${setting} in ${settingsFile(loaded)}, for example: ${yaml}`
}

/** Sections of nexus.yaml that hold whatever a person writes there. */
const FREE = /^(?:tools\.[^.]+\.|skills\.entries\.[^.]+\.config\.)/

function configFix(path: string, { loaded }: Ground): string {
  const [first = ''] = path.split('.')
  const known = Object.hasOwn(loaded.config.values, first) || first === 'tools' || first === 'skills'
  if (known && !FREE.test(path))
    return `Set ${path} in ${settingsFile(loaded)}; nexus config check tells whether it may stand there.`
  const wanted = FREE.test(path) ? path : `tools.${path}`
  const yaml = wanted
    .split('.')
    .reduceRight((inner, key) => `${key}: ${inner === 'true' ? inner : `{ ${inner} }`}`, 'true')
  return FREE.test(path)
    ? `Set it in ${settingsFile(loaded)}, for example: ${yaml}`
    : `nexus.yaml has no section ${first}, so nothing can meet it. Write ${wanted} in the skill instead, and set it in ${settingsFile(loaded)}: ${yaml}`
}

function settingsFile({ nexusHome, homeIsWorkspace }: LoadedConfig): string {
  // That file would be refused.
  if (homeIsWorkspace) return `the nexus.yaml of your own Nexus directory (set ${OWN_HOME})`
  return join(nexusHome, 'nexus.yaml')
}

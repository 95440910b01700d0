/** messages: every sentence about settings of this machine that reach nothing: what happened, why, and one next step. */
import { explainConfig, type LoadedConfig, nameOf } from '../config/index.ts'
import { commandFix, type Diagnostic, type Words } from '../kernel/index.ts'

/** One finding in words. */
export type Message = Words & { readonly code: string }

/** A finding about the setting at some keys. */
export interface SettingFinding extends Message {
  readonly keys: readonly (string | number)[]
}

/** The findings with their lines, which cost a reading of the schema: they are looked for only when there is something to say. */
export async function placed(found: readonly SettingFinding[], loaded: LoadedConfig): Promise<readonly Diagnostic[]> {
  if (found.length === 0) return []
  const { originOf } = await explainConfig(loaded)
  return found.map(({ keys, ...words }) => {
    const { path = 'nexus.yaml', line, column } = originOf(keys) ?? {}
    return { ...words, severity: 'warning', path, line, column, subject: nameOf(keys) }
  })
}

/** Facts by name; `setting` is the dotted name as in the file. */
type Facts<Names extends string> = Readonly<Record<Names, string>>

const row = (code: string, message: string, fix: string): Message => ({ code, message, fix })

export const ENTRIES = {
  /** The address may contain a password, so it is not shown. */
  serviceAddress: () =>
    row(
      'entry-address',
      'A key of skills.entries has no effect. It is the address of a service, and entries go by the name of a skill.',
      'Write the name of the skill, or its skillKey.',
    ),
  address: ({ key, name }: Facts<'key' | 'name'>) =>
    row(
      'entry-address',
      `skills.entries.${key} has no effect. Entries go by the name of a skill or its skillKey, not by its address.`,
      `Write skills.entries.${name}.`,
    ),
  numberedCopy: ({ setting, item, address }: Facts<'setting' | 'item' | 'address'>) =>
    row(
      'skills-twin',
      `'${item}' in ${setting} selects nothing. Name skills as NAME or SOURCE/NAME: both select all copies.`,
      `Write ${address}.`,
    ),
  /** `why` completes "it …". */
  refusedVariable: ({ setting, why }: Facts<'setting' | 'why'>) =>
    row('variable-refused', `Nexus gives ${setting} to no command: it ${why}.`, 'Remove the line.'),
  shortSecret: ({ setting }: Facts<'setting'>, least: number) =>
    row(
      'secret-short',
      `Nexus does not hide ${setting} in the output of commands. It has fewer than ${least} characters.`,
      'Use a longer key.',
    ),
  shortMask: ({ setting }: Facts<'setting'>, least: number) =>
    row(
      'mask-short',
      `Nexus runs no command of the skill: ${setting} is masked and has fewer than ${least} characters. Answers of servers would show it.`,
      'Use a longer key, or remove credentials: mask from the entry.',
    ),
  maskForWorkspace: ({ entry, host }: Facts<'entry' | 'host'>) =>
    row(
      'mask-workspace-host',
      `${host} gets no key of ${entry}. The key is masked, and only a file of the workspace names this host.`,
      `If it may have the key, add it to ${entry}.network in ~/.nexus/nexus.yaml.`,
    ),
  maskWithoutHost: ({ entry }: Facts<'entry'>) =>
    row(
      'mask-no-host',
      `No host gets the key of ${entry}. It is masked, and your file names no host for it.`,
      `Add the hosts of its API to ${entry}.network in ~/.nexus/nexus.yaml.`,
    ),
  maskWithoutSandbox: ({ entry }: Facts<'entry'>) =>
    row(
      'mask-no-sandbox',
      `No host gets the key of ${entry}. It is masked, and commands run without a sandbox, where nothing puts it in.`,
      'Set execution.sandbox to local, or remove credentials: mask.',
    ),
  maskOfSigner: ({ entry, name }: Facts<'entry' | 'name'>) =>
    row(
      'mask-signing',
      `The key ${name} of ${entry} is masked. A program that signs with it signs with the placeholder, and its requests fail.`,
      `Remove credentials: mask from ${entry}.`,
    ),
} as const

export const WORKSPACE = {
  noDirectory: ({ path }: Facts<'path'>) => ({
    message: `${path} is not a directory, so there is no workspace.`,
    fix: 'Make the directory, or pass another one as cwd.',
  }),
} as const

export const CUSTOM = {
  /** `why` is a clause, such as `it has no export 'x'`. */
  broken: ({ module, why }: Facts<'module' | 'why'>) =>
    row(
      'custom-tool-broken',
      `The tools of ${module} are left out: ${why}.`,
      'Correct the module or skills.custom, then start Nexus again.',
    ),
  taken: ({ module, tool, why }: Facts<'module' | 'tool' | 'why'>) =>
    row(
      'custom-tool-name',
      `The tool '${tool}' of ${module} is left out, because ${why}.`,
      'Give it another name in the module.',
    ),
} as const

export const NAMES = {
  directoryMissing: ({ setting, path }: Facts<'setting' | 'path'>) =>
    row(
      'directory-missing',
      `${setting} is not searched. The directory ${path} does not exist.`,
      'Make the directory, or fix the path.',
    ),
  directoryUnexpanded: ({ setting, part, fix }: Facts<'setting' | 'part' | 'fix'>) =>
    row('directory-unexpanded', `${setting} is not searched. Nexus does not expand ${part}.`, fix),
  unknownSkill: ({ setting, name }: Facts<'setting' | 'name'>, near: string | undefined): Message => ({
    code: 'skill-unknown',
    message: `${setting} has no effect. Nexus found no skill "${name}" here.`,
    ...(near === undefined
      ? commandFix('Fix the name, or remove it. All names:', 'skills', 'list', '--all')
      : { fix: `Write ${near}.` }),
  }),
} as const

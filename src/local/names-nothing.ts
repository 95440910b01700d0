/** names-nothing: settings that name a directory or a skill that is not there. */
import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type Catalog, everyCopy } from '../skills/catalog/index.ts'
import { type LoadedConfig, nameOf } from '../config/index.ts'
import { type Diagnostic, nearest, nameKey, toSafeLine } from '../kernel/index.ts'
import { type Message, NAMES, placed, type SettingFinding } from './messages.ts'

/** Directories that are not there, with the names of variables that were written without braces. */
export function findMissingDirectories(loaded: LoadedConfig): Promise<readonly Diagnostic[]> {
  const { load, skill_dirs: skillDirs, sources } = loaded.config.skills
  const directories = [
    ...load.extraDirs.map((path, index) => ({ keys: ['skills', 'load', 'extraDirs', index], path })),
    ...skillDirs.map((path, index) => ({ keys: ['skills', 'skill_dirs', index], path })),
    ...sources.flatMap((source, index) =>
      source.type === 'local' ? [{ keys: ['skills', 'sources', index, 'path'], path: source.path }] : [],
    ),
  ]
  const missing = directories.filter(({ path }) => !existsSync(path))
  return placed(
    missing.map(({ keys, path }) => ({ keys, ...aboutDirectory(nameOf(keys), path) })),
    loaded,
  )
}

function aboutDirectory(setting: string, path: string): Message {
  const written = path.split('/').find((part) => /^["' ]*(?:\$\w|~)/.test(part))
  if (written === undefined) return NAMES.directoryMissing({ setting, path: toSafeLine(path) })
  return NAMES.directoryUnexpanded({ setting, part: toSafeLine(written), fix: fixOf(written) })
}

function fixOf(written: string): string {
  if (/^["' ]/.test(written)) return 'Remove the quotes and spaces inside of the quoted text.'
  if (written.startsWith('$')) return `Write "\${${written.slice(1)}}", in quotes and braces.`
  return 'Write the absolute path, or begin it with ~/.'
}

/** Names of skills that no skill has here, whatever became of it. */
export async function findUnknownSkills(loaded: LoadedConfig, catalog: Catalog): Promise<readonly Diagnostic[]> {
  const copies = everyCopy(catalog)
  const names = [
    ...copies.flatMap(({ name, metadata: { skillKey } }) => [name, ...(skillKey === undefined ? [] : [skillKey])]),
    // The name of one that cannot be read may be anything: that of its directory counts too.
    ...catalog.invalid.flatMap(({ name, file }) => [name, basename(dirname(file))]),
  ]
  const known = new Set(names.map(nameKey))
  const { skills, agents } = loaded.config
  const asked = [
    ...[...skills.entries.keys()].map((name) => ({ keys: ['skills', 'entries', name], name })),
    ...skills.disabled_skills.map((name, index) => ({ keys: ['skills', 'disabled_skills', index], name })),
    ...agents.flatMap((agent, index) =>
      (agent.skills ?? []).map((name, at) => ({ keys: ['agents', index, 'skills', at], name })),
    ),
  ]
  const elsewhere = new Set<string>()
  const unknown = asked.flatMap(({ keys, name }): SettingFinding[] => {
    const label = name.slice(name.lastIndexOf('/') + 1).replace(/~\d+$/, '')
    // Entries and the list of disabled skills go by name: an address there has a finding of its own.
    if (known.has(nameKey(label)) || (label !== name && keys[0] === 'skills')) return []
    const guess = nearest(label, names)
    const words = NAMES.unknownSkill({ setting: nameOf(keys), name: toSafeLine(name) }, guess)
    if (guess === undefined) elsewhere.add(nameOf(keys))
    return [{ keys, ...words }]
  })
  // A name without a near one may be meant for another workspace, so in the user's own file it is only worth knowing.
  const isInfo = ({ path, subject = '' }: Diagnostic): boolean =>
    elsewhere.has(subject) && !loaded.workspace.files.includes(path)
  return (await placed(unknown, loaded)).map((found) => (isInfo(found) ? { ...found, severity: 'info' } : found))
}

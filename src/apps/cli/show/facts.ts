import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { type Catalog, type Copies, copiesOf, everyCopy } from '../../../skills/catalog/index.ts'
import { explainConfig, realPath } from '../../../config/index.ts'
import {
  diagnose,
  type Diagnosis,
  type Examined,
  type Facts,
  type Host,
  type Paths,
  type PersonalProgram,
  type SetupFile,
  type StrayFile,
} from '../../../skills/diagnose/index.ts'
import { configKey, isNexusError, nameKey, type Skill, SKILL_FILE, trustedNames } from '../../../kernel/index.ts'
import { examineSkill, findStrays } from '../../../skills/load/index.ts'
import { type Inspection, type Local, sandboxOptions } from '../../../local/index.ts'
import { findPrograms } from '../../../machine/sandbox/index.ts'
import { SOURCE_LIMITS } from '../../../skills/sources/index.ts'
import { readOfSkill } from '../../../machine/skill-files/index.ts'
import type { Invocation } from '../command.ts'
import { agentFlag, agentOf } from '../open.ts'
import { shortPath, typedPath } from '../terminal.ts'
import { withCommands } from './findings.ts'
import { hostsNeeded } from './hosts.ts'
import { otherClientFolders, skillsAbove } from './other-clients.ts'

export type Seen = Pick<Inspection, 'loaded' | 'sources' | 'facts' | 'waitsForTrust'> & { readonly catalog: Catalog }

/** The same of an open runtime, with the catalog of the agent that was asked for. */
export function seenIn(
  local: Pick<Local, 'loaded' | 'sources' | 'runtime' | 'waitsForTrust'>,
  invocation: Invocation,
): Seen {
  return { ...local, facts: local.runtime.facts, catalog: agentOf(local, invocation).catalog() }
}

/** Known only to an open runtime and a session. */
export type Known = Pick<Facts, 'index' | 'canLoad' | 'snapshot' | 'loaded'>

/** The copies that a name, an address or a path means; a path may be relative to the working directory. */
export function copiesMeant(asked: string, catalog: Catalog, cwd: string): { readonly name: string } & Copies {
  const copies = copiesOf(catalog, asked)
  const path = copies.files.size > 0 ? undefined : realPathOf(asked, cwd)
  return path === undefined ? { name: asked, ...copies } : { name: path, ...copiesOf(catalog, path) }
}

/** The one answer about a name, with what this machine knows: files in wrong places, lines of settings and skills, programs out of reach. */
export async function diagnoseHere(
  asked: string,
  seen: Seen,
  invocation: Invocation,
  known: Known = {},
): Promise<Diagnosis> {
  const { name, files, ...copies } = copiesMeant(asked, seen.catalog, invocation.cwd)
  const strays = files.size > 0 ? [] : await straysFor(name, seen, invocation)
  const about = await factsAbout(everyCopy(copies), seen, invocation)
  const { findings, ...diagnosis } = diagnose(name, { ...about, ...known, strays })
  return { ...diagnosis, findings: findings.map((found) => withCommands(found, invocation)) }
}

/** The facts for a diagnosis of these skills. `isQuick`: of many skills only those that raise a doubt are read. */
export async function factsAbout(
  skills: readonly Skill[],
  seen: Seen,
  invocation: Invocation,
  isQuick = false,
): Promise<Facts> {
  const { catalog, loaded, sources, waitsForTrust } = seen
  const agentId = agentFlag(invocation) ?? loaded.config.agents[0]?.id
  const shadowed = new Set(catalog.shadowed.map(({ skill }) => skill))
  const examined = new Map<Skill, Examined>()
  for (const skill of skills) {
    if (!shadowed.has(skill)) examined.set(skill, await examineSkill(skill, { signal: invocation.signal, isQuick }))
  }
  const lacking = [...catalog.held, ...catalog.shadowed].filter(({ reasons }) => reasons.length > 0)
  const meant = new Set(skills)
  const advised = lacking.map(({ skill }) => skill).filter((skill) => meant.has(skill))
  return {
    catalog,
    examined,
    hosts: await hostsNeeded(skills, seen, invocation),
    withoutSetup: withoutSetup(skills, seen),
    prompt: loaded.config.skills.prompt,
    paths: pathsFor(invocation),
    roots: sources.flatMap(({ id, folder }) => (folder ? [{ source: id, path: folder.path }] : [])),
    agentId,
    untrustedWorkspace: waitsForTrust ? loaded.workspace.directory : undefined,
    host: advised.length > 0 ? await hostOf(advised.slice(0, MAX_ADVISED), seen, invocation, agentId) : undefined,
  }
}

/** For skills with both files the first counts. */
function withoutSetup(skills: readonly Skill[], { catalog, loaded }: Seen): NonNullable<Facts['withoutSetup']> {
  const names = trustedNames(everyCopy(catalog), catalog.invalid)
  const found = new Map<Skill, { readonly file: SetupFile; readonly key: string }>()
  for (const skill of skills) {
    const key = configKey(skill, (name) => names.has(nameKey(name)))
    if (!skill.origin.trusted || loaded.config.skills.entries.get(key)?.setup !== undefined) continue
    const file = SETUP_FILES.find((name) => lstatSync(join(skill.directory, name), { throwIfNoEntry: false })?.isFile())
    if (file !== undefined) found.set(skill, { file, key })
  }
  return found
}

const SETUP_FILES: readonly SetupFile[] = ['requirements.txt', 'package.json']

export function pathsFor({ cwd, environment: { home } }: Invocation): Paths {
  return { shown: (path) => shortPath(path, { cwd, home }), typed: (path) => typedPath(path, cwd) }
}

/** Held skills whose files are read for the lines of their needs; the reasons of further ones are given without. */
const MAX_ADVISED = 200

/** Reads the frontmatter of the given skills, and looks for the programs that they need and commands do not see. */
async function hostOf(
  skills: readonly Skill[],
  seen: Seen,
  invocation: Invocation,
  agentId: string | undefined,
): Promise<Host> {
  const { loaded, facts } = seen
  const { environment, signal } = invocation
  const { document, originOf, isSetting } = await explainConfig(loaded)
  const { agents = [] } = document as { readonly agents?: readonly { readonly id?: string }[] }
  const heads = new Map<Skill, readonly string[]>()
  for (const skill of skills) heads.set(skill, await headOf(skill, signal))
  const needed = skills.flatMap(({ metadata: { requires } }) => [...requires.bins, ...requires.anyBins])
  return {
    target: facts.target,
    workspace: loaded.workspace.directory,
    homeIsWorkspace: loaded.homeIsWorkspace,
    settingsFile: pathsFor(invocation).shown(join(loaded.nexusHome, 'nexus.yaml')),
    knowsSetting: (path) => isSetting(path.split('.')),
    placeOf: (keys) => {
      const origin = originOf(keys)
      return origin && { path: origin.path, line: origin.line }
    },
    agentIndex: Math.max(agents.map(({ id }) => id).indexOf(agentId), 0),
    isRoot: process.getuid?.() === 0,
    isSet: (variable) => (environment.get(variable) ?? '') !== '',
    programs: await programsOf(new Set(needed), seen),
    mounted: loaded.config.execution.programs,
    heads,
  }
}

/** The lines of a SKILL.md up to the end of its frontmatter; none when it cannot be read. */
async function headOf(skill: Skill, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const { bytes } = await readOfSkill(skill, SKILL_FILE, { maxBytes: SOURCE_LIMITS.maxFileBytes, signal })
    const lines = new TextDecoder().decode(bytes).split(/\r\n?|\n/)
    const first = lines.findIndex((line) => /^---[ \t]*$/.test(line))
    const last = lines.findIndex((line, index) => index > first && /^(?:---|\.\.\.)[ \t]*$/.test(line))
    return first < 0 ? [] : lines.slice(0, last < 0 ? undefined : last)
  } catch (error) {
    if (!isNexusError(error) || error.code === 'CANCELLED') throw error
    // Gone, or a link: the reason is given without its line.
    return []
  }
}

/** Programs that the person has and commands do not: in an installation, or anywhere on the PATH. */
async function programsOf(names: ReadonlySet<string>, { loaded, facts }: Seen): Promise<Host['programs']> {
  const missing = [...names].filter((name) => !facts.hasBin(name))
  const found = new Map<string, PersonalProgram>()
  for (const program of await findPrograms(missing, sandboxOptions(loaded))) {
    if (program.type === 'found') {
      const { name, file, kind } = program
      found.set(name, { path: file, real: realpathSync(file), kind })
    } else if (program.path !== undefined) {
      const { name, path } = program
      found.set(name, { path, real: realpathSync(path), why: program.type === 'refused' ? program.why : undefined })
    }
  }
  return found
}

/** The real path of a file or directory that was named; undefined when nothing is there. */
function realPathOf(asked: string, cwd: string): string | undefined {
  if (!/[/\\]|\.md$/i.test(asked)) return undefined
  const path = resolve(cwd, asked)
  try {
    return lstatSync(path).isDirectory() ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
  } catch {
    // Nothing there that can be looked at: it is a name, or an address.
    return undefined
  }
}

async function straysFor(name: string, seen: Seen, invocation: Invocation): Promise<readonly StrayFile[]> {
  const { catalog, sources, loaded } = seen
  const { home } = invocation.environment
  const roots = sources.flatMap(({ folder }) => (folder ? [folder.path] : []))
  const above = skillsAbove({ workspace: loaded.workspace, sources }, home)
  const strays = await findStrays(name, {
    roots,
    workspace: loaded.workspace.directory,
    above: above === undefined ? undefined : [join(above, 'skills')],
    elsewhere: otherClientFolders(home).map(({ path }) => path),
    known: new Set([...everyCopy(catalog), ...catalog.invalid].map(({ file }) => file)),
    signal: invocation.signal,
  })
  const path = isAbsolute(name) ? name : undefined
  // A SKILL.md that was named by its path is in a wrong place, wherever that is; the search has covered the roots.
  if (path === undefined || strays.some(({ file }) => file === path || dirname(file) === path)) return strays
  if (roots.some((root) => path.startsWith(`${realPath(root)}/`))) return strays
  const file = /^skill\.md$/i.test(basename(path)) ? path : join(path, SKILL_FILE)
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() ? [{ file, why: 'beside-root' }] : strays
}

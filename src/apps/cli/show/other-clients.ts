/** other-clients: folders where other programs keep skills, and which of them are not read here. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { realPath } from '../../../config/index.ts'
import { shellWord, SKILL_FILE } from '../../../kernel/index.ts'
import type { Inspection } from '../../../local/index.ts'
import type { Invocation } from '../command.ts'

/** Below the home directory, by the program that reads them. */
const OTHER_CLIENTS: Readonly<Record<string, string>> = {
  'Claude Code': '.claude/skills',
  Codex: '.codex/skills',
  opencode: '.config/opencode/skills',
  Copilot: '.copilot/skills',
  Cursor: '.cursor/skills',
  'Gemini CLI': '.gemini/skills',
  OpenClaw: '.openclaw/skills',
  pi: '.pi/agent/skills',
}

/** Where other programs keep a user's skills; none without a home directory. */
export function otherClientFolders(home: string): readonly { readonly client: string; readonly path: string }[] {
  if (home === '') return []
  return Object.entries(OTHER_CLIENTS).map(([client, path]) => ({ client, path: join(home, path) }))
}

/** The program whose folder a path is in; also in a project, such as `./.claude/skills`. */
export function clientOf(path: string): string | undefined {
  return Object.entries(OTHER_CLIENTS).find(([, folder]) => `${path}/`.includes(`/${folder}/`))?.[0]
}

/** Names each such folder that contains skills and is not searched, with the command that includes it. */
export function printUnread({ sources }: Pick<Inspection, 'sources'>, { terminal, environment }: Invocation): void {
  const searched = searchedIn(sources)
  for (const { path } of otherClientFolders(environment.home)) {
    if (!containsSkills(path) || searched.has(realPath(path))) continue
    const line = terminal.commandLine(['skills', 'list', '--skills-dir', path])
    const text = `Not searched: ${terminal.shortPath(path)} contains skills of another program. To include them, add it to skills.load.extraDirs in nexus.yaml, or once: ${line}`
    terminal.note(terminal.paintNote('dim', text))
  }
}

/** Skills above the workspace are not read, since a folder of skills makes no workspace: names the nearest such folder, and its directory. */
export function printSkillsAbove(seen: Searched, { terminal, environment }: Invocation): void {
  const above = skillsAbove(seen, environment.home)
  if (above === undefined) return
  const folder = terminal.shortPath(join(above, 'skills'))
  const text = `Not searched: ${folder} contains skills, but it is above your workspace. To use them: cd ${shellWord(above)}`
  terminal.note(terminal.paintNote('dim', text))
}

type Searched = Pick<Inspection, 'sources'> & { readonly workspace: Pick<Inspection['workspace'], 'directory'> }

/** The nearest directory above the workspace with a folder of skills; undefined when the workspace has skills of its own. */
export function skillsAbove({ workspace, sources }: Searched, home: string): string | undefined {
  const searched = searchedIn(sources)
  if (sources.some(({ tier, folder }) => tier === 'workspace' && folder !== undefined && containsSkills(folder.path)))
    return undefined
  return parentsOf(workspace.directory)
    .filter((directory) => directory !== home)
    .find(
      (directory) => containsSkills(join(directory, 'skills')) && !searched.has(realPath(join(directory, 'skills'))),
    )
}

function searchedIn(sources: Inspection['sources']): ReadonlySet<string> {
  return new Set(sources.flatMap(({ folder }) => (folder ? [realPath(folder.path)] : [])))
}

/** The directories above one, the nearest first. */
function parentsOf(directory: string): readonly string[] {
  const parent = dirname(directory)
  return parent === directory ? [] : [parent, ...parentsOf(parent)]
}

/** Enough to name a folder; whether its skills are valid shows when it is read. */
function containsSkills(path: string): boolean {
  try {
    return readdirSync(path).some((name) => existsSync(join(path, name, SKILL_FILE)))
  } catch {
    // Absent, or closed to us.
    return false
  }
}

import { statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { CLIENT_BLOCKS } from '../kernel/index.ts'
import { isHome } from './accounts.ts'
import type { LoadedConfig } from './config.ts'
import type { Environment } from './environment.ts'
import { realPath, systemHome } from './home.ts'

type Found = Pick<LoadedConfig['workspace'], 'directory' | 'marker'>

/** Directories of clients and ours: where one is found or started in, the project around it is meant. Source: decisions, "Revised". */
const CLIENT_DIRECTORIES: ReadonlySet<string> = new Set([
  ...['.nexus', '.agents', '.claude', '.codex', '.cursor', '.gemini', '.opencode', '.windsurf', '.continue'],
  ...CLIENT_BLOCKS.map((name) => `.${name}`),
])

/**
 * The nearest directory, from `cwd` upward, with `nexus.yaml` or `.nexus/`; without one, the nearest with `.git`; without one, `cwd`.
 * The user's own Nexus directory marks nothing, nor does the `.nexus` in the home of any account. A client's directory is never a
 * workspace. Source: decisions, "Revised".
 */
export function findWorkspace(cwd: string, environment: Pick<Environment, 'home' | 'nexusHome'>): Found {
  const start = realPath(resolve(cwd))
  const nexusHome = realPath(environment.nexusHome)
  const own = [nexusHome, realPath(join(environment.home, '.nexus'))]
  const candidates = ancestors(start).filter(
    (directory) => directory === nexusHome || !CLIENT_DIRECTORIES.has(basename(directory)),
  )
  for (const names of [['nexus.yaml', '.nexus'], ['.git']] as const) {
    for (const directory of candidates.filter((each) => each !== nexusHome)) {
      const marker = names.find((name) => isMarker(directory, name, own))
      if (marker) return { directory, marker }
    }
  }
  return { directory: candidates[0] ?? start }
}

/** The directory and all above it, the nearest first. */
export function ancestors(directory: string): string[] {
  const above = dirname(directory)
  return above === directory ? [directory] : [directory, ...ancestors(above)]
}

/**
 * Whether the Nexus home is part of the workspace, where commands write and files come from others, so that nothing in it is the
 * user's word. A home that the system knows is the user's own; a process is easily started with another, such as HOME=/app.
 * Source: decisions, "configuration inside the workspace".
 */
export function holdsNexusHome(found: Found, environment: Pick<Environment, 'home' | 'nexusHome' | 'get'>): boolean {
  const own = systemHome()
  const ownHome = own === undefined ? undefined : realPath(own)
  if (environment.get('NEXUS_HOME') !== undefined) {
    const holdsUser = ownHome !== undefined && isInside(found.directory, ownHome)
    return !holdsUser && isInside(found.directory, realPath(environment.nexusHome))
  }
  const home = realPath(environment.home)
  return isProject(found) && isInside(found.directory, home) && ownHome !== home
}

/** A link to a directory counts; a directory called nexus.yaml does not. */
function isMarker(directory: string, name: NonNullable<Found['marker']>, own: readonly string[]): boolean {
  const path = join(directory, name)
  const kind = kindOf(path)
  if (name === '.nexus') return kind === 'directory' && !own.includes(realPath(path)) && !isHome(directory)
  return name === '.git' ? kind !== undefined : kind === 'other'
}

/** Whether a real path is the directory or below it. */
export function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.replace(/[/\\]?$/, sep))
}

/** Whether a project is there: a home directory with nothing of one is only a home. */
function isProject({ directory, marker }: Found): boolean {
  return marker !== undefined || kindOf(join(directory, 'skills')) === 'directory'
}

function kindOf(path: string): 'directory' | 'other' | undefined {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'other'
  } catch {
    // Not there, or not for us to see: it cannot be shown to mark anything.
    return undefined
  }
}

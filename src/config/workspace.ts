import { type Dirent, readdirSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import type { LoadedConfig } from './config.ts'
import type { Environment } from './environment.ts'
import { realPath, systemHome } from './home.ts'

type Found = Omit<LoadedConfig['workspace'], 'trusted'>

/** In the order in which they are named when several are there. */
const MARKERS = [
  { name: 'nexus.yaml', isKind: (entry: Dirent) => !entry.isDirectory() },
  { name: '.nexus', isKind: isDirectory },
  { name: 'skills', isKind: isDirectory },
  { name: '.git', isKind: () => true },
] as const

/**
 * The nearest directory, from `cwd` upward, that holds `nexus.yaml`, `.nexus/`, `skills/` or `.git`; else `cwd`.
 * The user's own Nexus directory marks nothing: neither itself nor the home directory around it. Source: decisions, "Trust".
 */
export function findWorkspace(cwd: string, environment: Pick<Environment, 'home' | 'nexusHome'>): Found {
  const start = realPath(resolve(cwd))
  const nexusHome = realPath(environment.nexusHome)
  const defaultHome = realPath(join(environment.home, '.nexus'))
  for (let directory = start; ; directory = dirname(directory)) {
    const names = directory === nexusHome ? [] : markersIn(directory)
    const marker = names.find((name) => {
      const path = realPath(join(directory, name))
      return name !== '.nexus' || (path !== nexusHome && path !== defaultHome)
    })
    if (marker) return { directory, marker }
    if (directory === dirname(directory)) return { directory: start }
  }
}

/**
 * Whether `~/.nexus` is part of the workspace itself, so that nothing in it is the user's word: HOME alone leads there, not NEXUS_HOME,
 * and the system knows another home for this user. A process is easily started like that, such as in a container with HOME=/app.
 */
export function holdsNexusHome(found: Found, environment: Pick<Environment, 'home' | 'get'>): boolean {
  if (found.marker === undefined || environment.get('NEXUS_HOME') !== undefined) return false
  const home = realPath(environment.home)
  if (home !== found.directory && !home.startsWith(found.directory.replace(/[/\\]?$/, sep))) return false
  const own = systemHome()
  return own === undefined || realPath(own) !== home
}

function markersIn(directory: string): (typeof MARKERS)[number]['name'][] {
  let entries: Dirent[]
  try {
    entries = readdirSync(directory, { withFileTypes: true })
  } catch {
    // A directory that cannot be listed cannot be shown to hold a marker; its parents may.
    return []
  }
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  return MARKERS.filter(({ name, isKind }) => {
    const entry = byName.get(name)
    return entry !== undefined && isKind(entry)
  }).map(({ name }) => name)
}

/** A link may lead to a directory; following it is left to those who read it. */
function isDirectory(entry: Dirent): boolean {
  return entry.isDirectory() || entry.isSymbolicLink()
}

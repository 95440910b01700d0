/** protected-paths: what the host runs or obeys, by path. Where it is in a workspace, no command may change it. */
import { type Dirent, existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { type LoadedConfig, pathsUsedByHost, realPath } from '../config/index.ts'
import { wayOf } from '../machine/changes/index.ts'
import { packageRoot } from './package-root.ts'

/**
 * Files that run from a checkout of Nexus, which may be the workspace itself, and those that `npm start` installs and builds it from: the rest of it
 * stays open to commands. npm prefers a shrinkwrap to the lock.
 */
const PARTS_OF_NEXUS = [
  ...['dist', 'src', 'scripts', 'skills', 'node_modules', 'package.json', 'package-lock.json', 'npm-shrinkwrap.json'],
  ...['tsconfig.json', 'tsconfig.build.json', '.bootstrap.lock'],
]

/** Paths that the host uses besides the settings. */
export interface AlsoUsed {
  /** Directories of skills that the caller names. */
  readonly skillsDirs?: readonly string[] | undefined
  /** Absolute: what the modules of `skills.custom` import. */
  readonly imported?: readonly string[]
}

/**
 * Real absolute paths: Nexus itself and all that it imports, Node, its home and state, and every file that the settings name to be used,
 * with each link on the way. What does not exist yet is in it: a command could make it.
 */
export function protectedPaths(loaded: LoadedConfig, used: AlsoUsed = {}): string[] {
  const root = realPath(packageRoot())
  const { directory } = loaded.workspace
  // A word without a slash or a dot is rarely a path: `npx` names a file only when there is one.
  const named = pathsUsedByHost(loaded).filter((path) => existsSync(path) || /[./]/.test(relative(directory, path)))
  return [
    ...PARTS_OF_NEXUS.map((name) => join(root, name)),
    ...modulesAbove(root),
    ...startedByNpx(loaded),
    realPath(process.execPath),
    ...[loaded.nexusHome, loaded.stateDirectory, ...loaded.files, ...named].flatMap((path) => wayOf(path)),
    ...skillsOf(loaded, used).flatMap(wayOf),
    ...(used.imported ?? []),
  ].filter((path) => path !== directory && !directory.startsWith(`${path}/`))
}

/** Real paths of directories whose skills count as trusted; below them no command runs. */
export function skillRoots(loaded: LoadedConfig, used: AlsoUsed = {}): string[] {
  return skillsOf(loaded, used).map(realPath)
}

/** Directories of skills that the settings or the caller name, and those of homes, absolute. */
function skillsOf(loaded: LoadedConfig, { skillsDirs = [] }: AlsoUsed): string[] {
  const { workspace, config, nexusHome } = loaded
  const { load, skill_dirs: skillDirs, sources } = config.skills
  const named = sources.flatMap((source) => ('path' in source && source.path !== undefined ? [source.path] : []))
  const ofSettings = [...load.extraDirs, ...skillDirs, ...skillsDirs, ...named]
  return [
    ...ofSettings.map((path) => resolve(workspace.directory, path)),
    ...skillsOfHomes(nexusHome, loaded.variable('HOME') ?? homedir()),
  ]
}

/** Those of Nexus and of any client. A directory or a skill in it may be a link into a workspace. */
function skillsOfHomes(nexusHome: string, home: string): string[] {
  const hidden = entriesOf(home).flatMap(({ name }) => (name.startsWith('.') ? [join(home, name)] : []))
  const roots = [nexusHome, ...hidden].map((path) => join(path, 'skills'))
  return roots.filter((root) => existsSync(root)).flatMap((root) => [root, ...linksIn(root)])
}

function linksIn(directory: string): string[] {
  return entriesOf(directory).flatMap((entry) => (entry.isSymbolicLink() ? [join(directory, entry.name)] : []))
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // Not there, or not ours to read: then its skills are not ours either.
    return []
  }
}

/** `npx nexus` runs the `bin` of the package.json in the directory before the installed command. The user may open that file. */
function startedByNpx({ workspace: { directory }, config: { execution } }: LoadedConfig): string[] {
  if (execution.workspace.writable.includes('package.json')) return []
  const isInstalled = (at: string): boolean =>
    existsSync(join(at, 'node_modules/.bin/nexus')) || (at !== dirname(at) && isInstalled(dirname(at)))
  return isInstalled(directory) ? [join(directory, 'package.json')] : []
}

/** Every `node_modules` that Node searches for what Nexus imports, its own package in one of them included. */
function modulesAbove(directory: string): string[] {
  const above = dirname(directory)
  const here = join(directory, 'node_modules')
  return [...(existsSync(here) ? [here] : []), ...(above === directory ? [] : modulesAbove(above))]
}

/** Where a sandbox keeps its state. Root keeps to the sandbox's own default: what another user must read cannot lie in root's home. */
export function sandboxState(stateDirectory: string): string | undefined {
  return process.getuid?.() === 0 ? undefined : join(stateDirectory, 'sandbox')
}

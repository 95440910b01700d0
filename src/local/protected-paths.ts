/** protected-paths: what the host runs or obeys, by path. Where it is in a workspace, no command may change it. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type LoadedConfig, pathsUsedByHost, realPath } from '../config/index.ts'
import { packageRoot } from './package-root.ts'

/** What runs from a checkout of Nexus, which may be the workspace itself: the rest of it stays open to commands. */
const PARTS_OF_NEXUS = ['dist', 'src', 'scripts', 'skills', 'node_modules', 'package.json']

/** Real absolute paths: Nexus itself and all that it imports, Node, its home and state, and every file that the settings name to be used. */
export function protectedPaths(loaded: LoadedConfig, skillsDirs: readonly string[]): string[] {
  const root = realPath(packageRoot())
  const { directory } = loaded.workspace
  return [
    ...PARTS_OF_NEXUS.map((name) => join(root, name)),
    ...modulesAbove(root),
    realPath(process.execPath),
    realPath(loaded.nexusHome),
    realPath(loaded.stateDirectory),
    ...loaded.files.map(realPath),
    ...[...skillsDirs, ...pathsUsedByHost(loaded)].filter(existsSync).map(realPath),
  ].filter((path) => path !== directory && !directory.startsWith(`${path}/`))
}

/** Every `node_modules` that Node searches for what Nexus imports, its own package in one of them included. */
function modulesAbove(directory: string): string[] {
  const above = dirname(directory)
  const here = join(directory, 'node_modules')
  return [...(existsSync(here) ? [here] : []), ...(above === directory ? [] : modulesAbove(above))]
}

/** compile-cache: lets Node keep compiled code in the Nexus home. V8 runs what the cache says, so it must be closed to others. */
import { existsSync, lstatSync, mkdirSync, realpathSync, type Stats } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { basename, dirname, isAbsolute, join } from 'node:path'

/** What makes a directory a workspace, where commands of skills may write. Source: config/workspace.ts. */
const MARKERS = ['nexus.yaml', '.nexus', '.git']

/** Off where other users, or commands of skills, could write. Any doubt turns it off: then every start compiles. */
export function useCompileCache(): void {
  try {
    const given = nexusHome()
    const home = join(realpathSync.native(dirname(given)), basename(given))
    if (isInWorkspace(home, realpathSync.native(process.cwd()))) return
    if (!isOwnPlace(dirname(home))) return
    const directory = join(home, 'cache', 'compile')
    for (const each of [home, dirname(directory), directory]) {
      if (!existsSync(each)) mkdirSync(each, { mode: 0o700 })
      if (!isClosed(lstatSync(each))) return
    }
    enableCompileCache(directory)
  } catch {
    // There is no home, or no right to write there.
  }
}

/** As config/home.ts finds it, without the rarer forms. */
function nexusHome(): string {
  const { NEXUS_HOME, HOME } = process.env
  const home = NEXUS_HOME || join(HOME || '', '.nexus')
  if (!isAbsolute(home)) throw new Error('no absolute path')
  return home
}

/** False for a link, for what belongs to another user, and for what others can write. */
function isClosed(stats: Stats): boolean {
  return stats.isDirectory() && stats.uid === userId() && (stats.mode & 0o022) === 0
}

/** False where another user could replace the home, or where root would make one for another user. */
function isOwnPlace(parent: string): boolean {
  const { mode, uid } = lstatSync(parent)
  return (uid === userId() || uid === 0) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0)
}

/** -1 on systems without users. Without newer syntax: the command must start on an old Node to say which one it needs. */
function userId(): number {
  return process.getuid ? process.getuid() : -1
}

/** True when the home is in the working directory, or in any directory that can be a workspace. */
function isInWorkspace(home: string, cwd: string): boolean {
  for (let inside = home, around = dirname(home); ; inside = around, around = dirname(around)) {
    if (inside === cwd) return true
    if (MARKERS.some((name) => join(around, name) !== home && existsSync(join(around, name)))) return true
    if (inside === around) return false
  }
}

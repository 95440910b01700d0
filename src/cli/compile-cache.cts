/** compile-cache: lets Node keep compiled code in the Nexus home. V8 runs what the cache says, so it must be closed to others. */
import fs = require('node:fs')
import module = require('node:module')
import path = require('node:path')

/** What makes a directory a workspace, where commands of skills may write. Source: config/workspace.ts. */
const MARKERS = ['nexus.yaml', '.nexus', 'skills', '.git']

/** Off where other users, or commands of skills, could write. Any doubt turns it off: then every start compiles. */
export function enable(cwd: () => string): void {
  try {
    const given = nexusHome()
    makeMissing(given)
    const home = fs.realpathSync(given)
    const directory = path.join(home, 'cache', 'compile')
    for (const each of [home, path.dirname(directory), directory]) {
      makeMissing(each)
      if (!isClosed(fs.lstatSync(each))) return
    }
    if (!isInWorkspace(home, fs.realpathSync(cwd()))) module.enableCompileCache(directory)
  } catch {
    // There is no home, or no right to write there.
  }
}

/** As config/home.ts finds it, without the rarer forms. */
function nexusHome(): string {
  const { NEXUS_HOME, HOME } = process.env
  const home = NEXUS_HOME || path.join(HOME || '', '.nexus')
  if (!path.isAbsolute(home)) throw new Error('no absolute path')
  return home
}

function makeMissing(directory: string): void {
  if (!fs.existsSync(directory)) fs.mkdirSync(directory, { mode: 0o700 })
}

function isClosed(stats: fs.Stats): boolean {
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0
}

/** True when the home is in the working directory, or in any directory that can be a workspace. */
function isInWorkspace(home: string, cwd: string): boolean {
  for (let inside = home, around = path.dirname(home); ; inside = around, around = path.dirname(around)) {
    if (inside === cwd) return true
    if (MARKERS.some((name) => path.join(around, name) !== home && fs.existsSync(path.join(around, name)))) return true
    if (inside === around) return false
  }
}

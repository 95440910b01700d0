/** check-workspace: which directories can be no workspace. */
import { existsSync, realpathSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute } from 'node:path'
import { REQUESTS, sandboxError } from '../messages.ts'
import { contains } from '../request.ts'
import type { LocalSettings } from './options.ts'

/** A directory of skills of Nexus, or of any client that keeps its own in a hidden directory of the home. */
const SKILLS = /\/\.[^/]+\/(?:.+\/)?skills(?:\/|$)/

/** System places: a workspace there would hide or open what every command needs. */
const SYSTEM_PLACES = [
  '/usr/bin', '/usr/sbin', '/usr/lib', '/usr/lib64', '/usr/libexec', '/usr/share', '/usr/include', '/usr/local/bin', '/usr/local/sbin',
  '/usr/local/lib', '/etc', '/bin', '/sbin', '/lib', '/lib64', '/boot', '/dev', '/proc', '/sys', '/run',
] // oxfmt-ignore

type CheckedBy = Pick<LocalSettings, 'stateDir' | 'skillRoots'>

function workspaceFault(workspace: string, { stateDir, skillRoots }: CheckedBy): string | undefined {
  if (workspace === '/tmp' || SYSTEM_PLACES.some((place) => contains(place, workspace) || contains(workspace, place)))
    return 'is a system directory'
  if (homesOfUser().some((home) => contains(workspace, home)))
    return 'contains your whole home directory, with its keys and settings'
  const isOfHome = homesOfUser().some((home) => contains(home, workspace) && SKILLS.test(workspace.slice(home.length)))
  if (isOfHome || skillRoots.some((root) => contains(root, workspace)))
    return 'is in a directory of skills, which are trusted with it'
  const overlaps = contains(workspace, stateDir) || contains(stateDir, workspace)
  return overlaps ? 'overlaps the state directory of the sandbox' : undefined
}

/** Throws INVALID_ARGUMENT for a directory that cannot be a workspace. */
export function checkWorkspace(workspace: string, settings: CheckedBy): void {
  const why = workspaceFault(workspace, settings)
  if (why) {
    throw sandboxError(REQUESTS.workspace({ path: workspace, why }))
  }
}

/** Homes of HOME and of the system: HOME may be empty or relative, and then names nothing. */
function homesOfUser(): string[] {
  return [homedir, () => userInfo().homedir].flatMap((ask) => {
    try {
      const home = ask()
      if (!isAbsolute(home)) return []
      return existsSync(home) ? [home, realpathSync(home)] : [home]
    } catch {
      // A user without an entry in the system's database has no home there.
      return []
    }
  })
}

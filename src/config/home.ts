/** home: where the user's own directories are. The directory that a process was merely started in never counts as one of them. */
import { realpathSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { NexusError, toSafeLine } from '../kernel/index.ts'

/** Looks up a variable; one that is unset or empty is undefined. */
type Get = (name: string) => string | undefined

/** Where the user's own things are; all absolute. Each getter throws CONFIG_INVALID when no variable says where that is. */
export interface UserPlaces {
  readonly home: string
  /** `NEXUS_HOME`, else `~/.nexus`. */
  readonly nexusHome: string
  /** `NEXUS_STATE_DIR`, else `<nexusHome>/state`. */
  readonly stateDirectory: string
}

/** On Windows programs have their own variable. */
const HOME_NAMES = process.platform === 'win32' ? ['HOME', 'USERPROFILE'] : ['HOME']

/** The first of the variables that is set, and is not an absolute path: Nexus ignores it. */
export function wrongHome(get: Get): string | undefined {
  return HOME_NAMES.find((name) => !isAbsolute(get(name) ?? '/'))
}

/** The user's places. They are looked up when they are asked for: help and the version need none. */
export function userPlaces(get: Get): UserPlaces {
  let home: string | undefined
  const places: UserPlaces = {
    get home() {
      return (home ??= homeOf(get))
    },
    get nexusHome() {
      return namedPlace('NEXUS_HOME', { get, places }) ?? join(places.home, '.nexus')
    },
    get stateDirectory() {
      return namedPlace('NEXUS_STATE_DIR', { get, places }) ?? join(places.nexusHome, 'state')
    },
  }
  return places
}

function homeOf(get: Get): string {
  const named = HOME_NAMES.map(get).find((path) => path !== undefined && isAbsolute(path))
  const home = named ?? systemHome()
  if (home !== undefined) return resolve(home)
  throw new NexusError(
    'CONFIG_INVALID',
    'Nexus did not find your home directory. HOME names no absolute path, and this system knows none for the user who runs Nexus.',
    { fix: 'Set HOME to a directory of yours, by its absolute path.' },
  )
}

/** From the system's user database, whatever HOME is. */
export function systemHome(): string | undefined {
  try {
    const { homedir } = process.getBuiltinModule('node:os').userInfo()
    return isAbsolute(homedir) ? homedir : undefined
  } catch {
    // Users without an entry, as in some containers, have no home but the one that HOME names.
    return undefined
  }
}

/**
 * The path that a variable names; undefined when it names none. Throws CONFIG_INVALID for a relative one: it would mean another
 * place in every directory, and in a workspace that of another user.
 */
export function namedPlace(
  name: string,
  { get, places }: { readonly get: Get; readonly places: Pick<UserPlaces, 'home'> },
): string | undefined {
  const value = get(name)
  if (value === undefined) return undefined
  const path = value === '~' || value.startsWith('~/') ? expandHome(value, places.home) : value
  if (isAbsolute(path)) return resolve(path)
  throw new NexusError('CONFIG_INVALID', `${name} must be an absolute path; it is "${toSafeLine(value)}".`, {
    fix: `Write it from the root on, or from your home directory with ~/, or unset ${name}.`,
  })
}

/** The path with a `~` at its beginning replaced; a relative one stays relative. */
export function expandHome(path: string, home: string): string {
  if (path === '~') return home
  return path.startsWith('~/') ? join(home, path.slice(2)) : path
}

/** The path without links; as written when there is no such thing. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    // Not there: it has no other name.
    return path
  }
}

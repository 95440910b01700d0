/** facts: what is true inside the local sandbox, read off its profile without starting anything. */
import { realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SeenPlace } from '../runner/protocol.ts'
import type { TargetFacts } from '../../../kernel/index.ts'
import { contains } from '../request.ts'
import { SYSTEM_PATH } from '../../host/index.ts'
import { type LocalSettings, READABLE } from './options.ts'
import { failedSetup } from './failed-setups.ts'
import { CACHE_NAMES } from './state.ts'
import { NamedPrograms } from './programs.ts'

/** Variables that every command gets. `bin` is the directory of the staged node. */
export function insideEnvironment(
  settings: LocalSettings,
  options: { path: readonly string[]; workspace: string },
): Record<string, string> {
  return {
    PATH: options.path.join(':'),
    HOME: '/tmp/home',
    TMPDIR: '/tmp',
    LANG: settings.language,
    TZ: settings.timeZone,
    NEXUS_SANDBOX: 'local',
    NEXUS_PROJECT: settings.projectId,
    NEXUS_WORKSPACE: options.workspace,
    // A mere look writes no index, and nothing is collected: both would be changes.
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'gc.auto',
    GIT_CONFIG_VALUE_0: '0',
    GIT_CONFIG_KEY_1: 'maintenance.auto',
    GIT_CONFIG_VALUE_1: 'false',
  }
}

export function cachePlaces(cache: string): SeenPlace[] {
  return CACHE_NAMES.map((name) => ({ as: 'write', path: join('/tmp/home', name), source: join(cache, name) }))
}

/** Facts for gating. No state is made or read for them: they hold also where no command can be run. */
export function localFacts(settings: LocalSettings): TargetFacts {
  const identity = settings.isRoot
    ? { uid: settings.uidBase, gid: settings.uidBase }
    : { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 }
  const env = Object.entries(insideEnvironment(settings, { path: ['/'], workspace: '/' }))
  // A set, because looking for a property makes every name that skills ask for one that lasts.
  let named: NamedPrograms | undefined
  const programs = (): NamedPrograms => (named ??= new NamedPrograms(settings))
  const set = new Set(env.filter(([, value]) => value !== '').map(([name]) => name))
  return {
    target: `local sandbox (uid ${identity.uid}${settings.isRoot ? '+' : ''})`,
    os: 'linux',
    // The staged node is first on the PATH, whatever the machine has.
    hasBin: (name) =>
      name === 'node' ||
      (isPlainName(name) &&
        (SYSTEM_PATH.some((directory) => canRun(join(directory, name), identity)) ||
          (settings.programs.names.length > 0 && programs().has(name)))),
    hasEnv: (name) => set.has(name),
    failedSetup: (skill, command) => failedSetup(settings, skill, command),
    programDirectories: SYSTEM_PATH,
    network: false,
  }
}

function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0')
}

/** True for a file that the commands' uid may execute and that lies, links followed, where they can read. */
function canRun(path: string, identity: { readonly uid: number; readonly gid: number }): boolean {
  // Nearly every name is absent in nearly every directory, so that is asked without an error.
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || !found.isFile()) return false
  try {
    const real = realpathSync.native(path)
    const shared = found.gid === identity.gid ? 0o010 : 0o001
    const bit = found.uid === identity.uid ? 0o100 : shared
    return (found.mode & bit) !== 0 && READABLE.some((directory) => contains(directory, real))
  } catch {
    // Absent, or on a way that cannot be followed: not there for commands either.
    return false
  }
}

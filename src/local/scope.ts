/** scope: the places of this machine where skills are installed, and who may change them now. */
import { isAbsolute } from 'node:path'
import type { Environment, LoadedConfig } from '../config/index.ts'
import { DEFAULT_PROJECT } from '../kernel/index.ts'
import { openSandbox } from '../machine/sandbox/index.ts'
import { sandboxState } from './protected-paths.ts'
import { type Alone, type Scope, scopeOf } from '../skills/install/index.ts'

/** The scope of the workspace, or of the user. The environment says where other programs look for the skills of the user. */
export function installScope(
  kind: 'workspace' | 'user',
  { workspace, nexusHome, stateDirectory }: LoadedConfig,
  environment?: Environment,
): Scope {
  const directory = kind === 'workspace' ? workspace.directory : nexusHome
  const stateHome = environment?.get('XDG_STATE_HOME') ?? ''
  return scopeOf({
    ...{ kind, directory, nexusHome, stateDirectory },
    home: environment?.home,
    stateHome: isAbsolute(stateHome) ? stateHome : undefined,
  })
}

/** The lock under which file tools and commands change a workspace, also where commands are not confined. */
export function aloneOf({ nexusHome, stateDirectory }: LoadedConfig, signal?: AbortSignal): Alone {
  return async (directory, work) => {
    const sandbox = openSandbox({
      kind: 'local',
      projectId: DEFAULT_PROJECT,
      nexusHome,
      stateDir: sandboxState(stateDirectory),
    })
    try {
      return sandbox.alone ? await sandbox.alone(directory, work, signal) : await work()
    } finally {
      await sandbox.close()
    }
  }
}

/** How sources of skills are reached for this user. */
export function sourceAccess(scope: Scope, environment: Environment, signal?: AbortSignal) {
  return { scope, home: environment.home, sshAgent: environment.get('SSH_AUTH_SOCK'), signal }
}

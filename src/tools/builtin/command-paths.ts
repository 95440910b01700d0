/** command-paths: where a command starts, and what the limits of its call leave it of the workspace. */
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { CallLimits, Failed, JsonObject, Services } from '../../kernel/index.ts'
import type { CommandRequest } from '../../machine/sandbox/index.ts'
import { COMMANDS, failedBy } from '../messages.ts'
import { SANDBOX, WORKSPACE } from '../services.ts'

export interface CommandPlace extends Pick<CommandRequest, 'workspace' | 'paths' | 'networkDomains'> {
  readonly type: 'place'
  /** Relative to `workspace`. */
  readonly cwd: string
}

/** The sandbox enforces the limits; one that confines nothing cannot, so nothing runs there. */
export function commandPlace(
  services: Services,
  { cwd: given = '.' }: JsonObject,
  limits: CallLimits = {},
): CommandPlace | Failed {
  const workspace = services.get(WORKSPACE)
  if (workspace === undefined) return failedBy('EXECUTION_ERROR', COMMANDS.noWorkspace())
  const cwd = String(given)
  const start = relative(workspace, resolve(workspace, cwd))
  if (start === '..' || start.startsWith(`..${sep}`) || isAbsolute(start))
    return failedBy('ACCESS_DENIED', COMMANDS.cwdOutside(cwd))
  const narrowed = narrowing(limits)
  if (services.get(SANDBOX)?.kind === 'none' && (narrowed.paths || narrowed.networkDomains))
    return failedBy('PERMISSION_DENIED', COMMANDS.unconfined())
  return { type: 'place', workspace, cwd: start || '.', ...narrowed }
}

/** The limits that a sandbox enforces. */
function narrowing({
  readPaths,
  writePaths,
  blockedPaths,
  networkDomains,
}: CallLimits): Pick<CommandPlace, 'paths' | 'networkDomains'> {
  const isLimit = blockedPaths !== undefined || ![readPaths, writePaths].every((list) => list?.includes('/') ?? true)
  return { paths: isLimit ? { readPaths, writePaths, blockedPaths } : undefined, networkDomains }
}

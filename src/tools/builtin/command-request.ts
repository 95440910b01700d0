/** command-request: what a command is given besides its text: where it starts, which hosts it may reach, and what a setup made for it. */
import { isAbsolute, relative, resolve, sep } from 'node:path'
import {
  type CallLimits,
  type Failed,
  type JsonObject,
  readHostRules,
  type Services,
  type ToolContext,
} from '../../kernel/index.ts'
import type { CommandNetwork, CommandRequest } from '../../machine/sandbox/index.ts'
import { COMMANDS, failedBy } from '../messages.ts'
import { type ExecutionSettings, type NetworkSettings, SANDBOX, WORKSPACE } from '../services.ts'
import type { OwnedCommand } from './skill-commands.ts'

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
  const { networkDomains } = limits
  const paths = narrowPaths(limits)
  if (services.get(SANDBOX)?.kind === 'none' && (paths || networkDomains))
    return failedBy('PERMISSION_DENIED', COMMANDS.unconfined())
  return { type: 'place', workspace, cwd: start || '.', paths, networkDomains }
}

function narrowPaths({ readPaths, writePaths, blockedPaths }: CallLimits): CommandPlace['paths'] {
  const isWide = blockedPaths === undefined && [readPaths, writePaths].every((list) => list?.includes('/') ?? true)
  return isWide ? undefined : { readPaths, writePaths, blockedPaths }
}

const NO_HOSTS: NetworkSettings = { allowed: [], denied: [] }

/** The hosts by settings and by answers of people; undefined where it reaches none, and nobody can be asked. */
export async function commandNetwork(
  { network = NO_HOSTS }: ExecutionSettings,
  { masks, network: { hosts, skill, setting } }: OwnedCommand,
  { connecting, limits }: ToolContext,
): Promise<CommandNetwork | undefined> {
  const { allowed, denied, isClosed, net, certificates } = network
  if (isClosed || limits?.networkDomains?.length === 0) return undefined
  const remembered = connecting ? readHostRules(await connecting.remembered(skill)) : []
  const all = [...allowed, ...hosts, ...remembered]
  const ask: CommandNetwork['ask'] = connecting?.canAsk ? (to, signal) => connecting.ask(to, skill, signal) : undefined
  return all.length > 0 || ask ? { allowed: all, denied, setting, net, certificates, ask, masks } : undefined
}

/** Directories of programs for the PATH; the failure says what a setup wrote that did not work. Runs it when its result is not there. */
export async function setupPath(
  services: Services,
  { setup }: OwnedCommand,
  { network, context }: { readonly network: CommandNetwork | undefined; readonly context: ToolContext },
): Promise<readonly string[] | Failed> {
  const sandbox = services.get(SANDBOX)
  if (!setup || !sandbox?.setUp) return []
  const { skill, callName, command } = setup
  const { signal, limits } = context
  const placed = { ...(await sandbox.place(skill, signal)), source: skill }
  // It gets no variable of the skill, so no placeholder either.
  const hosts = network && { ...network, masks: [] }
  const request = { skill: placed, command, network: hosts, networkDomains: limits?.networkDomains }
  const result = await sandbox.setUp(request, signal)
  if (result?.type === 'failed') return failedBy('EXECUTION_ERROR', COMMANDS.setupFailed(callName, result.output))
  return result?.path ?? []
}

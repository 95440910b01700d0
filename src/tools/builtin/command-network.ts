/** command-network: which hosts a command may reach, by settings and by answers of people. */
import { readHostRules, type ToolContext } from '../../kernel/index.ts'
import type { CommandNetwork } from '../../machine/sandbox/index.ts'
import type { ExecutionSettings, NetworkSettings } from '../services.ts'
import type { OwnedCommand } from './skill-commands.ts'

const NO_HOSTS: NetworkSettings = { allowed: [], denied: [] }

/** Undefined where it reaches none, and nobody can be asked. */
export async function commandNetwork(
  { network = NO_HOSTS }: ExecutionSettings,
  { masks, network: { hosts, skill, setting } }: OwnedCommand,
  { connecting, limits }: Pick<ToolContext, 'connecting' | 'limits'>,
): Promise<CommandNetwork | undefined> {
  const { allowed, denied, isClosed = false, net, certificates } = network
  if (isClosed || limits?.networkDomains?.length === 0) return undefined
  const remembered = connecting ? readHostRules(await connecting.remembered(skill)) : []
  const all = [...allowed, ...hosts, ...remembered]
  const ask: CommandNetwork['ask'] = connecting?.canAsk ? (to, signal) => connecting.ask(to, skill, signal) : undefined
  return all.length > 0 || ask ? { allowed: all, denied, setting, net, certificates, ask, masks } : undefined
}

/** command-network: which hosts a command may reach, by settings and by answers of people. */
import { type HostRule, readHostRule, type SkillRevision, type ToolContext } from '../../kernel/index.ts'
import type { CommandNetwork } from '../../machine/sandbox/index.ts'
import type { ExecutionSettings, NetworkSettings } from '../services.ts'
import type { OwnedCommand } from './skill-commands.ts'

const NO_HOSTS: NetworkSettings = { allowed: [], denied: [] }

/** Undefined where it reaches none, and nobody can be asked. */
export async function commandNetwork(
  { network = NO_HOSTS }: ExecutionSettings,
  { network: { hosts, skill, setting } }: OwnedCommand,
  { connecting, limits }: Pick<ToolContext, 'connecting' | 'limits'>,
): Promise<CommandNetwork | undefined> {
  const { allowed, denied, isClosed = false, net, certificates } = network
  if (isClosed || limits?.networkDomains?.length === 0) return undefined
  const all = [...allowed, ...hosts, ...(await rememberedFor(skill, connecting))]
  const ask: CommandNetwork['ask'] = connecting?.canAsk ? (to, signal) => connecting.ask(to, skill, signal) : undefined
  return all.length > 0 || ask ? { allowed: all, denied, setting, net, certificates, ask } : undefined
}

async function rememberedFor(
  skill: SkillRevision | undefined,
  connecting: ToolContext['connecting'],
): Promise<readonly HostRule[]> {
  return connecting ? rulesOf(await connecting.remembered(skill)) : []
}

function rulesOf(texts: readonly string[]): HostRule[] {
  return texts.map(readHostRule).filter((rule) => rule !== undefined)
}

/** holders: the agents whose budgets limit one agent: itself and its ancestors, up to the configured one it comes from. */
import type { AgentRecord } from '../../store/index.ts'
import { readSettings } from './settings.ts'
import type { Budget, PoolOptions } from './types.ts'

/** An agent with a budget of its own, or without one. */
export interface Holder {
  /** Its path. */
  readonly name: string
  readonly budget: Budget
  readonly sessionId: string
  readonly depth: number
  /** The agents that it made. */
  children(): Promise<readonly AgentRecord[]>
}

export type ConfiguredAgent = { readonly id: string; readonly sessionId: string; readonly key?: undefined }

export function isConfigured(agent: AgentRecord | ConfiguredAgent): agent is ConfiguredAgent {
  return agent.key === undefined
}

/** The agent first, then its ancestors. */
export async function holdersOf(
  options: Pick<PoolOptions, 'runtime' | 'config'>,
  agent: AgentRecord | ConfiguredAgent,
): Promise<readonly Holder[]> {
  if (isConfigured(agent)) return [configuredHolder(options, agent)]
  const { agents } = options.runtime.store
  const rows = (await agents.chain(agent.key)).toReversed()
  const oldest = rows.at(-1) ?? agent
  const { madeIn, profile } = readSettings(oldest)
  const holders = rows.map((row): Holder => {
    const { budget = {} } = readSettings(row)
    return {
      name: row.path,
      // The user makes the oldest one from a configured agent, and its budget is that agent's.
      budget: row === oldest && madeIn === undefined ? narrower(budget, configured(options, profile)) : budget,
      sessionId: row.sessionId,
      depth: row.depth,
      children: () => agents.list({ parent: row.key }),
    }
  })
  if (madeIn === undefined || oldest.parent === undefined) return holders
  return [...holders, configuredHolder(options, { id: oldest.parent, sessionId: madeIn })]
}

function configuredHolder(
  options: Pick<PoolOptions, 'runtime' | 'config'>,
  { id, sessionId }: ConfiguredAgent,
): Holder {
  const { agents } = options.runtime.store
  return {
    name: id,
    budget: configured(options, id),
    sessionId,
    depth: 0,
    children: async () => (await agents.list({ parent: id })).filter((row) => readSettings(row).madeIn === sessionId),
  }
}

function configured({ config }: Pick<PoolOptions, 'config'>, id: string): Budget {
  return config?.agents.find((agent) => agent.id === id)?.budget ?? {}
}

/** The smaller one of each limit. */
export function narrower(one: Budget, other: Budget): Budget {
  const names = new Set([...Object.keys(one), ...Object.keys(other)] as (keyof Budget)[])
  return Object.fromEntries([...names].map((name) => [name, Math.min(one[name] ?? Infinity, other[name] ?? Infinity)]))
}

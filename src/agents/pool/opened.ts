/** opened: the agents that this process opened: rights checked against the configuration of now, tools, services, and a loop. */
import { ceilingLayers, type Layer, readRules } from '../../authorize/index.ts'
import { serviceKey } from '../../kernel/index.ts'
import type { AgentHandle, AgentProfile, Runtime } from '../../runtime/index.ts'
import type { AgentRecord } from '../../store/index.ts'
import {
  type Agent,
  type AgentEvent,
  type ContextSettings,
  createAgent,
  type ModelChoice,
  type TurnHooks,
} from '../turns/index.ts'
import type { ConfiguredAgent } from './holders.ts'
import { POOL, poolError } from './messages.ts'
import { type AgentSettings, readSettings } from './settings.ts'
import type { PoolOptions } from './types.ts'

/** An agent that may work. */
export interface Opened {
  readonly handle: AgentHandle
  readonly agent: Agent
}

// The services of an agent that its tools use. Source: seed 000, "Common Service Names".
export const ALLOWED_PATHS = serviceKey<readonly string[] | null>('allowed_paths')
export const API_KEY = serviceKey<string>('api_key')
export const PORT = serviceKey<number>('port')
export const AGENT_ID = serviceKey<string>('agent_id')
export const PERMISSIONS = serviceKey<AgentRecord['permissions']>('permissions')

/** Given to each agent that is opened. */
export interface Opening {
  /** Adds the tools of the pool to an agent. */
  readonly equip: (handle: AgentHandle) => void
  /** The budgets of an agent, and its place among those that ask models. */
  readonly hooksOf: (agent: AgentRecord | ConfiguredAgent) => TurnHooks
  /** Whether a turn of an agent runs in this process: then it is not let go of. */
  readonly isWorking: (key: string) => boolean
  /** Told of each event of a turn. */
  readonly onEvent: (of: Pick<AgentRecord, 'id' | 'key' | 'path'>, event: AgentEvent) => void
}

export interface OpenedAgents {
  /** Throws CONFLICT for one that ended, STORE_FAILED for rights that cannot be read, CALL_DENIED when its configured agent is gone. */
  open(row: AgentRecord): Promise<Opened>
  configured(agent: { readonly id: string; readonly sessionId: string }): Agent
  /** Lets go of an agent that ended. */
  forget(key: string): void
}

/** So many agents stay open; the others are opened again from their rows when they are used. */
const MOST_OPEN = 64

export function createOpened(options: PoolOptions, { equip, hooksOf, isWorking, onEvent }: Opening): OpenedAgents {
  const { runtime, config } = options
  const { store } = runtime
  const opened = new Map<string, { readonly rights: string; readonly opening: Promise<Opened> }>()
  const configuredAgents = new Map<string, Agent>()
  const limits = config && {
    maxIterations: config.limits.maxIterations,
    maxConcurrentTools: config.limits.maxConcurrentTools,
  }

  const loop = (handle: AgentHandle, about: Pick<AgentRecord, 'id' | 'key' | 'path'>, more: Loop): Agent =>
    createAgent({ agent: handle, store, limits, onEvent: (event) => onEvent(about, event), ...more })

  async function open(row: AgentRecord): Promise<Opened> {
    const settings = readSettings(row)
    const { model: name } = settings
    const model = name === undefined ? options.model : () => openModel(options, name)
    const handle = runtime.openAgent({ row, ...(await narrowing(runtime, row, settings)) })
    provide(handle, row, options)
    equip(handle)
    const { instructions = instructionsOf(config, settings.profile) } = settings
    const context = contextOf(config, settings.profile)
    return { handle, agent: loop(handle, row, { model, instructions, context, hooks: hooksOf(row) }) }
  }

  /** An agent that is only listed must not keep its tools in memory. */
  const letGo = (used: string): void => {
    for (const key of opened.keys()) {
      if (opened.size <= MOST_OPEN) return
      if (key !== used && !isWorking(key)) opened.delete(key)
    }
  }

  return {
    open(row) {
      // A row that was changed is opened again; a turn that runs goes on with what it began with.
      const rights = JSON.stringify([row.permissions, row.ceiling, row.settings, row.endedAt ?? null])
      const known = opened.get(row.key)
      if (known?.rights === rights) {
        // The one that was used last is the last to go.
        opened.delete(row.key)
        opened.set(row.key, known)
        return known.opening
      }
      const opening = open(row)
      opened.delete(row.key)
      opened.set(row.key, { rights, opening })
      letGo(row.key)
      opening.catch(() => opened.delete(row.key))
      return opening
    },
    configured({ id, sessionId }) {
      const known = configuredAgents.get(sessionId)
      if (known?.id === id) return known
      const handle = runtime.openAgent({ id, sessionId })
      equip(handle)
      const about = { id, key: id, path: id }
      const more = { model: options.model, instructions: instructionsOf(config, id), context: contextOf(config, id) }
      const agent = loop(handle, about, { ...more, hooks: hooksOf({ id, sessionId }) })
      configuredAgents.set(sessionId, agent)
      return agent
    },
    forget: (key) => void opened.delete(key),
  }
}

interface Loop {
  readonly model: PoolOptions['model']
  readonly instructions?: string | undefined
  readonly context?: Partial<ContextSettings> | undefined
  readonly hooks: TurnHooks
}

export async function openModel({ openModel: open }: PoolOptions, name: string): Promise<ModelChoice> {
  if (open) return open(name)
  throw poolError('INVALID_ARGUMENT', POOL.noModels(name))
}

function instructionsOf(config: PoolOptions['config'], id: string): string | undefined {
  return config?.agents.find((agent) => agent.id === id)?.instructions
}

function contextOf(config: PoolOptions['config'], id: string): Partial<ContextSettings> | undefined {
  return config?.agents.find((agent) => agent.id === id)?.context
}

/**
 * The layers that an agent has beside its own row: the ceilings of its ancestors as their rows have them, and those of its configured
 * agent as they are now. The stricter of all applies. Source: decisions, "restore".
 */
export async function narrowing(
  { store, agents }: Runtime,
  row: AgentRecord,
  { profile: id, skills }: AgentSettings,
): Promise<{ readonly layers: readonly Layer[]; readonly skills: readonly string[] | undefined }> {
  const profile = agents.find((each) => each.id === id)
  if (!profile) throw poolError('CALL_DENIED', POOL.noProfile(row.path, id))
  const ancestors = (await store.agents.chain(row.key)).filter(({ key }) => key !== row.key)
  const layers = ancestors.flatMap((ancestor) => {
    const rules = readRules(ancestor)
    if (!rules) throw poolError('STORE_FAILED', POOL.unreadable(ancestor.path))
    return ceilingLayers(rules.ceilings)
  })
  const lists = [skills, profile.skills, ...ancestors.map((ancestor) => readSettings(ancestor).skills)]
  const seen = lists.filter((list) => list !== undefined)
  const [first, ...rest] = seen
  const common = first?.filter((name) => rest.every((list) => list.includes(name)))
  return { layers: [...inheritedBy(profile), ...layers], skills: common }
}

/** A runtime without configuration has profiles whose layers all apply. */
function inheritedBy({ inherited, layers = [] }: AgentProfile): readonly Layer[] {
  return inherited ?? layers
}

function provide({ services, id }: AgentHandle, row: AgentRecord, { serving }: PoolOptions): void {
  const rules = readRules(row)
  services.register(AGENT_ID, id)
  services.register(PERMISSIONS, row.permissions)
  if (rules) services.register(ALLOWED_PATHS, rules.permissions.allowedPaths)
  if (!serving) return
  services.register(PORT, serving.port)
  if (serving.keyOf) services.register(API_KEY, serving.keyOf(row))
}

/** reach: which agents the one who acts may reach. An id that does not exist and one out of reach get the same answer. */
import { type AgentRecord, isAgentKey, type Store } from '../../store/index.ts'
import { POOL, poolError } from './messages.ts'
import { readSettings } from './settings.ts'

/** The one who acts: an agent of the pool by its key, or a configured one in its session. Undefined: the user, who reaches all. */
export type Actor = { readonly key: string; readonly sessionId: string | undefined } | undefined

/** The target of a message: a descendant, or the parent of who sends. */
export type Target =
  | { readonly type: 'below'; readonly row: AgentRecord }
  | { readonly type: 'parent'; readonly id: string; readonly sessionId: string; readonly row?: AgentRecord }

export interface Reach {
  /** A living agent by its id, or any by its key. Throws AGENT_NOT_FOUND. */
  find(id: string): Promise<AgentRecord>
  /** Also the agent itself. */
  findSelf(id: string): Promise<AgentRecord>
  target(id: string): Promise<Target>
  /** Those of these rows that are in reach. */
  within(rows: readonly AgentRecord[]): Promise<readonly AgentRecord[]>
}

export function createReach({ agents }: Store, actor: Actor): Reach {
  const byName = (id: string): Promise<AgentRecord | undefined> => (isAgentKey(id) ? agents.get(id) : agents.find(id))

  async function isBelow(row: AgentRecord): Promise<boolean> {
    if (!actor) return true
    if (row.key === actor.key) return false
    const chain = await agents.chain(row.key)
    if (isAgentKey(actor.key)) return chain.some(({ key }) => key === actor.key)
    const [oldest] = chain
    return oldest?.parent === actor.key && readSettings(oldest).madeIn === actor.sessionId
  }

  const notFound = (id: string): Error => poolError('AGENT_NOT_FOUND', POOL.notFound(id))

  async function find(id: string): Promise<AgentRecord> {
    const row = await byName(id)
    if (row && (await isBelow(row))) return row
    throw notFound(id)
  }

  return {
    find,
    async findSelf(id) {
      const row = await byName(id)
      return row && row.key === actor?.key ? row : find(id)
    },
    async target(id) {
      const self = actor && isAgentKey(actor.key) ? await agents.get(actor.key) : undefined
      return (self && (await parentOf(agents, self, id))) ?? { type: 'below', row: await find(id) }
    },
    async within(rows) {
      if (!actor) return rows
      const reached = await Promise.all(rows.map(isBelow))
      return rows.filter((_, index) => reached[index])
    },
  }
}

/** The parent of an agent, if that is its id: living, or a configured one in the session that made the agent. */
async function parentOf(agents: Store['agents'], self: AgentRecord, id: string): Promise<Target | undefined> {
  const { parent: above } = self
  if (above === undefined) return undefined
  if (!isAgentKey(above)) {
    const { madeIn } = readSettings(self)
    return id === above && madeIn !== undefined ? { type: 'parent', id, sessionId: madeIn } : undefined
  }
  const row = await agents.get(above)
  if (!row || row.endedAt !== undefined || (id !== row.id && id !== row.key)) return undefined
  return { type: 'parent', id: row.id, sessionId: row.sessionId, row }
}

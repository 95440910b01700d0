/** access: what one who acts can do with the agents in reach. */
import type { AgentRecord, Store } from '../../store/index.ts'
import type { TurnResult } from '../turns/index.ts'
import { infosOf, treesOf } from './info.ts'
import { POOL, poolError } from './messages.ts'
import { create, parentKey } from './making.ts'
import { type Actor, createReach } from './reach.ts'
import { readSettings } from './settings.ts'
import type { Acting, PoolState } from './pool-state.ts'
import { send, untilClosed } from './sending.ts'
import type { PoolAccess, Transcript } from './types.ts'

const TRANSCRIPT_LIMIT = 200

export function createAccess(state: PoolState, actor: Actor): PoolAccess {
  const { options, opened } = state
  const { runtime } = options
  const { store } = runtime
  const reach = createReach(store, actor)
  const acting: Acting = { reach, actor }
  const infos = (rows: readonly AgentRecord[]) => infosOf(store, rows, options)

  async function list({ parent, isLiving = true }: { readonly parent?: string; readonly isLiving?: boolean } = {}) {
    const of = parent === undefined ? undefined : await parentKey(reach, options, parent)
    return reach.within(await store.agents.list({ isLiving, parent: of }))
  }

  return {
    create: (request = {}) => state.inOrder(() => create(state, acting, request)),
    send: (id, content, request = {}) => send(state, acting, { id, content, request }),
    async cancel(id, requestId) {
      const { sessionId } = await reach.find(id)
      const turn = await store.turns.get({ sessionId, requestId: String(requestId) })
      if (!turn || turn.endedAt !== undefined) return false
      const { state: now, isCancelRequested } = await store.turns.cancel(turn.id)
      return now === 'cancelled' || (now === 'running' && isCancelRequested)
    },
    async destroy(id) {
      const row = await reach.find(id)
      const ended = await store.agents.end(row.key)
      for (const each of ended) {
        opened.forget(each.key)
        state.announce(each, 'agent-ended')
      }
      await state.work.settled(ended.map(({ key }) => key))
      return ended.map((each) => each.id)
    },
    list: async (filter) => infos(await list(filter)),
    async status(id) {
      const row = await reach.findSelf(id)
      const [[info], own, subtree, questions] = await Promise.all([
        infos([row]),
        store.turns.use([row.sessionId]),
        store.agents.use(row.key),
        runtime.approvals.list(),
      ])
      if (!info) throw poolError('AGENT_NOT_FOUND', POOL.notFound(id))
      const { budget = {}, instructions } = readSettings(row)
      const below = await descendants(store, row.key)
      const keys = new Set([row.key, ...below.map(({ key }) => key)])
      const turns = await Promise.all([row, ...below].map(({ sessionId }) => store.turns.list({ sessionId })))
      return {
        ...info,
        used: { own: own.get(row.sessionId) ?? NOTHING, subtree, turns: turns.flat().length, children: below.length },
        budget,
        left: await state.budgets.left(row),
        context: { messageCount: info.messageCount, systemPrompt: instructions !== undefined },
        questions: questions.filter(({ agentId }) => keys.has(agentId)),
      }
    },
    async tree(id) {
      const rows = await list()
      const all = treesOf(await infos(rows), rows)
      if (id === undefined) return all
      const row = await reach.findSelf(id)
      const below = await descendants(store, row.key)
      const part = [row, ...below.filter(({ endedAt }) => endedAt === undefined)]
      return treesOf(await infos(part), part)
    },
    async messages(id, { offset = 0, limit = TRANSCRIPT_LIMIT } = {}): Promise<Transcript> {
      const { sessionId } = await reach.findSelf(id)
      const all = await store.sessions.messages(sessionId)
      return { sessionId, total: all.length, offset, messages: all.slice(offset, offset + limit) }
    },
    async resume(id, request = {}): Promise<readonly TurnResult[]> {
      const row = await reach.find(id)
      const { agent } = await opened.open(row)
      const signal = untilClosed(state, row.key, request.signal)
      return state.work.running(row.key, agent.takeOver({ ...request, signal }))
    },
    async compact(id, request = {}): Promise<TurnResult> {
      const row = await reach.find(id)
      const { agent } = await opened.open(row)
      const signal = untilClosed(state, row.key, request.signal)
      return state.work.running(row.key, agent.compact({ ...request, signal }))
    },
    async context(id) {
      const { agent } = await opened.open(await reach.findSelf(id))
      return agent.context()
    },
  }
}

const NOTHING = { steps: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 }

async function descendants({ agents }: Store, key: string): Promise<readonly AgentRecord[]> {
  const all = await agents.list()
  const below = (parent: string): readonly AgentRecord[] =>
    all.filter((row) => row.parent === parent).flatMap((row) => [row, ...below(row.key)])
  return below(key)
}

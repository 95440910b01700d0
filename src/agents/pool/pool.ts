import { DEFAULTS, isNexusError, type NexusError } from '../../kernel/index.ts'
import type { AgentRecord } from '../../store/index.ts'
import { createAccess } from './access.ts'
import { createBudgets } from './budgets.ts'
import { infosOf } from './info.ts'
import { createOpened, narrowing } from './opened.ts'
import { createPlaces } from './places.ts'
import { readSettings } from './settings.ts'
import type { PoolState } from './pool-state.ts'
import { createNexusTools } from './tools.ts'
import { createWork } from './work.ts'
import type { Pool, PoolEvent, PoolOptions, Restored } from './types.ts'

/** The lease that says that the process of a temporary agent lives. */
const lifeLease = (key: string): string => `agent:${key}`

/** Makes a pool over a runtime. Nothing is read or written before the first use. */
export function createPool(options: PoolOptions): Pool {
  const { runtime } = options
  const { store } = runtime
  const work = createWork()
  const listeners = new Set<(event: PoolEvent) => void>()
  /** Temporary agents of this process. */
  const own = new Map<string, () => Promise<void>>()

  const budgets = createBudgets(options)
  const places = createPlaces(options.config?.limits.maxRunning ?? DEFAULTS.maxRunning)
  const say = (event: PoolEvent): void => {
    for (const listener of listeners) listener(event)
  }
  const opened = createOpened(options, {
    equip: (handle) => {
      const access = createAccess(state, { key: handle.key, sessionId: handle.sessionId })
      const { serving, others } = options
      for (const tool of createNexusTools({ access, serving, others, agentKey: handle.key }))
        handle.registry.register(tool.name, () => tool, { owner: 'nexus' })
    },
    isWorking: work.isRunning,
    hooksOf: (agent) => ({ beforeStep: () => budgets.check(agent), enterModel: places.enter }),
    onEvent: ({ id, key, path }, event) => say({ agentId: id, key, path, event }),
  })
  let lastMade: Promise<unknown> = Promise.resolve()
  const state: PoolState = {
    options,
    opened,
    budgets,
    work,
    inOrder: (make) => {
      const made = lastMade.then(make)
      lastMade = made.catch(() => undefined)
      return made
    },
    announce: ({ id, key, path }, type) => say({ agentId: id, key, path, event: { type } }),
    async own({ key, isTemporary }) {
      if (!isTemporary) return
      const kept = await runtime.openAgent().keepLease(lifeLease(key))
      if (kept) own.set(key, () => kept.release())
    },
  }

  /** A temporary agent goes with its process, unless a turn of it waits for an answer. */
  async function endUnlessWaiting(row: AgentRecord): Promise<boolean> {
    const waiting = await store.turns.list({ sessionId: row.sessionId, states: ['waiting'] })
    if (waiting.length > 0) return false
    await store.agents.end(row.key)
    return true
  }

  async function restore(): Promise<Restored> {
    await store.reclaim()
    const ended: string[] = []
    const failed: { id: string; error: NexusError }[] = []
    const rows: AgentRecord[] = []
    for (const row of await store.agents.list({ isLiving: true })) {
      const isLeft = row.isTemporary && !own.has(row.key) && (await isDead(row))
      if (isLeft && (await endUnlessWaiting(row))) {
        ended.push(row.id)
        continue
      }
      try {
        await narrowing(runtime, row, readSettings(row))
        runtime.openAgent({ row })
        rows.push(row)
      } catch (error) {
        if (!isNexusError(error)) throw error
        failed.push({ id: row.id, error })
      }
    }
    return { agents: await infosOf(store, rows, options), ended, failed }
  }

  /** Its turn stays as it is, and so do those of the agents that wait for it. */
  async function leave(key: string): Promise<void> {
    work.leave(key)
    for (const above of await store.agents.chain(key).catch(() => [])) work.leave(above.key)
  }

  async function isDead(row: AgentRecord): Promise<boolean> {
    const kept = await runtime.openAgent().keepLease(lifeLease(row.key))
    await kept?.release()
    return kept !== undefined
  }

  return {
    ...createAccess(state, undefined),
    as: ({ key, sessionId }) => createAccess(state, { key, sessionId }),
    configured: ({ id = runtime.agents[0]?.id ?? '', sessionId }) => opened.configured({ id, sessionId }),
    restore,
    listen(listener, filter) {
      const hear = (event: PoolEvent): void => {
        if (!filter || event.path.split('/').includes(filter.id)) listener(event)
      }
      listeners.add(hear)
      return () => void listeners.delete(hear)
    },
    async close({ drain = false, leavesQuestions = false } = {}) {
      if (leavesQuestions) runtime.approvals.leave((key) => void leave(key))
      if (!drain) work.close()
      await work.settled()
      work.close()
      for (const [key, release] of own) {
        const row = await store.agents.get(key)
        if (row && row.endedAt === undefined && !work.isLeft(key)) await endUnlessWaiting(row)
        await release()
      }
      own.clear()
      listeners.clear()
    },
  }
}

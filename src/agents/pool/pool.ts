import { isNexusError, type NexusError } from '../../kernel/index.ts'
import type { AgentRecord } from '../../store/index.ts'
import { createAccess } from './access.ts'
import { infosOf } from './info.ts'
import { createOpened, narrowing } from './opened.ts'
import { readSettings } from './settings.ts'
import type { PoolState } from './pool-state.ts'
import type { Pool, PoolEvent, PoolOptions, Restored } from './types.ts'

/** The lease that says that the process of a temporary agent lives. */
const lifeLease = (key: string): string => `agent:${key}`

/** Makes a pool over a runtime. Nothing is read or written before the first use. */
export function createPool(options: PoolOptions): Pool {
  const { runtime, model } = options
  const { store } = runtime
  const closing = new AbortController()
  const working = new Set<Promise<unknown>>()
  const listeners = new Set<(event: PoolEvent) => void>()
  /** Temporary agents of this process. */
  const own = new Map<string, () => Promise<void>>()

  const say = (event: PoolEvent): void => {
    for (const listener of listeners) listener(event)
  }
  const opened = createOpened(options, {
    equip: () => undefined,
    onEvent: ({ id, key, path }, event) => say({ agentId: id, key, path, event }),
  })
  const shared: PoolState = {
    options,
    opened,
    closing: closing.signal,
    track: (work) => {
      const settled = work.then(
        () => undefined,
        () => undefined,
      )
      working.add(settled)
      void settled.then(() => working.delete(settled))
      return work
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
    return { agents: await infosOf(store, rows, model.describe), ended, failed }
  }

  async function isDead(row: AgentRecord): Promise<boolean> {
    const kept = await runtime.openAgent().keepLease(lifeLease(row.key))
    await kept?.release()
    return kept !== undefined
  }

  return {
    ...createAccess(shared, undefined),
    as: ({ key, sessionId }) => createAccess(shared, { key, sessionId }),
    configured: ({ id = runtime.agents[0]?.id ?? '', sessionId }) => opened.configured({ id, sessionId }),
    restore,
    listen(listener, filter) {
      const hear = (event: PoolEvent): void => {
        if (!filter || event.path.split('/').includes(filter.id)) listener(event)
      }
      listeners.add(hear)
      return () => void listeners.delete(hear)
    },
    async close({ drain = false } = {}) {
      if (!drain) closing.abort()
      while (working.size > 0) await Promise.all(working)
      closing.abort()
      for (const [key, release] of own) {
        const row = await store.agents.get(key)
        if (row && row.endedAt === undefined) await endUnlessWaiting(row)
        await release()
      }
      own.clear()
      listeners.clear()
    },
  }
}

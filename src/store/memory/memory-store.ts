import { type Clock, systemClock } from '../../kernel/index.ts'
import type { Events } from '../events.ts'
import { checkEvent, checkLimit, checkName, checkNumber } from '../rules.ts'
import type { Store } from '../store.ts'
import { createMemoryApprovals } from './approvals.ts'
import { createMemoryBlobReferences } from './blobs.ts'
import { createMemoryLedger } from './ledger.ts'
import { closeAbandoned, createMemoryLeases } from './leases.ts'
import { addEvent, createRows, type Rows } from './rows.ts'
import { createMemorySessions } from './sessions.ts'
import { createMemoryTurns } from './turns.ts'

/** A store that forgets at the end of the process; the rest is as durable stores do it. For tests and throw-away runs. */
export function createMemoryStore(options: { readonly projectId: string; readonly clock?: Clock }): Store {
  const { clock = systemClock } = options
  const projectId = checkName('project id', options.projectId)
  const rows = createRows(projectId, () => Math.trunc(clock.now()))
  return {
    projectId,
    leases: createMemoryLeases(rows),
    sessions: createMemorySessions(rows),
    turns: createMemoryTurns(rows),
    ledger: createMemoryLedger(rows),
    approvals: createMemoryApprovals(rows),
    events: createMemoryEvents(rows),
    blobs: createMemoryBlobReferences(rows),
    reclaim: async () => closeAbandoned(rows),
    close: async () => {},
  }
}

function createMemoryEvents(rows: Rows): Events {
  return {
    async after(id, { sessionId, limit } = {}) {
      checkNumber('id', id)
      const most = checkLimit(limit)
      const matching = rows.events.filter((each) => each.id > id && (sessionId ?? each.sessionId) === each.sessionId)
      return matching.slice(0, most).map((each) => ({ ...each, references: { ...each.references } }))
    },
    last: async () => rows.events.at(-1)?.id ?? 0,
    append: async (event) => addEvent(rows, checkEvent(event)),
    async trim({ maxAgeMs, maxRows }) {
      const [age, most] = [maxAgeMs ?? Infinity, Math.max(1, maxRows ?? Infinity)]
      if (maxAgeMs !== undefined) checkNumber('maxAgeMs', maxAgeMs)
      if (maxRows !== undefined) checkNumber('maxRows', maxRows)
      const oldest = rows.now() - age
      const kept = rows.events.filter(({ at, id }) => at >= oldest || id === rows.last.event)
      kept.splice(0, Math.max(0, kept.length - most))
      const removed = rows.events.length - kept.length
      rows.events.splice(0, rows.events.length, ...kept)
      return removed
    },
    listen(listener) {
      rows.listeners.add(listener)
      return () => rows.listeners.delete(listener)
    },
  }
}

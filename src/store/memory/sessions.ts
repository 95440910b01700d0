import type { SessionRecord, Sessions, StoredMessage } from '../sessions.ts'
import { MESSAGES } from '../messages.ts'
import {
  checkLimit,
  checkName,
  checkSessionLease,
  messagesToJson,
  sessionEvents,
  storeError,
  toJson,
} from '../rules.ts'
import type { Lease } from '../leases.ts'
import { addEvent, assertOwned, fromJson, recordOf, type Rows, type SessionRow } from './rows.ts'

export function createMemorySessions(rows: Rows): Sessions {
  return {
    async create({ id, agentId, title, scope }) {
      checkName('session id', id)
      checkName('agent id', agentId)
      if (rows.sessions.has(id)) throw storeError('CONFLICT', MESSAGES.sessionExists({ id }))
      const now = rows.now()
      const times = { createdAt: now, updatedAt: now }
      const where = scope === undefined ? {} : { scope }
      const made = write(rows, { id, agentId, title, ...where, ...times, messageCount: 0, loaded: [] }, [])
      addEvent(rows, { type: 'session.created', agentId, sessionId: id })
      return made
    },
    async get(id) {
      const row = rows.sessions.get(id)
      return row && recordOf(row)
    },
    async list({ limit, scope } = {}) {
      const most = checkLimit(limit)
      const all = [...rows.sessions.values()].map(recordOf).reverse()
      const newestFirst = scope === undefined ? all : all.filter((record) => record.scope === scope)
      return newestFirst.sort((a, b) => b.updatedAt - a.updatedAt).slice(0, most)
    },
    async append(id, messages, lease) {
      const add = checkMessages(rows, { sessionId: id, lease, messages })
      add()
    },
    messages: async (id) => mustGet(rows, id).messages.map((text) => fromJson<StoredMessage>(text)),
    async update(id, { snapshot, loaded }, lease) {
      const row = mustGet(rows, id)
      assertOwned(rows, checkSessionLease(id, lease))
      const record = recordOf(row)
      const changed: SessionRecord = {
        ...record,
        ...(snapshot && { snapshot }),
        ...(loaded && { loaded }),
        updatedAt: later(rows, record),
      }
      const written = write(rows, changed, row.messages)
      for (const event of sessionEvents(record, { ...(snapshot && { snapshot }), ...(loaded && { loaded }) }))
        addEvent(rows, event)
      return written
    },
  }
}

/** Checks messages for the history of a session; the returned function adds them. */
export function checkMessages(
  rows: Rows,
  { sessionId, lease, messages }: { sessionId: string; lease: Lease; messages: readonly StoredMessage[] },
): () => void {
  const texts = messagesToJson(messages)
  const row = mustGet(rows, sessionId)
  assertOwned(rows, checkSessionLease(sessionId, lease))
  return () => {
    const record = recordOf(row)
    if (texts.length === 0) return
    row.messages.push(...texts)
    const last = row.messages.length
    write(rows, { ...record, messageCount: last, updatedAt: later(rows, record) }, row.messages)
    const references = { firstMessage: last - texts.length + 1, lastMessage: last }
    addEvent(rows, { type: 'session.messages', agentId: record.agentId, sessionId, references })
  }
}

function mustGet(rows: Rows, id: string): SessionRow {
  const row = rows.sessions.get(id)
  if (!row) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchSession({ id }))
  return row
}

function write(rows: Rows, record: SessionRecord, messages: string[]): SessionRecord {
  const row = { record: toJson('session', record), messages }
  rows.sessions.set(record.id, row)
  return recordOf(row)
}

function later(rows: Rows, { updatedAt }: { readonly updatedAt: number }): number {
  return Math.max(updatedAt, rows.now())
}

import type { SessionRecord, Sessions, StoredMessage } from '../sessions.ts'
import { MESSAGES } from '../messages.ts'
import { checkLimit, checkName, checkSessionLease, messagesToJson, storeError, toJson } from '../rules.ts'
import type { Lease } from '../leases.ts'
import { addEvent, assertOwned, fromJson, recordOf, type Rows, type SessionRow } from './rows.ts'

export function createMemorySessions(rows: Rows): Sessions {
  const mustGet = (id: string): SessionRow => {
    const row = rows.sessions.get(id)
    if (!row) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchSession({ id }))
    return row
  }
  const checkFence = (id: string, lease: Lease): void => {
    mustGet(id)
    assertOwned(rows, checkSessionLease(id, lease))
  }
  const write = (record: SessionRecord, messages: string[]): SessionRecord => {
    const row = { record: toJson('session', record), messages }
    rows.sessions.set(record.id, row)
    return recordOf(row)
  }
  return {
    async create({ id, agentId, title }) {
      checkName('session id', id)
      checkName('agent id', agentId)
      if (rows.sessions.has(id)) throw storeError('CONFLICT', MESSAGES.sessionExists({ id }))
      const now = rows.now()
      const times = { createdAt: now, updatedAt: now }
      const made = write({ id, agentId, title, ...times, messageCount: 0, loaded: [] }, [])
      addEvent(rows, { type: 'session.created', agentId, sessionId: id })
      return made
    },
    async get(id) {
      const row = rows.sessions.get(id)
      return row && recordOf(row)
    },
    async list({ limit } = {}) {
      const most = checkLimit(limit)
      const newestFirst = [...rows.sessions.values()].map(recordOf).reverse()
      return newestFirst.sort((a, b) => b.updatedAt - a.updatedAt).slice(0, most)
    },
    async append(id, messages, lease) {
      const texts = messagesToJson(messages)
      checkFence(id, lease)
      const row = mustGet(id)
      const record = recordOf(row)
      row.messages.push(...texts)
      write({ ...record, messageCount: row.messages.length, updatedAt: later(rows, record) }, row.messages)
      const last = row.messages.length
      const references = { firstMessage: last - texts.length + 1, lastMessage: last }
      if (texts.length > 0)
        addEvent(rows, { type: 'session.messages', agentId: record.agentId, sessionId: id, references })
    },
    messages: async (id) => mustGet(id).messages.map((text) => fromJson<StoredMessage>(text)),
    async update(id, { snapshot, loaded }, lease) {
      checkFence(id, lease)
      const row = mustGet(id)
      const record = recordOf(row)
      const changed: SessionRecord = {
        ...record,
        ...(snapshot && { snapshot }),
        ...(loaded && { loaded }),
        updatedAt: later(rows, record),
      }
      const written = write(changed, row.messages)
      addEvent(rows, { type: 'session.updated', agentId: record.agentId, sessionId: id })
      return written
    },
  }
}

function later(rows: Rows, { updatedAt }: { readonly updatedAt: number }): number {
  return Math.max(updatedAt, rows.now())
}

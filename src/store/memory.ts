import { type Clock, type LedgerEntry, systemClock } from '../kernel/index.ts'
import { currentOwner } from './owner.ts'
import {
  callExists,
  checkCall,
  checkLimit,
  checkName,
  INTERRUPTED,
  isAbandoned,
  messagesToJson,
  noSuchCall,
  noSuchSession,
  sessionExists,
  sessionNotIn,
  toJson,
} from './rules.ts'
import type { Ledger, SessionRecord, Sessions, Store, StoredMessage } from './store.ts'

/** Rows are kept as JSON text, so that callers can neither see nor cause later changes. */
interface Rows {
  readonly calls: Map<string, string>
  readonly sessions: Map<string, { record: string; readonly messages: string[] }>
}

/** A store that forgets at the end of the process; the rest is as durable stores do it. For tests and throw-away runs. */
export function createMemoryStore(options: {
  readonly projectId: string
  readonly clock?: Clock
  readonly owner?: string
}): Store {
  const { clock = systemClock, owner = currentOwner() } = options
  const projectId = checkName('project id', options.projectId)
  const rows: Rows = { calls: new Map(), sessions: new Map() }
  return {
    projectId,
    ledger: createLedger(rows, projectId, clock),
    sessions: createSessions(rows, clock),
    recover: async (isAlive) => recoverRows(rows, clock.now(), { opener: owner, isAlive }),
    close: async () => {},
  }
}

function createLedger({ calls }: Rows, projectId: string, clock: Clock): Ledger {
  const read = (callId: string): LedgerEntry | undefined => parse<LedgerEntry>(calls.get(callId))
  return {
    async open(call, decision, skill) {
      checkCall(projectId, call)
      if (calls.has(call.id)) throw callExists(call.id)
      const text = toJson('call', { call, decision, state: 'open', openedAt: clock.now(), skill })
      calls.set(call.id, text)
      return fromJson<LedgerEntry>(text)
    },
    async close(callId, outcome) {
      const entry = read(callId)
      if (!entry) throw noSuchCall(callId)
      if (entry.state !== 'open') return entry
      const text = toJson('outcome', { ...entry, state: 'closed', outcome, closedAt: clock.now() })
      calls.set(callId, text)
      return fromJson<LedgerEntry>(text)
    },
    get: async (callId) => read(callId),
    async list({ sessionId, turnId, limit } = {}) {
      const count = checkLimit(limit)
      const matching = [...calls.values()]
        .map((text) => fromJson<LedgerEntry>(text))
        .filter(({ call }) => sessionId === undefined || call.sessionId === sessionId)
        .filter(({ call }) => turnId === undefined || call.turnId === turnId)
      return count === undefined ? matching : matching.slice(Math.max(0, matching.length - count))
    },
  }
}

function createSessions({ sessions }: Rows, clock: Clock): Sessions {
  const mustFind = (id: string) => {
    const row = sessions.get(id)
    if (!row) throw noSuchSession(id)
    return { row, record: fromJson<SessionRecord>(row.record) }
  }
  return {
    async create({ id, agentId, title }) {
      checkName('session id', id)
      checkName('agent id', agentId)
      if (sessions.has(id)) throw sessionExists(id)
      const now = clock.now()
      const record: SessionRecord = {
        id,
        agentId,
        title: title.toWellFormed(),
        createdAt: now,
        updatedAt: now,
        messageCount: 0,
        state: 'idle',
      }
      sessions.set(id, { record: JSON.stringify(record), messages: [] })
      return record
    },
    get: async (id) => parse<SessionRecord>(sessions.get(id)?.record),
    async list({ limit } = {}) {
      const count = checkLimit(limit)
      const newestFirst = [...sessions.values()].map(({ record }) => fromJson<SessionRecord>(record)).reverse()
      return newestFirst.sort((a, b) => b.updatedAt - a.updatedAt).slice(0, count)
    },
    async append(id, messages) {
      const texts = messagesToJson(messages)
      const { row, record } = mustFind(id)
      row.messages.push(...texts)
      row.record = JSON.stringify({ ...record, messageCount: row.messages.length, updatedAt: later(record, clock) })
    },
    messages: async (id) => mustFind(id).row.messages.map((text) => fromJson<StoredMessage>(text)),
    async update(id, { state, owner, snapshot, expectedState }) {
      const { row, record } = mustFind(id)
      if (expectedState !== undefined && record.state !== expectedState) throw sessionNotIn(id, expectedState)
      const next = {
        ...record,
        state: state ?? record.state,
        snapshot: snapshot ?? record.snapshot,
        owner: owner === undefined ? record.owner : (owner ?? undefined),
        updatedAt: later(record, clock),
      }
      row.record = toJson('snapshot', next)
      return fromJson<SessionRecord>(row.record)
    },
  }
}

interface Liveness {
  readonly opener: string
  readonly isAlive: (owner: string) => boolean
}

function recoverRows({ calls, sessions }: Rows, now: number, { opener, isAlive }: Liveness): number {
  let closed = 0
  for (const [id, text] of calls) {
    const entry = fromJson<LedgerEntry>(text)
    if (entry.state !== 'open') continue
    const session = parse<SessionRecord>(sessions.get(entry.call.sessionId ?? '')?.record)
    const known = session && { state: session.state, owner: session.owner }
    if (!isAbandoned({ opener, session: known }, isAlive)) continue
    calls.set(id, JSON.stringify({ ...entry, state: 'interrupted', outcome: INTERRUPTED, closedAt: now }))
    closed += 1
  }
  for (const row of sessions.values()) {
    const { owner, ...record } = fromJson<SessionRecord>(row.record)
    if (record.state === 'running' && (owner === undefined || !isAlive(owner)))
      row.record = JSON.stringify({ ...record, state: 'idle' })
  }
  return closed
}

function later(record: SessionRecord, clock: Clock): number {
  return Math.max(record.updatedAt, clock.now())
}

/** The value of JSON text that this file wrote. */
function fromJson<T>(text: string): T {
  return JSON.parse(text) as T
}

function parse<T>(text: string | undefined): T | undefined {
  return text === undefined ? undefined : fromJson<T>(text)
}

import type { LedgerEntry } from '../../kernel/index.ts'
import { callExists, checkCall, checkLimit, INTERRUPTED, isAbandoned, noSuchCall, toJson } from '../rules.ts'
import type { Ledger } from '../store.ts'
import type { Row, Scope } from './connection.ts'
import { json, optionalJson, optionalText } from './columns.ts'

const INSERT = `insert into ledger_entries
    (project_id, seq, call_id, session_id, turn_id, opener, call, decision, skill, state, opened_at)
  select :projectId, coalesce(max(seq), 0) + 1, :callId, :sessionId, :turnId, :opener, :call, :decision, :skill, 'open', :now
  from ledger_entries where project_id = :projectId
  on conflict (project_id, call_id) do nothing`

/** Terminal states are final: only an open entry can be closed. */
const CLOSE = `update ledger_entries set state = :state, outcome = :outcome, closed_at = :now
  where project_id = :projectId and call_id = :callId and state = 'open'`

const GET = 'select * from ledger_entries where project_id = :projectId and call_id = :callId'

/** The newest `limit` rows; -1 means all. */
const LIST = {
  all: `select * from ledger_entries where project_id = :projectId order by seq desc limit :limit`,
  session: `select * from ledger_entries where project_id = :projectId and session_id = :sessionId
    order by seq desc limit :limit`,
  turn: `select * from ledger_entries where project_id = :projectId and turn_id = :turnId
    order by seq desc limit :limit`,
  both: `select * from ledger_entries where project_id = :projectId and session_id = :sessionId and turn_id = :turnId
    order by seq desc limit :limit`,
} as const

const OPEN_CALLS = `select entry.call_id, entry.opener, session.state, session.owner
  from ledger_entries as entry
  left join sessions as session on session.project_id = :projectId and session.id = entry.session_id
  where entry.project_id = :projectId and entry.state = 'open' order by entry.seq`

/** The ledger of one project. */
export function createSqliteLedger(scope: Scope): Ledger {
  const { connection, projectId, now, owner } = scope
  const get = (callId: string): LedgerEntry | undefined => {
    const row = connection.get(GET, { projectId, callId })
    return row && toEntry(scope, row)
  }
  const mustGet = (callId: string): LedgerEntry => {
    const entry = get(callId)
    if (!entry) throw noSuchCall(callId)
    return entry
  }
  return {
    async open(call, decision, skill) {
      checkCall(projectId, call)
      const inserted = connection.run(INSERT, {
        projectId,
        callId: call.id,
        sessionId: call.sessionId ?? null,
        turnId: call.turnId ?? null,
        opener: owner,
        call: toJson('call', call),
        decision: toJson('decision', decision),
        skill: skill ? toJson('skill', skill) : null,
        now: now(),
      })
      if (inserted === 0) throw callExists(call.id)
      return mustGet(call.id)
    },
    async close(callId, outcome) {
      connection.run(CLOSE, { projectId, callId, state: 'closed', outcome: toJson('outcome', outcome), now: now() })
      return mustGet(callId)
    },
    get: async (callId) => get(callId),
    async list({ sessionId, turnId, limit } = {}) {
      const values = { projectId, limit: checkLimit(limit) ?? -1 }
      const rows =
        sessionId !== undefined && turnId !== undefined
          ? connection.all(LIST.both, { ...values, sessionId, turnId })
          : sessionId !== undefined
            ? connection.all(LIST.session, { ...values, sessionId })
            : turnId !== undefined
              ? connection.all(LIST.turn, { ...values, turnId })
              : connection.all(LIST.all, values)
      return rows.reverse().map((row) => toEntry(scope, row))
    },
  }
}

/** Closes the open calls that nobody alive can close any more; returns how many. Runs inside a transaction. */
export function interruptAbandoned(scope: Scope, isAlive: (owner: string) => boolean): number {
  const { connection, projectId, now } = scope
  const abandoned = connection.all(OPEN_CALLS, { projectId }).filter((row) => {
    const state = optionalText(row.state)
    const session = state === undefined ? undefined : { state, owner: optionalText(row.owner) }
    return isAbandoned({ opener: optionalText(row.opener), session }, isAlive)
  })
  const outcome = toJson('outcome', INTERRUPTED)
  for (const { call_id: callId = null } of abandoned)
    connection.run(CLOSE, { projectId, callId, state: 'interrupted', outcome, now: now() })
  return abandoned.length
}

function toEntry({ connection: { path } }: Scope, row: Row): LedgerEntry {
  const outcome = optionalJson<LedgerEntry['outcome']>(path, row.outcome)
  const skill = optionalJson<LedgerEntry['skill']>(path, row.skill)
  return {
    call: json(path, row.call),
    decision: json(path, row.decision),
    state: String(row.state) as LedgerEntry['state'],
    ...(outcome && { outcome }),
    openedAt: Number(row.opened_at),
    ...(row.closed_at !== null && { closedAt: Number(row.closed_at) }),
    ...(skill && { skill }),
  }
}

import type { Decision, LedgerEntry, Outcome } from '../../kernel/index.ts'
import { MESSAGES } from '../messages.ts'
import {
  callEvent,
  checkLimit,
  checkNewCall,
  closedState,
  decisionEvent,
  OPEN_STATES,
  sessionOf,
  storeError,
  toJson,
} from '../rules.ts'
import type { Ledger } from '../store.ts'
import { openApproval } from './approvals.ts'
import { ALL_ROWS, defined, inList, json, optionalJson, optionalNumber } from './columns.ts'
import { assertOwned, fencing, OWNED } from './leases.ts'
import { endApproval, eventWord } from './reclaim.ts'
import type { Change, Row, Scope, Statements, Values } from './scope.ts'
import { addMessages } from './sessions.ts'

const INSERT = `insert into ledger_entries (project_id, call_id, agent_id, session_id, turn_id, origin, fence,
    call, decision, skill, state, outcome, opened_at, started_at, closed_at)
  select :projectId, :callId, :agentId, :sessionId, :turnId, :origin, :fence, :call, :decision, :skill, :state, :outcome,
    :now, case when :state = 'started' then :now end, case when :outcome is not null then :now end
  where ${OWNED}
  on conflict (project_id, call_id) do nothing`

const START = `update ledger_entries set state = 'started', decision = :decision, started_at = :now
  where project_id = :projectId and call_id = :callId and state = 'answered' and fence = :fence and ${OWNED}
    and exists (select 1 from approvals
      where approvals.project_id = :projectId and approvals.call_id = :callId and approvals.state = 'allowed')`

/** Closed states are final: only an entry in the state it was read in is closed. */
const CLOSE = `update ledger_entries
  set state = :state, outcome = :outcome, decision = coalesce(:decision, decision), closed_at = :now
  where project_id = :projectId and call_id = :callId and state = :from
    and fence = :fence and ${OWNED}`

const GET = 'select * from ledger_entries where project_id = :projectId and call_id = :callId'

/** Within a text of JSON the quotes are escaped, so only the member itself is found. */
const SHADOWED = `and decision like '%"shadow":{%'`

/** The ledger of one project. */
export function createSqlLedger(scope: Scope): Ledger {
  const get = async (statements: Statements, callId: string): Promise<LedgerEntry | undefined> => {
    const row = await statements.get(GET, { callId })
    return row && toEntry(scope, row)
  }
  const mustGet = async (statements: Statements, callId: string): Promise<LedgerEntry> => {
    const entry = await get(statements, callId)
    if (!entry) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchCall({ callId }))
    return entry
  }
  const insert = async (tx: Change, { call, decision, state, skill, outcome }: Inserted, fence: Values) => {
    const inserted = await tx.run(INSERT, {
      ...fence,
      callId: call.id,
      agentId: call.agentId,
      sessionId: call.sessionId ?? null,
      turnId: call.turnId ?? null,
      origin: call.origin,
      call: toJson('call', call),
      decision: toJson('decision', decision),
      skill: skill ? toJson('skill', skill) : null,
      state,
      outcome: outcome ? toJson('outcome', outcome) : null,
    })
    if (inserted > 0) await decided(tx, call, decision)
    if (inserted > 0) await changed(tx, { call, state })
    return inserted > 0
  }
  return {
    async record(given) {
      const { call, decision, lease, skill, approval, outcome, message } = given
      const state = checkNewCall(scope.projectId, given)
      return scope.change(async (tx) => {
        if (!(await insert(tx, { call, decision, state, skill, outcome }, fencing(lease)))) {
          await assertOwned(tx, lease)
          throw storeError('CONFLICT', MESSAGES.callExists({ callId: call.id }))
        }
        if (state === 'asked' && approval) await openApproval(tx, { call, skill, approval })
        if (message) await addMessages(tx, { sessionId: sessionOf(call), lease, messages: [message] })
        return mustGet(tx, call.id)
      })
    },
    async start(callId, decision, lease) {
      const text = toJson('decision', decision)
      return scope.change(async (tx) => {
        const started = await tx.run(START, { ...fencing(lease), callId, decision: text })
        if (started === 0) await assertOwned(tx, lease)
        const entry = await mustGet(tx, callId)
        if (started === 0) throw storeError('CONFLICT', MESSAGES.callNotStarted({ callId, state: entry.state }))
        await decided(tx, entry.call, decision)
        await changed(tx, entry)
        return entry
      })
    },
    async close(callId, outcome, by) {
      return scope.change(async (tx) => {
        const entry = await mustGet(tx, callId)
        const isOpen = OPEN_STATES.includes(entry.state)
        const closed = isOpen ? await tx.run(CLOSE, closing(entry, outcome, by)) : 0
        if (closed === 0) await assertOwned(tx, by.lease)
        if (closed === 0 && isOpen)
          throw storeError('CONFLICT', MESSAGES.notYours({ what: 'call', id: callId, lease: by.lease }))
        if (closed === 0) return entry
        const now = await mustGet(tx, callId)
        if (by.decision) await decided(tx, now.call, by.decision)
        await changed(tx, now)
        await endApproval(tx, callId)
        if (by.message)
          await addMessages(tx, { sessionId: sessionOf(now.call), lease: by.lease, messages: [by.message] })
        return now
      })
    },
    get: (callId) => get(scope, callId),
    async list({ sessionId, turnId, agentId, origin, states, isShadowed, limit } = {}) {
      const wanted = { session_id: sessionId, turn_id: turnId, agent_id: agentId, origin }
      const narrowed = Object.entries(wanted).map(([column, value]) =>
        inList(column, value === undefined ? value : [value]),
      )
      const conditions = [inList('state', states), ...narrowed]
      const rows = await scope.all(
        `select * from ledger_entries where project_id = :projectId
          ${conditions.map(({ sql }) => sql).join(' ')} ${isShadowed ? SHADOWED : ''}
          order by seq desc limit :limit`,
        Object.assign({ limit: checkLimit(limit) ?? ALL_ROWS }, ...conditions.map(({ values }) => values)) as Values,
      )
      return rows.reverse().map((row) => toEntry(scope, row))
    },
  }
}

/** The values of `CLOSE`. */
function closing(entry: LedgerEntry, outcome: Outcome, by: Parameters<Ledger['close']>[2]): Values {
  return {
    ...fencing(by.lease),
    callId: entry.call.id,
    from: entry.state,
    state: closedState(entry.state, by.decision ?? entry.decision, outcome),
    outcome: toJson('outcome', outcome),
    decision: by.decision ? toJson('decision', by.decision) : null,
  }
}

type Inserted = Pick<LedgerEntry, 'call' | 'decision' | 'state'> & {
  readonly skill: LedgerEntry['skill']
  readonly outcome: LedgerEntry['outcome']
}

async function changed(tx: Change, { call, state }: Pick<LedgerEntry, 'call' | 'state'>): Promise<void> {
  await tx.event(callEvent(call, eventWord(state)))
}

async function decided(tx: Change, call: LedgerEntry['call'], decision: Decision): Promise<void> {
  await tx.event(decisionEvent(call, decision))
}

function toEntry(scope: Scope, row: Row): LedgerEntry {
  return defined<LedgerEntry>({
    call: json<LedgerEntry['call']>(scope, row.call),
    decision: json<LedgerEntry['decision']>(scope, row.decision),
    state: String(row.state) as LedgerEntry['state'],
    outcome: optionalJson<NonNullable<LedgerEntry['outcome']>>(scope, row.outcome),
    openedAt: Number(row.opened_at),
    startedAt: optionalNumber(row.started_at),
    closedAt: optionalNumber(row.closed_at),
    skill: optionalJson<NonNullable<LedgerEntry['skill']>>(scope, row.skill),
  })
}

import type { LedgerEntry, Outcome } from '../../kernel/index.ts'
import { MESSAGES } from '../messages.ts'
import {
  callEvent,
  checkNewCall,
  closedState,
  decisionEvent,
  OPEN_STATES,
  sessionOf,
  storeError,
  toJson,
  turnOf,
} from '../rules.ts'
import type { Ledger } from '../store.ts'
import { assertLiving } from './agents.ts'
import { openApproval } from './approvals.ts'
import { defined, filters, json, optionalJson, optionalNumber } from './columns.ts'
import { assertOwned, fencing, OWNED } from './leases.ts'
import { endApproval, eventWord } from './reclaim.ts'
import { type Change, listRows, type Row, type Scope, type Statements, type Values } from './scope.ts'
import { addMessages } from './sessions.ts'
import { addStep } from './turns.ts'

const INSERT = `insert into ledger_entries (project_id, call_id, agent_id, session_id, turn_id, origin, fence,
    call, decision, skill, state, outcome, idempotent, opened_at, started_at, closed_at)
  select :projectId, :callId, :agentId, :sessionId, :turnId, :origin, :fence, :call, :decision, :skill, :state, :outcome,
    :idempotent, :now, case when :state = 'started' then :now end, case when :outcome is not null then :now end
  where ${OWNED}
  on conflict (project_id, call_id) do nothing returning *`

const START = `update ledger_entries set state = 'started', decision = :decision, started_at = :now
  where project_id = :projectId and call_id = :callId and state = 'answered' and fence = :fence and ${OWNED}
    and exists (select 1 from approvals
      where approvals.project_id = :projectId and approvals.call_id = :callId and approvals.state = 'allowed')
  returning *`

/** Closed states are final: only an entry in the state it was read in is closed. */
const CLOSE = `update ledger_entries
  set state = :state, outcome = :outcome, decision = coalesce(:decision, decision), closed_at = :now
  where project_id = :projectId and call_id = :callId and state = :from
    and fence = :fence and ${OWNED}
  returning *`

const GET = 'select * from ledger_entries where project_id = :projectId and call_id = :callId'

/** Within a text of JSON the quotes are escaped, so only the member itself is found. */
const SHADOWED = `and decision like '%"shadow":{%'`

const LIST = { table: 'ledger_entries', key: 'call_id' }

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
  return {
    async record(given) {
      const { call, decision, lease, skill, approval, isIdempotent = false, outcome, message, step } = given
      const state = checkNewCall(scope.projectId, given)
      const values = {
        ...fencing(lease),
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
        idempotent: isIdempotent ? 1 : 0,
      }
      return scope.change(async (tx) => {
        if (!outcome) await assertLiving(tx, call.agentId)
        const row = await tx.get(INSERT, values)
        if (!row) {
          await assertOwned(tx, lease)
          const known = await tx.get(GET, { callId: call.id })
          if (known?.call === values.call) return { ...toEntry(scope, known), isRepeated: true }
          throw storeError('CONFLICT', MESSAGES.callExists({ callId: call.id }))
        }
        if (step) await addStep(scope, tx, { id: turnOf(call), lease, step })
        tx.event(decisionEvent(call, decision))
        await changed(tx, { call, state })
        if (state === 'asked' && approval) await openApproval(tx, { call, skill, approval })
        if (message) await addMessages(tx, sessionOf(call), lease, [message])
        return toEntry(scope, row)
      })
    },
    async start(callId, decision, lease) {
      const text = toJson('decision', decision)
      return scope.change(async (tx) => {
        const row = await tx.get(START, { ...fencing(lease), callId, decision: text })
        if (!row) {
          await assertOwned(tx, lease)
          const { state } = await mustGet(tx, callId)
          throw storeError('CONFLICT', MESSAGES.callNotStarted({ callId, state }))
        }
        const entry = toEntry(scope, row)
        await assertLiving(tx, entry.call.agentId)
        tx.event(decisionEvent(entry.call, decision))
        await changed(tx, entry)
        return entry
      })
    },
    async close(callId, outcome, by) {
      return scope.change(async (tx) => {
        const before = await mustGet(tx, callId)
        const isOpen = OPEN_STATES.includes(before.state)
        const row = isOpen ? await tx.get(CLOSE, closing(before, outcome, by)) : undefined
        if (!row) {
          await assertOwned(tx, by.lease)
          if (isOpen) throw storeError('CONFLICT', MESSAGES.notYours({ what: 'call', id: callId, lease: by.lease }))
          return before
        }
        const entry = toEntry(scope, row)
        if (by.decision) tx.event(decisionEvent(entry.call, by.decision))
        await changed(tx, entry)
        // A call starts when its approval is answered, so none of a started one is open.
        if (before.state !== 'started') await endApproval(tx, callId)
        if (by.message) await addMessages(tx, sessionOf(entry.call), by.lease, [by.message])
        return entry
      })
    },
    get: (callId) => get(scope, callId),
    async list({ sessionId, turnId, agentId, origin, states, isShadowed, ...page } = {}) {
      const named = { session_id: sessionId, turn_id: turnId, agent_id: agentId, origin, state: states }
      const { sql, values } = filters(named)
      const rows = await listRows(scope, LIST, { sql: isShadowed ? `${sql} ${SHADOWED}` : sql, values, ...page })
      return rows.map((row) => toEntry(scope, row))
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

async function changed(tx: Change, { call, state }: Pick<LedgerEntry, 'call' | 'state'>): Promise<void> {
  tx.event(callEvent(call, eventWord(state)))
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

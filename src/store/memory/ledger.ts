import type { LedgerEntry } from '../../kernel/index.ts'
import { MESSAGES } from '../messages.ts'
import { checkLimit, checkNewCall, closedState, decisionEvent, OPEN_STATES, sessionOf, storeError } from '../rules.ts'
import type { Ledger } from '../store.ts'
import { checkNewApproval, endApproval, openApproval } from './approvals.ts'
import { checkMessages } from './sessions.ts'
import { addEvent, assertOwned, callChanged, type CallRow, changeCall, frozen, newest, type Rows } from './rows.ts'

export function createMemoryLedger(rows: Rows): Ledger {
  const mustGet = (callId: string): CallRow => {
    const row = rows.calls.get(callId)
    if (!row) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchCall({ callId }))
    return row
  }
  const insert = (given: LedgerEntry, fence: number, approvalId?: string): LedgerEntry => {
    const entry = frozen('call', given)
    if (rows.calls.has(entry.call.id)) throw storeError('CONFLICT', MESSAGES.callExists({ callId: entry.call.id }))
    rows.calls.set(entry.call.id, {
      ...{ entry, state: entry.state, fence },
      ...(approvalId !== undefined && { approvalId }),
    })
    if (OPEN_STATES.includes(entry.state)) rows.openCalls.add(entry.call.id)
    addEvent(rows, decisionEvent(entry.call, entry.decision))
    callChanged(rows, entry.call, entry.state)
    return entry
  }
  return {
    async record(given) {
      const { call, decision, lease, skill, approval, outcome, message } = given
      const state = checkNewCall(rows.projectId, given)
      assertOwned(rows, lease)
      const answer = message && checkMessages(rows, { sessionId: sessionOf(call), lease, messages: [message] })
      const now = rows.now()
      const asked = state === 'asked' && approval ? checkNewApproval(rows, { call, skill, approval }) : undefined
      const times = { openedAt: now, ...(state === 'started' && { startedAt: now }), ...(outcome && { closedAt: now }) }
      const about = { ...(outcome && { outcome }), ...(skill && { skill }) }
      const entry = insert({ call, decision, state, ...about, ...times }, lease.fence, asked?.id)
      if (asked) openApproval(rows, call, asked)
      answer?.()
      return entry
    },
    async start(callId, decision, lease) {
      assertOwned(rows, lease)
      const row = mustGet(callId)
      const approval = rows.approvals.get(row.approvalId ?? '')
      if (row.state !== 'answered' || approval?.state !== 'allowed' || row.fence !== lease.fence)
        throw storeError('CONFLICT', MESSAGES.callNotStarted({ callId, state: row.state }))
      return changeCall(rows, callId, { decision, state: 'started', startedAt: rows.now() })
    },
    async close(callId, outcome, by) {
      const row = mustGet(callId)
      assertOwned(rows, by.lease)
      const { entry } = row
      if (!OPEN_STATES.includes(row.state)) return entry
      if (row.fence !== by.lease.fence)
        throw storeError('CONFLICT', MESSAGES.notYours({ what: 'call', id: callId, lease: by.lease }))
      const decision = by.decision ?? entry.decision
      const { lease, message } = by
      const answer = message && checkMessages(rows, { sessionId: sessionOf(entry.call), lease, messages: [message] })
      const state = closedState(row.state, decision, outcome)
      const closed = changeCall(rows, callId, {
        ...(by.decision && { decision }),
        state,
        outcome,
        closedAt: rows.now(),
      })
      endApproval(rows, row, closed.call)
      answer?.()
      return closed
    },
    async get(callId) {
      return rows.calls.get(callId)?.entry
    },
    async list({ sessionId, turnId, states, isShadowed, limit } = {}) {
      const most = checkLimit(limit)
      const matching = [...rows.calls.values()]
        .filter(({ state }) => states === undefined || states.includes(state))
        .map(({ entry }) => entry)
        .filter(({ call }) => sessionId === undefined || call.sessionId === sessionId)
        .filter(({ call }) => turnId === undefined || call.turnId === turnId)
        .filter(({ decision }) => !isShadowed || decision.shadow !== undefined)
      return newest(matching, most)
    },
  }
}

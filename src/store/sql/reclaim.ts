import type { NewEvent } from '../events.ts'
import { INTERRUPTED, NOT_RUN, toJson } from '../rules.ts'
import type { Reclaimed } from '../store.ts'
import { optionalText } from './columns.ts'
import type { Change, Row } from './scope.ts'

const END_EXPIRED = 'delete from leases where project_id = :projectId and expires_at <= :now'

const LEFT_CALLS = `select call_id, agent_id, session_id, state from ledger_entries
  where project_id = :projectId and state in ('asked', 'answered', 'started')
    and not exists (select 1 from leases where leases.project_id = :projectId and leases.fence = ledger_entries.fence)
  order by seq`

const CLOSE_CALL = `update ledger_entries set state = :state, outcome = :outcome, closed_at = :now
  where project_id = :projectId and call_id = :callId and state in ('asked', 'answered', 'started')`

const OVER_APPROVALS = `update approvals set state = 'not run'
  where project_id = :projectId and call_id = :callId and state = 'open' returning id, session_id`

const LEFT_TURNS = `update turns set state = 'interrupted', ended_at = :now
  where project_id = :projectId and state = 'running'
    and not exists (select 1 from leases where leases.project_id = :projectId and leases.fence = turns.fence)
  returning id, session_id`

/** See `Store.reclaim`. Runs inside a transaction. */
export async function closeAbandoned(tx: Change): Promise<Reclaimed> {
  await tx.run(END_EXPIRED)
  let approvals = 0
  const calls = await tx.all(LEFT_CALLS)
  for (const row of calls) {
    const callId = String(row.call_id)
    const hasStarted = row.state === 'started'
    const state = hasStarted ? 'interrupted' : 'not run'
    const outcome = toJson('outcome', hasStarted ? INTERRUPTED : NOT_RUN)
    await tx.run(CLOSE_CALL, { callId, state, outcome })
    await tx.event({ type: `call.${eventWord(state)}`, ...eventOwner(row), references: { callId } })
    approvals += await endApproval(tx, callId)
  }
  const turns = await tx.all(LEFT_TURNS)
  for (const row of turns)
    await tx.event({
      type: 'turn.interrupted',
      ...eventOwner(row),
      references: { turnId: String(row.id) },
    })
  return { calls: calls.length, turns: turns.length, approvals }
}

/** Sets the open approval of a call that ended to `not run`; returns how many there were. */
export async function endApproval(tx: Change, callId: string): Promise<number> {
  const ended = await tx.all(OVER_APPROVALS, { callId })
  for (const row of ended) {
    const references = { approvalId: String(row.id), callId }
    await tx.event({ type: 'approval.not-run', ...eventOwner(row), references })
  }
  return ended.length
}

/** A state as a word of an event type. */
export function eventWord(state: string): string {
  return state.replace(' ', '-')
}

/** The agent and the session of a row, for its event. */
export function eventOwner(row: Row): Pick<NewEvent, 'agentId' | 'sessionId'> {
  return { agentId: optionalText(row.agent_id), sessionId: optionalText(row.session_id) }
}

import type { NewEvent } from '../events.ts'
import { isProcessGone } from '../processes.ts'
import { INTERRUPTED, NOT_RUN, sessionOfLease, toJson } from '../rules.ts'
import type { Reclaimed } from '../store.ts'
import { optionalText } from './columns.ts'
import type { Change, Row, Scope, Statements } from './scope.ts'

const END_GONE = 'delete from leases where project_id = :projectId and fence = :fence returning name, fence'

const END_EXPIRED = `delete from leases where project_id = :projectId and held_by is null and expires_at <= :now
  returning name, fence`

const END_HELD = `delete from leases where project_id = :projectId and held_by is not null
    and not exists (select 1 from leases as holder where holder.project_id = :projectId and holder.fence = leases.held_by)
  returning name, fence`

const LEFT_MESSAGES = `select id, session_id from turns
  where project_id = :projectId and state = 'queued' and queued_fence = :fence order by seq`

/** The calls of a turn that waits are no longer their owner's to end. */
const LEFT_CALLS = `select call_id, agent_id, session_id, state from ledger_entries
  where project_id = :projectId and state in ('asked', 'answered', 'started')
    and not exists (select 1 from leases where leases.project_id = :projectId and leases.fence = ledger_entries.fence)
    and not exists (select 1 from turns
      where turns.project_id = :projectId and turns.id = ledger_entries.turn_id and turns.state = 'waiting')
  order by seq`

const CALLS_OF_TURN = `select call_id, agent_id, session_id, state from ledger_entries
  where project_id = :projectId and turn_id = :turnId and state in ('asked', 'answered', 'started') order by seq`

const CLOSE_CALL = `update ledger_entries set state = :state, outcome = :outcome, closed_at = :now
  where project_id = :projectId and call_id = :callId and state in ('asked', 'answered', 'started')`

const OVER_APPROVALS = `update approvals set state = 'not run'
  where project_id = :projectId and call_id = :callId and state = 'open' returning id, session_id`

/** A turn none of whose open calls began can go on from the answers, and idempotent ones are made again. Without an open call it cannot. */
const LEFT_TURNS = `update turns set
    state = case when exists (select 1 from ledger_entries where ledger_entries.project_id = :projectId
        and ledger_entries.turn_id = turns.id and ledger_entries.state in ('asked', 'answered', 'started'))
      and not exists (select 1 from ledger_entries where ledger_entries.project_id = :projectId
        and ledger_entries.turn_id = turns.id and ledger_entries.state = 'started' and ledger_entries.idempotent = 0)
      and cancel_requested = 0
      then 'waiting' else 'interrupted' end,
    ended_at = :now
  where project_id = :projectId and state = 'running'
    and not exists (select 1 from leases where leases.project_id = :projectId and leases.fence = turns.fence)
  returning id, session_id, state`

const IS_WAITING = `update turns set ended_at = null where project_id = :projectId and id = :turnId`

/** When its owner last wrote about it, since the end of a process leaves no time. */
const LEFT = `update turns set away = away || case when away = '' then '' else ',' end ||
    (select cast(max(at) as text) from (
      select started_at as at from turns where project_id = :projectId and id = :turnId
      union all select coalesce(closed_at, started_at, opened_at) as at from ledger_entries
        where project_id = :projectId and turn_id = :turnId
      union all select max(at) as at from session_messages where project_id = :projectId and session_id = :sessionId
    ) as written) || '-'
  where project_id = :projectId and id = :turnId`

const EXTEND = `update approvals set expires_at = :now + waiting_ttl_ms
  where project_id = :projectId and state = 'open' and call_id in
    (select call_id from ledger_entries where project_id = :projectId and turn_id = :turnId)`

const EXPIRE = `update approvals set state = 'expired'
  where project_id = :projectId and state = 'open' and expires_at <= :now returning id, call_id, session_id`

/** The processes that have leases; one row without a process where anything is due. Read first, so that looking writes nothing. */
const DUE = `select fence, process from leases where project_id = :projectId and process is not null
  union all select 0, null where
  exists (select 1 from leases where project_id = :projectId and held_by is null and expires_at <= :now)
  or exists (select 1 from approvals where project_id = :projectId and state = 'open' and expires_at <= :now)
  or exists (select 1 from turns where project_id = :projectId and state = 'running'
    and not exists (select 1 from leases where leases.project_id = :projectId and leases.fence = turns.fence))
  or exists (${LEFT_CALLS.replace(/ {2}order by seq$/, '')})`

/** See `Store.reclaim`. */
export async function reclaim(scope: Scope): Promise<Reclaimed> {
  if ((await due(scope)).length === 0) return { calls: 0, turns: 0, approvals: 0 }
  return (await scope.change(endDue)).reclaimed
}

/** Ends what owners left whose time is over, then questions whose time is over. Runs inside a transaction. */
export async function endDue(tx: Change): Promise<{ readonly reclaimed: Reclaimed; readonly expired: number }> {
  const rows = await due(tx)
  if (rows.length === 0) return { reclaimed: { calls: 0, turns: 0, approvals: 0 }, expired: 0 }
  return { reclaimed: await closeAbandoned(tx, rows), expired: await expireApprovals(tx) }
}

async function due(statements: Statements): Promise<Row[]> {
  return (await statements.all(DUE)).filter(({ process }) => process === null || isProcessGone(String(process)))
}

async function closeAbandoned(tx: Change, rows: readonly Row[]): Promise<Reclaimed> {
  for (const { fence } of rows) await released(tx, await tx.all(END_GONE, { fence: Number(fence) }))
  await released(tx, await tx.all(END_EXPIRED))
  const turns = await tx.all(LEFT_TURNS)
  for (const row of turns) {
    const turnId = String(row.id)
    await tx.run(LEFT, { turnId, sessionId: String(row.session_id) })
    if (row.state === 'waiting') {
      await tx.run(IS_WAITING, { turnId })
      await tx.run(EXTEND, { turnId })
    }
    tx.event({ type: `turn.${String(row.state)}`, ...eventOwner(row), references: { turnId } })
  }
  const calls = await tx.all(LEFT_CALLS)
  return { calls: calls.length, turns: turns.length, approvals: await closeCalls(tx, calls) }
}

/** Ends what was under the leases too. Who waits for a session, or behind a message that was left, learns it. */
export async function released(tx: Change, leases: readonly Row[]): Promise<void> {
  const held = leases.length > 0 ? await tx.all(END_HELD) : []
  for (const { name, fence } of [...leases, ...held]) {
    const sessionId = sessionOfLease(String(name))
    if (sessionId !== undefined) tx.event({ type: 'session.released', sessionId })
    for (const row of await tx.all(LEFT_MESSAGES, { fence: Number(fence) }))
      tx.event({ type: 'turn.left', ...eventOwner(row), references: { turnId: String(row.id) } })
  }
}

/** Ends the calls of a turn that waited and was cancelled; returns their ids. */
export async function closeCallsOfTurn(tx: Change, turnId: string): Promise<readonly string[]> {
  const calls = await tx.all(CALLS_OF_TURN, { turnId })
  await closeCalls(tx, calls)
  return calls.map((row) => String(row.call_id))
}

/** Returns how many open questions ended with them. */
async function closeCalls(tx: Change, calls: readonly Row[]): Promise<number> {
  let approvals = 0
  for (const row of calls) {
    const callId = String(row.call_id)
    const hasStarted = row.state === 'started'
    const state = hasStarted ? 'interrupted' : 'not run'
    const outcome = toJson('outcome', hasStarted ? INTERRUPTED : NOT_RUN)
    await tx.run(CLOSE_CALL, { callId, state, outcome })
    tx.event({ type: `call.${eventWord(state)}`, ...eventOwner(row), references: { callId } })
    approvals += await endApproval(tx, callId)
  }
  return approvals
}

/** Sets open questions whose time is over to `expired`. A question of a dead process gets its longer time first. */
async function expireApprovals(tx: Change): Promise<number> {
  const rows = await tx.all(EXPIRE)
  for (const row of rows) {
    const references = { approvalId: String(row.id), callId: String(row.call_id) }
    tx.event({ type: 'approval.expired', ...eventOwner(row), references })
  }
  return rows.length
}

/** Sets the open approval of a call that ended to `not run`; returns how many there were. */
export async function endApproval(tx: Change, callId: string): Promise<number> {
  const ended = await tx.all(OVER_APPROVALS, { callId })
  for (const row of ended) {
    const references = { approvalId: String(row.id), callId }
    tx.event({ type: 'approval.not-run', ...eventOwner(row), references })
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

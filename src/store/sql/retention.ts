import { checkNumber } from '../rules.ts'
import type { Keep, Retained, Retention } from '../store.ts'
import { ALL_ROWS, filters } from './columns.ts'
import { trimEvents } from './events.ts'
import type { Change, Scope, Statements, Values } from './scope.ts'
import { NEEDED_SESSIONS, removeSession } from './sessions.ts'

/** Most rows of one part, and of one change in it: other writers and the event loop wait for no whole sweep. */
const [PART, SESSIONS_AT_ONCE, CALLS_AT_ONCE] = [200, 20, 100]

/** Nobody owns it or is asked, no message waits, and no living agent needs it. */
const IS_UNUSED = `not exists (select 1 from turns where turns.project_id = :projectId and turns.session_id = old.id
      and turns.state in ('queued', 'running', 'waiting'))
    and not exists (select 1 from approvals where approvals.project_id = :projectId and approvals.session_id = old.id
      and approvals.state = 'open')
    and not exists (select 1 from leases where leases.project_id = :projectId and leases.name = 'session:' || old.id)
    and old.id not in (${NEEDED_SESSIONS})`

const DATED = `select project_id, id, agent_id, seq, case when last_at > updated_at then last_at else updated_at end as used_at from (
    select project_id, id, agent_id, seq, updated_at, (select at from session_messages
        where session_messages.project_id = :projectId and session_messages.session_id = sessions.id
        order by session_messages.seq desc limit 1) as last_at
      from sessions where project_id = :projectId and (:id is null or id = :id)) as messaged`

/** The longest unused first. */
const OLD_SESSIONS = `select id, used_at from (
    select project_id, id, used_at, seq, row_number() over (order by used_at desc, seq desc) as place from (${DATED}) as dated) as old
  where project_id = :projectId and (used_at < :now - :maxAgeMs or place > :maxRows) and ${IS_UNUSED}
  order by used_at, seq limit :part`

/** Whether one of them is still as it was read. */
const IS_STILL_OLD = `select agent_id from (${DATED}) as old where project_id = :projectId and used_at = :usedAt and ${IS_UNUSED}`

/** Closed calls; those of a turn that goes on are read by whoever takes it. Only the oldest are looked at: they are in order of time. */
const OLD_CALLS = `select call_id, closed_at from (select * from ledger_entries where project_id = :projectId
      order by seq limit ${10 * PART}) as old
  where state not in ('asked', 'answered', 'started')
    and (closed_at < :now - :maxAgeMs or seq <= (select edge.seq from ledger_entries as edge
      where edge.project_id = :projectId order by edge.seq desc limit 1 offset :maxRows))
    and not exists (select 1 from turns where turns.project_id = :projectId and turns.id = old.turn_id
      and turns.state in ('queued', 'running', 'waiting'))
  order by seq limit :part`

/** See `Store.retain`. Reads first: where nothing is due, nothing is written. */
export async function retain(scope: Scope, { sessions, ledger }: Retention): Promise<Retained> {
  const old = await due(scope, OLD_SESSIONS, sessions)
  let removed = 0
  for (const rows of inChunks(old, SESSIONS_AT_ONCE)) removed += await scope.change((tx) => removeSessions(tx, rows))
  const calls = await due(scope, OLD_CALLS, ledger)
  for (const rows of inChunks(calls, CALLS_AT_ONCE)) await scope.change((tx) => removeCalls(tx, rows))
  // A session that is used again by now is no reason to look once more at once.
  return { sessions: removed, calls: calls.length, isMore: removed === PART || calls.length === PART }
}

type Rows = Awaited<ReturnType<Statements['all']>>

async function due(scope: Scope, sql: string, keep: Keep = {}): Promise<Rows> {
  const { maxAgeMs, maxRows } = keep
  if (maxAgeMs !== undefined) checkNumber('maxAgeMs', maxAgeMs)
  if (maxRows !== undefined) checkNumber('maxRows', maxRows)
  if (maxAgeMs === undefined && maxRows === undefined) return []
  const values: Values = { maxAgeMs: maxAgeMs ?? null, maxRows: maxRows ?? ALL_ROWS, part: PART }
  return scope.all(sql, sql === OLD_SESSIONS ? { ...values, id: null } : values)
}

/** Others have their turn between two. */
function* inChunks(rows: Rows, size: number): Iterable<Rows> {
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size)
}

async function removeSessions(tx: Change, rows: Rows): Promise<number> {
  let removed = 0
  for (const row of rows) {
    const id = String(row.id)
    const old = await tx.get(IS_STILL_OLD, { id, usedAt: Number(row.used_at) })
    if (!old) continue
    await removeSession(tx, id, String(old.agent_id))
    removed += 1
  }
  return removed
}

/** Events refer to calls: those up to the end of the removed ones go too, and `after` says so. */
async function removeCalls(tx: Change, rows: Rows): Promise<void> {
  const { sql, values } = filters({ call_id: rows.map((row) => String(row.call_id)) })
  for (const table of ['approvals', 'ledger_entries'])
    await tx.run(`delete from ${table} where project_id = :projectId ${sql}`, values)
  await trimEvents(tx, { until: Math.max(...rows.map((row) => Number(row.closed_at))) })
}

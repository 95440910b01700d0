import { checkNumber } from '../rules.ts'
import type { Keep, Retained, Retention } from '../store.ts'
import { ALL_ROWS, filters } from './columns.ts'
import { trimEvents } from './events.ts'
import type { Change, Scope, Statements, Values } from './scope.ts'
import { NEEDED_SESSIONS, removeSession } from './sessions.ts'

/** Most rows of one part, so that other writers and the event loop wait for no whole sweep. */
const [SESSIONS, CALLS] = [20, 200]

/** Sessions that are not used, the longest unused first: no message waits, nobody is asked or owns it, and no living agent needs it. */
const OLD_SESSIONS = `select id, agent_id from (
    select id, agent_id, used_at, seq, row_number() over (order by used_at desc, seq desc) as place from (
      select id, agent_id, seq, case when last_at > updated_at then last_at else updated_at end as used_at from (
        select id, agent_id, seq, updated_at, (select at from session_messages
            where session_messages.project_id = :projectId and session_messages.session_id = sessions.id
            order by session_messages.seq desc limit 1) as last_at
          from sessions where project_id = :projectId) as messaged) as dated) as placed
  where (used_at < :now - :maxAgeMs or place > :maxRows)
    and not exists (select 1 from turns where turns.project_id = :projectId and turns.session_id = placed.id
      and turns.state in ('queued', 'running', 'waiting'))
    and not exists (select 1 from approvals where approvals.project_id = :projectId and approvals.session_id = placed.id
      and approvals.state = 'open')
    and not exists (select 1 from leases where leases.project_id = :projectId and leases.name = 'session:' || placed.id)
    and id not in (${NEEDED_SESSIONS})
  order by used_at, seq limit :part`

/** Closed calls; those of a turn that goes on are read by whoever takes it. */
const OLD_CALLS = `select call_id, closed_at from ledger_entries
  where project_id = :projectId and state not in ('asked', 'answered', 'started')
    and (closed_at < :now - :maxAgeMs or seq <= (select edge.seq from ledger_entries as edge
      where edge.project_id = :projectId order by edge.seq desc limit 1 offset :maxRows))
    and not exists (select 1 from turns where turns.project_id = :projectId and turns.id = ledger_entries.turn_id
      and turns.state in ('queued', 'running', 'waiting'))
  order by seq limit :part`

/** See `Store.retain`. Reads first: where nothing is due, nothing is written. */
export async function retain(scope: Scope, { sessions, ledger }: Retention): Promise<Retained> {
  const removed = {
    sessions: await removePart(scope, { sql: OLD_SESSIONS, keep: sessions, part: SESSIONS }, removeSessions),
    calls: await removePart(scope, { sql: OLD_CALLS, keep: ledger, part: CALLS }, removeCalls),
  }
  return { ...removed, isMore: removed.sessions === SESSIONS || removed.calls === CALLS }
}

type Rows = Awaited<ReturnType<Statements['all']>>

async function removePart(
  scope: Scope,
  { sql, keep, part }: { readonly sql: string; readonly keep: Keep | undefined; readonly part: number },
  remove: (tx: Change, rows: Rows) => Promise<void>,
): Promise<number> {
  const { maxAgeMs, maxRows } = keep ?? {}
  if (maxAgeMs !== undefined) checkNumber('maxAgeMs', maxAgeMs)
  if (maxRows !== undefined) checkNumber('maxRows', maxRows)
  if (maxAgeMs === undefined && maxRows === undefined) return 0
  const values: Values = { maxAgeMs: maxAgeMs ?? null, maxRows: maxRows ?? ALL_ROWS, part }
  if (!(await scope.get(sql, { ...values, part: 1 }))) return 0
  return scope.change(async (tx) => {
    const rows = await tx.all(sql, values)
    if (rows.length > 0) await remove(tx, rows)
    return rows.length
  })
}

async function removeSessions(tx: Change, rows: Rows): Promise<void> {
  for (const { id, agent_id } of rows) await removeSession(tx, String(id), String(agent_id))
}

/** Events refer to calls: those up to the end of the removed ones go too, and `after` says so. */
async function removeCalls(tx: Change, rows: Rows): Promise<void> {
  const { sql, values } = filters({ call_id: rows.map((row) => String(row.call_id)) })
  for (const table of ['approvals', 'ledger_entries'])
    await tx.run(`delete from ${table} where project_id = :projectId ${sql}`, values)
  await trimEvents(tx, { until: Math.max(...rows.map((row) => Number(row.closed_at))) })
}

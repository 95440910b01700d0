import type { EventReferences, Events, StoredEvent } from '../events.ts'
import { MESSAGES } from '../messages.ts'
import { checkEvent, checkLimit, checkNumber, storeError } from '../rules.ts'
import { ALL_ROWS, defined, filters, json, optionalText } from './columns.ts'
import { createFollow } from './follow.ts'
import { appendEvent, type Row, type Scope, type Statements } from './scope.ts'

const LAST = 'select id from events where project_id = :projectId order by id desc limit 1'

/** The newest stays, so that its id is never used again. */
const UP_TO = `select max(id) as id from events where project_id = :projectId and id < :last and (at < :now - :maxAgeMs
  or at <= :until or id <= (select id from events where project_id = :projectId order by id desc limit 1 offset :maxRows))`

const TRIM = 'delete from events where project_id = :projectId and id <= :upTo'

/** One row at least, which has how far the log was trimmed. */
const AFTER = `select events.*, edge.trimmed from
    (select coalesce((select last_event from trims where project_id = :projectId), 0) as trimmed) as edge
  left join events on project_id = :projectId and id > :id`

const SET_TRIMMED = `insert into trims (project_id, last_event) values (:projectId, :upTo)
  on conflict (project_id) do update set last_event = excluded.last_event`

/**
 * The log of one project. An id is taken while no other change of the project can commit (SQLite has one writer at a time,
 * Postgres a lock per project), so ids grow in the order of commits.
 */
export function createSqlEvents(scope: Scope): Events {
  const log: Pick<Events, 'after' | 'last'> = {
    async after(id, { sessionId, limit } = {}) {
      const { sql, values } = filters({ session_id: sessionId })
      const given = { ...values, id: checkNumber('id', id), limit: checkLimit(limit) ?? ALL_ROWS }
      const rows = await scope.all(`${AFTER} ${sql} order by id limit :limit`, given)
      const last = Number(rows[0]?.trimmed)
      if (id > 0 && id < last) throw storeError('CONFLICT', MESSAGES.eventsTrimmed({ id, last }))
      return rows.filter((row) => row.id !== null).map((row) => toEvent(scope, row))
    },
    last: async () => Number((await scope.get(LAST))?.id ?? 0),
  }
  return {
    ...log,
    async append(event) {
      const checked = checkEvent(event)
      return toEvent(scope, await scope.change((tx) => appendEvent(tx, checked)))
    },
    async trim({ maxAgeMs, maxRows }) {
      if (maxAgeMs !== undefined) checkNumber('maxAgeMs', maxAgeMs)
      if (maxRows !== undefined) checkNumber('maxRows', maxRows)
      return scope.change((tx) => trimEvents(tx, { maxAgeMs, maxRows }))
    },
    follow: createFollow(log, (listener) => scope.onWake(listener)),
  }
}

/** `until`: those of that time and before, in epoch milliseconds. */
export async function trimEvents(
  tx: Statements,
  {
    maxAgeMs = null,
    maxRows = ALL_ROWS,
    until = null,
  }: Readonly<Partial<Record<'maxAgeMs' | 'maxRows' | 'until', number | null | undefined>>>,
): Promise<number> {
  const last = Number((await tx.get(LAST))?.id ?? 0)
  const upTo = Number(
    (await tx.get(UP_TO, { last, maxAgeMs, until, maxRows: Math.max(1, maxRows ?? ALL_ROWS) }))?.id ?? 0,
  )
  if (upTo === 0) return 0
  await tx.run(SET_TRIMMED, { upTo })
  return tx.run(TRIM, { upTo })
}

function toEvent(scope: Scope, row: Row): StoredEvent {
  return defined<StoredEvent>({
    id: Number(row.id),
    projectId: scope.projectId,
    at: Number(row.at),
    type: String(row.type),
    agentId: optionalText(row.agent_id),
    sessionId: optionalText(row.session_id),
    references: json<EventReferences>(scope, row.refs),
  })
}

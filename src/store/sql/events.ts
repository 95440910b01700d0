import type { EventReferences, Events, StoredEvent } from '../events.ts'
import { checkEvent, checkLimit, checkNumber } from '../rules.ts'
import { ALL_ROWS, defined, filters, json, optionalText } from './columns.ts'
import { createFollow } from './follow.ts'
import type { Row, Scope } from './scope.ts'

const LAST = 'select id from events where project_id = :projectId order by id desc limit 1'

const TRIM_AGE = 'delete from events where project_id = :projectId and at < :now - :maxAgeMs and id < :last'

const TRIM_ROWS = `delete from events where project_id = :projectId and id <= (
  select id from events where project_id = :projectId order by id desc limit 1 offset :maxRows)`

/**
 * The log of one project. An id is taken while no other change of the project can commit (SQLite has one writer at a time,
 * Postgres a lock per project), so ids grow in the order of commits.
 */
export function createSqlEvents(scope: Scope): Events {
  const log: Pick<Events, 'after' | 'last'> = {
    async after(id, { sessionId, limit } = {}) {
      const { sql, values } = filters({ session_id: sessionId })
      const rows = await scope.all(
        `select * from events where project_id = :projectId and id > :id ${sql} order by id limit :limit`,
        { ...values, id: checkNumber('id', id), limit: checkLimit(limit) ?? ALL_ROWS },
      )
      return rows.map((row) => toEvent(scope, row))
    },
    last: async () => Number((await scope.get(LAST))?.id ?? 0),
  }
  return {
    ...log,
    async append(event) {
      const checked = checkEvent(event)
      return scope.change((tx) => tx.event(checked))
    },
    async trim({ maxAgeMs, maxRows }) {
      if (maxAgeMs !== undefined) checkNumber('maxAgeMs', maxAgeMs)
      if (maxRows !== undefined) checkNumber('maxRows', maxRows)
      return scope.change(async (tx) => {
        const last = Number((await tx.get(LAST))?.id ?? 0)
        const old = maxAgeMs === undefined ? 0 : await tx.run(TRIM_AGE, { maxAgeMs, last })
        return old + (maxRows === undefined ? 0 : await tx.run(TRIM_ROWS, { maxRows: Math.max(1, maxRows) }))
      })
    },
    follow: createFollow(log, (listener) => scope.onWake(listener)),
  }
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

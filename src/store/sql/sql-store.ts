import type { Store } from '../store.ts'
import { createSqlAgents } from './agents.ts'
import { createSqlApprovals } from './approvals.ts'
import { createSqlBlobReferences } from './blobs.ts'
import { createSqlEvents } from './events.ts'
import type { Wakes } from './follow.ts'
import { createSqlLeases } from './leases.ts'
import { createSqlLedger } from './ledger.ts'
import { reclaim } from './reclaim.ts'
import { retain } from './retention.ts'
import { type Connection, createScope } from './scope.ts'
import { createSqlSessions } from './sessions.ts'
import { createSqlTurns } from './turns.ts'

/** A store over an open database that has the schema. The statements are of the SQL that SQLite and Postgres share. */
export function createSqlStore(connection: Connection, projectId: string, wakes: Wakes): Store {
  const scope = createScope(connection, projectId, wakes)
  return {
    projectId,
    leases: createSqlLeases(scope),
    agents: createSqlAgents(scope),
    sessions: createSqlSessions(scope),
    turns: createSqlTurns(scope),
    ledger: createSqlLedger(scope),
    approvals: createSqlApprovals(scope),
    events: createSqlEvents(scope),
    blobs: createSqlBlobReferences(scope),
    reclaim: () => reclaim(scope),
    retain: (retention) => retain(scope, retention),
    close: () => connection.close(),
  }
}

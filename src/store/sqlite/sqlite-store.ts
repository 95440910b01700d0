import { systemClock } from '../../kernel/index.ts'
import { currentOwner } from '../owner.ts'
import { checkName } from '../rules.ts'
import type { SqliteStoreOptions, Store } from '../store.ts'
import { openConnection, type Scope } from './connection.ts'
import { createSqliteLedger, interruptAbandoned } from './ledger.ts'
import { migrate } from './migrations.ts'
import { createSqliteSessions, idleAbandoned } from './sessions.ts'

/** See `openSqliteStore`. */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { clock = systemClock, owner = currentOwner() } = options
  const projectId = checkName('project id', options.projectId)
  const connection = await openConnection(options.path)
  try {
    migrate(connection, clock.now())
  } catch (error) {
    connection.close()
    throw error
  }
  const scope: Scope = { connection, projectId, owner, now: () => Math.trunc(clock.now()) }
  return {
    projectId,
    ledger: createSqliteLedger(scope),
    sessions: createSqliteSessions(scope),
    recover: async (isAlive) =>
      connection.transaction(() => {
        const closed = interruptAbandoned(scope, isAlive)
        idleAbandoned(scope, isAlive)
        return closed
      }),
    close: async () => connection.close(),
  }
}

import { checkName } from '../rules.ts'
import { migrate } from '../sql/migrate.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { PostgresStoreOptions, Store } from '../store.ts'
import { createPostgresConnection, statementsOf } from './connection.ts'
import { type Connections, openPool, POOL_LIMITS } from './pool.ts'
import { postgresSchema } from './schema.ts'
import { ConnectionLost, toStoreError } from './store-error.ts'
import { POSTGRES } from '../messages.ts'
import { storeError } from '../rules.ts'
import type { Connection, Statements } from '../sql/scope.ts'

/** See `openPostgresStore`. */
export async function createPostgresStore({ url, projectId, clock, pool }: PostgresStoreOptions): Promise<Store> {
  checkName('project id', projectId)
  const connections = await openPool(url, { ...POOL_LIMITS, ...pool })
  try {
    await migrate(plainConnection(connections), postgresSchema(connections.target))
  } catch (error) {
    await connections.close()
    throw error instanceof ConnectionLost ? toStoreError(connections.target, error) : error
  }
  const connection = createPostgresConnection(connections, { projectId, clock })
  await connection.run(FORGET_OLD_WRITERS, { projectId })
  return createSqlStore(connection, projectId)
}

/** Of processes that were killed. */
const FORGET_OLD_WRITERS = 'delete from writers where project_id = :projectId and at < :now - 86400000'

/** A connection for the schema: no project, and no second attempt, so that a wrong address is reported at once. */
export function plainConnection(connections: Connections): Connection {
  const { target } = connections
  const direct = <T>(work: (statements: Statements) => Promise<T>): Promise<T> =>
    connections.use((query) => work(statementsOf(query, undefined)))
  return {
    run: (sql, values) => direct((statements) => statements.run(sql, values)),
    get: (sql, values) => direct((statements) => statements.get(sql, values)),
    all: (sql, values) => direct((statements) => statements.all(sql, values)),
    transaction: (work) =>
      connections.use(async (query) => {
        await query('begin; set local statement_timeout = 0')
        try {
          const result = await work(statementsOf(query, undefined))
          await query('commit')
          return result
        } catch (error) {
          await query('rollback').catch(() => {})
          throw error
        }
      }),
    damaged: (cause) => storeError('STORE_FAILED', POSTGRES.damaged(target), cause),
    description: POSTGRES.description(target),
    close: () => connections.close(),
  }
}

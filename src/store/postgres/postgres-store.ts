import { checkName } from '../rules.ts'
import { migrate } from '../sql/migrate.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { PostgresStoreOptions, Store } from '../store.ts'
import { createPostgresConnection } from './connection.ts'
import { plainConnection } from './plain-connection.ts'
import { openPool, POOL_LIMITS } from './pool.ts'
import { postgresSchema } from './schema.ts'
import { reported } from './store-error.ts'

/** Rows of processes that were killed. */
const FORGET_OLD_WRITERS = 'delete from writers where project_id = :projectId and at < :now - 86400000'

/** See `openPostgresStore`. */
export async function createPostgresStore({ url, projectId, clock, pool }: PostgresStoreOptions): Promise<Store> {
  checkName('project id', projectId)
  const connections = await openPool(url, { ...POOL_LIMITS, ...pool })
  const connection = createPostgresConnection(connections, { projectId, clock })
  try {
    await reported(connections.target, () => migrate(plainConnection(connections), postgresSchema(connections.target)))
    await connection.run(FORGET_OLD_WRITERS, { projectId })
  } catch (error) {
    await connections.close()
    throw error
  }
  return createSqlStore(connection, projectId)
}

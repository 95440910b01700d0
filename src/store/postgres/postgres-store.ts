import { checkName } from '../rules.ts'
import { migrate } from '../sql/migrate.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { Connection } from '../sql/scope.ts'
import type { Database, PostgresStoreOptions } from '../store.ts'
import { createPostgresConnection } from './connection.ts'
import { plainConnection } from './plain-connection.ts'
import { openPool, POOL_LIMITS } from './pool.ts'
import { postgresSchema } from './schema.ts'
import { reported } from './store-error.ts'

/** See `openDatabase`. */
export async function openPostgresDatabase(options: Omit<PostgresStoreOptions, 'projectId'>): Promise<Database> {
  const { url, clock, pool } = options
  const connections = await openPool(url, { ...POOL_LIMITS, ...pool })
  const opened = new Set<Connection>()
  try {
    await reported(connections.target, () => migrate(plainConnection(connections), postgresSchema(connections.target)))
  } catch (error) {
    await connections.close()
    throw error
  }
  return {
    project(projectId) {
      checkName('project id', projectId)
      const connection = createPostgresConnection(connections, { projectId, clock })
      opened.add(connection)
      const close = async (): Promise<void> => {
        opened.delete(connection)
        await connection.close()
      }
      return createSqlStore({ ...connection, close }, projectId)
    },
    async close() {
      await Promise.all([...opened].map((connection) => connection.close()))
      await connections.close()
    },
  }
}

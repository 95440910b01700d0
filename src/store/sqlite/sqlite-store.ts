import { systemClock } from '../../kernel/index.ts'
import { checkName } from '../rules.ts'
import { migrate } from '../sql/migrate.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { SqliteStoreOptions, Store } from '../store.ts'
import { openConnection } from './connection.ts'
import { SQLITE_SCHEMA } from './schema.ts'

/** See `openSqliteStore`. */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { clock = systemClock } = options
  const projectId = checkName('project id', options.projectId)
  const connection = await openConnection(options.path, clock)
  try {
    await migrate(connection, SQLITE_SCHEMA)
  } catch (error) {
    await connection.close()
    throw error
  }
  return createSqlStore(connection, projectId)
}

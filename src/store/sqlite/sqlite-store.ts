import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { systemClock } from '../../kernel/index.ts'
import type { StoreStatus } from '../database.ts'
import { checkName } from '../rules.ts'
import { createWakes } from '../sql/follow.ts'
import { migrate } from '../sql/migrate.ts'
import { migrationsOf } from '../sql/migrations.ts'
import type { Connection } from '../sql/scope.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import { readStatus } from '../sql/status.ts'
import type { Database, DatabaseOptions, SqliteStoreOptions } from '../store.ts'
import { openConnection, SQLITE_SCHEMA } from './connection.ts'

/** See `openDatabase`. */
export async function openSqliteDatabase({
  path,
  clock = systemClock,
}: Omit<SqliteStoreOptions, 'projectId'> & DatabaseOptions): Promise<Database> {
  const connection = await openConnection(path, clock)
  try {
    await migrate(connection, SQLITE_SCHEMA)
  } catch (error) {
    await connection.close()
    throw error
  }
  const wakes = createWakes((wake) => lookForOthers(connection, wake))
  return {
    project: (projectId) =>
      createSqlStore({ ...connection, close: async () => {} }, checkName('project id', projectId), wakes),
    async close() {
      await connection.close()
      wakes.close()
    },
  }
}

const LOOK_MS = 500

/** SQLite tells nobody of a commit, but counts those of other connections. */
function lookForOthers(connection: Connection, wake: () => void): () => void {
  let last: unknown
  const look = async (): Promise<void> => {
    const version = (await connection.get('pragma data_version'))?.['data_version']
    if (version !== last) wake()
    last = version
  }
  const timer = setInterval(() => void look().catch(wake), LOOK_MS)
  return () => clearInterval(timer)
}

/** See `storeStatus`. A file that is missing is not made. */
export async function sqliteStatus(file: string): Promise<StoreStatus> {
  const path = resolve(file)
  const software = `SQLite ${process.versions['sqlite'] ?? ''}`.trim()
  if (!existsSync(path)) {
    const pending = migrationsOf(SQLITE_SCHEMA.dialect).map(({ version, name }) => ({ version, name }))
    return { database: `state file ${path}`, software, version: 0, pending, bytes: 0, rows: {} }
  }
  const connection = await openConnection(path)
  try {
    const sizes = [path, `${path}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.size ?? 0)
    return { ...(await readStatus(connection, SQLITE_SCHEMA)), software, bytes: sizes.reduce((a, b) => a + b) }
  } finally {
    await connection.close()
  }
}

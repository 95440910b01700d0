import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { systemClock } from '../../kernel/index.ts'
import type { StoreStatus } from '../database.ts'
import { checkName } from '../rules.ts'
import { migrate } from '../sql/migrate.ts'
import { migrationsOf } from '../sql/migrations.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import { readStatus } from '../sql/status.ts'
import type { Database, SqliteStoreOptions } from '../store.ts'
import { openConnection, SQLITE_SCHEMA } from './connection.ts'

/** See `openDatabase`. */
export async function openSqliteDatabase({
  path,
  clock = systemClock,
}: Omit<SqliteStoreOptions, 'projectId'>): Promise<Database> {
  const connection = await openConnection(path, clock)
  try {
    await migrate(connection, SQLITE_SCHEMA)
  } catch (error) {
    await connection.close()
    throw error
  }
  return {
    project: (projectId) =>
      createSqlStore({ ...connection, close: async () => {} }, checkName('project id', projectId)),
    close: () => connection.close(),
  }
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

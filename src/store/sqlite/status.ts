import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { StoreStatus } from '../database.ts'
import { migrationsOf } from '../sql/migrations.ts'
import { readStatus } from '../sql/status.ts'
import { openConnection } from './connection.ts'
import { SQLITE_SCHEMA } from './schema.ts'

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

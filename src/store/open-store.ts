import type { BlobFilesOptions, Blobs } from './blobs.ts'
import type { StoreChoice, StoreStatus } from './database.ts'
import type { Database, DatabaseOptions, PostgresStoreOptions, SqliteStoreOptions, Store } from './store.ts'

/**
 * Opens the state file, makes it when it is missing, and brings its schema up to date. Several processes may share it.
 * Acknowledged writes survive kill -9 and loss of power.
 * Throws `NexusError` STORE_FAILED, which names the file and the fix; a file it cannot use is left as it is.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { openSqliteDatabase } = await import('./sqlite/sqlite-store.ts')
  return onlyStore(await openSqliteDatabase(options), options.projectId)
}

/** A store that forgets at the end of the process: SQLite in memory, so it behaves as the state file does. */
export function createMemoryStore(options: Omit<SqliteStoreOptions, 'path'>): Promise<Store> {
  return openSqliteStore({ ...options, path: ':memory:' })
}

/**
 * Opens a Postgres database, makes its schema `nexus` when it is missing, and brings it up to date. Engines of several
 * machines may share it; the server's clock decides about leases. Needs the package `pg`.
 * A lost connection is made again for 30 s, and a change whose commit was cut off is applied once.
 * Throws `NexusError` STORE_FAILED, which names host, port and database, the reason and the fix.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { openPostgresDatabase } = await import('./postgres/postgres-store.ts')
  return onlyStore(await openPostgresDatabase(options), options.projectId)
}

/** Opens the chosen database, for the stores of many projects over one connection or pool. Throws STORE_FAILED. */
export async function openDatabase(choice: StoreChoice & DatabaseOptions): Promise<Database> {
  if (choice.type === 'postgres') return (await import('./postgres/postgres-store.ts')).openPostgresDatabase(choice)
  const path = choice.type === 'sqlite' ? choice.path : ':memory:'
  return (await import('./sqlite/sqlite-store.ts')).openSqliteDatabase({ path, clock: choice.clock })
}

/** A store that closes its database too. */
async function onlyStore(database: Database, projectId: string): Promise<Store> {
  try {
    const store = database.project(projectId)
    return {
      ...store,
      close: async () => {
        await store.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Opens the directory that keeps the bytes of one project's blobs; nothing is made before the first write. */
export async function openBlobFiles(options: BlobFilesOptions): Promise<Blobs> {
  return (await import('./blob-files/blob-files.ts')).createBlobFiles(options)
}

/** The state of a database, which is not changed; undefined for memory. Throws STORE_FAILED with the reason and the fix. */
export async function storeStatus(choice: StoreChoice): Promise<StoreStatus | undefined> {
  if (choice.type === 'sqlite') return (await import('./sqlite/sqlite-store.ts')).sqliteStatus(choice.path)
  if (choice.type === 'postgres') return (await import('./postgres/schema.ts')).postgresStatus(choice)
  return undefined
}

import type { SqliteStoreOptions, Store } from './store.ts'

/**
 * Opens the state file, makes it when it is missing, and brings its schema up to date. Several processes may share it.
 * What a method acknowledged survives kill -9 and loss of power.
 * Throws `NexusError` STORE_FAILED, which names the file and the fix; a file it cannot use is left as it is.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { createSqliteStore } = await import('./sqlite/sqlite-store.ts')
  return createSqliteStore(options)
}

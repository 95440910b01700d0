import type { Clock } from '../kernel/index.ts'
import type { Store } from './store.ts'

/** Which file, and whose rows of it. */
export interface SqliteStoreOptions {
  /** The state file. It is made with mode 0600, missing directories with 0700. */
  readonly path: string
  /** Every read and write is scoped to this project. */
  readonly projectId: string
  readonly clock?: Clock
  /** Who opens calls through this store, so that `recover` knows whose they were; default this process. */
  readonly owner?: string
}

/**
 * Opens the state file, makes it when it is missing, and brings its schema up to date. Several processes may share it.
 * What a method acknowledged survives kill -9 and loss of power.
 * Throws `NexusError` STORE_FAILED, which names the file and the fix; a file it cannot use is left as it is.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { createSqliteStore } = await import('./sqlite/sqlite-store.ts')
  return createSqliteStore(options)
}

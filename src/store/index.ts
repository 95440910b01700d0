/** store: durable state behind small interfaces: the ledger of calls and the histories of agents; SQLite in `sqlite/`. */
export { createMemoryStore } from './memory.ts'
export { openSqliteStore } from './open-sqlite-store.ts'
export { currentOwner, isOwnerAlive } from './owner.ts'
export type { Ledger, SessionRecord, Sessions, Store, StoredMessage } from './store.ts'

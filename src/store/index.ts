/** store: durable state behind small interfaces: ledger, sessions, queue, approvals, events, leases; SQLite in `sqlite/`. */
export type { AgentRecord, Agents, NewAgent } from './agents.ts'
export type {
  Answer,
  Answered,
  AnswererKind,
  Approval,
  Approvals,
  ApprovalState,
  NewApproval,
  RememberedApproval,
  RememberedFilter,
} from './approvals.ts'
export type { BlobReference, BlobReferences, Blobs, BlobWriter, NewBlobReference } from './blobs.ts'
export type { StoreChoice, StoreStatus } from './database.ts'
export type { EventReferences, Events, NewEvent, StoredEvent } from './events.ts'
export type { Acquired, Lease, Leases } from './leases.ts'
export { MESSAGES as STORE_MESSAGES, POSTGRES as POSTGRES_MESSAGES } from './messages.ts'
export {
  createMemoryStore,
  openDatabase,
  openBlobFiles,
  openPostgresStore,
  openSqliteStore,
  storeStatus,
} from './open-store.ts'
export { processName } from './processes.ts'
export { isAgentId, isAgentKey, sessionLease } from './rules.ts'
export type {
  LoadedRevision,
  SessionRecord,
  Sessions,
  StoredMessage,
  TurnName,
  TurnRecord,
  Turns,
  TurnState,
  TurnStep,
  TurnUse,
} from './sessions.ts'
export type { Database, Ledger, NewCall, Reclaimed, Retention, Store } from './store.ts'

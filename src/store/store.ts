import type { Call, Clock, Decision, JsonObject, LedgerEntry, Outcome } from '../kernel/index.ts'

/** The durable record of calls, decisions and outcomes. Every read and write is scoped to one project. */
export interface Ledger {
  /** Writes the call and its decision before anything runs; durable when it returns. */
  open(call: Call, decision: Decision, skill?: LedgerEntry['skill']): Promise<LedgerEntry>
  /** Closes an open entry once. A second close changes nothing and returns the entry as it stands. */
  close(callId: string, outcome: Outcome): Promise<LedgerEntry>
  get(callId: string): Promise<LedgerEntry | undefined>
  /** Oldest first; with a limit the newest ones, still oldest first. */
  list(filter?: {
    readonly sessionId?: string
    readonly turnId?: string
    readonly limit?: number
  }): Promise<readonly LedgerEntry[]>
}

/** A message of a conversation in the AI SDK's `ModelMessage` form, kept as plain JSON. */
export type StoredMessage = JsonObject & { readonly role: string }

export interface SessionRecord {
  readonly id: string
  readonly agentId: string
  /** First words of the first task, for lists. */
  readonly title: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly messageCount: number
  /** Skills the session saw when its last turn began, as JSON of `catalog/`. */
  readonly snapshot?: JsonObject
  /** `running` while a turn is on; found after a crash it means the turn was cut off. */
  readonly state: 'idle' | 'running'
  /** Process id, start time and boot id of the owner of a running turn. */
  readonly owner?: string
}

/** Histories of agents. Every read and write is scoped to one project. */
export interface Sessions {
  create(session: { readonly id: string; readonly agentId: string; readonly title: string }): Promise<SessionRecord>
  get(id: string): Promise<SessionRecord | undefined>
  /** The one used last comes first. */
  list(filter?: { readonly limit?: number }): Promise<readonly SessionRecord[]>
  /** Adds messages in one transaction; durable when it returns. */
  append(id: string, messages: readonly StoredMessage[]): Promise<void>
  messages(id: string): Promise<readonly StoredMessage[]>
  /** Changes what is given. With `expectedState` only a session in that state is changed, else CONFLICT: two cannot both start a turn. */
  update(
    id: string,
    change: {
      readonly state?: 'idle' | 'running'
      readonly owner?: string | null
      readonly snapshot?: JsonObject
      readonly expectedState?: 'idle' | 'running'
    },
  ): Promise<SessionRecord>
}

/** The state of one project. */
export interface Store {
  readonly projectId: string
  readonly ledger: Ledger
  readonly sessions: Sessions
  /**
   * After a crash: closes every entry that is still open in sessions that no live process owns, as `interrupted`
   * ("interrupted: outcome unknown"), and sets those sessions to idle. A call outside a running turn belongs to the
   * process that opened it. Returns how many entries it closed.
   */
  recover(isAlive: (owner: string) => boolean): Promise<number>
  close(): Promise<void>
}

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

import type { Call, CallState, Clock, Decision, LedgerEntry, Outcome } from '../kernel/index.ts'
import type { Agents } from './agents.ts'
import type { Approvals, NewApproval } from './approvals.ts'
import type { BlobReferences } from './blobs.ts'
import type { Events } from './events.ts'
import type { Lease, Leases } from './leases.ts'
import type { Sessions, StoredMessage, Turns, TurnStep } from './sessions.ts'

/** The state of one project. Every read and write is scoped to it; what a method acknowledged is durable. */
export interface Store {
  readonly projectId: string
  readonly leases: Leases
  readonly agents: Agents
  readonly sessions: Sessions
  readonly turns: Turns
  readonly ledger: Ledger
  readonly approvals: Approvals
  readonly events: Events
  readonly blobs: BlobReferences
  /**
   * Ends the leases whose time is over and closes what their owners left: started calls become `interrupted`
   * ("interrupted: outcome unknown"), calls that waited for an answer and their approvals `not run`, running turns
   * `interrupted`; queued turns stay. A running turn whose open calls all wait for an answer, or for what follows it, or are idempotent,
   * becomes `waiting` and keeps them with their questions. Expires questions too. Reads first: where nothing is due, nothing is
   * written. `acquire` ends and closes the same.
   */
  reclaim(): Promise<Reclaimed>
  /**
   * Removes one part of the sessions and closed calls beyond these limits, the oldest first; `isMore` asks for another one. Sessions stay
   * that someone owns, that run, wait or are asked about, and those of living agents; so do calls of such turns. The events up to
   * the end of removed calls go with them.
   */
  retain(retention: Retention): Promise<Retained>
  close(): Promise<void>
}

/** Which rows are kept: of that age, and so many of the newest. Without either: all. */
export interface Keep {
  /** Since the last message of a session, or the end of a call. */
  readonly maxAgeMs?: number | undefined
  readonly maxRows?: number | undefined
}

export interface Retention {
  readonly sessions?: Keep | undefined
  readonly ledger?: Keep | undefined
}

/** How many rows `retain` removed. */
export interface Retained {
  readonly sessions: number
  readonly calls: number
  /** A part was full. */
  readonly isMore: boolean
}

/** How many rows `reclaim` closed. */
export interface Reclaimed {
  readonly calls: number
  readonly turns: number
  readonly approvals: number
}

/** An open database: one connection or pool for the stores of all its projects. */
export interface Database {
  /** Closing the store leaves the database open. */
  project(projectId: string): Store
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly clock?: Clock | undefined
}

/** The record of a call, written before anything runs. */
export interface NewCall {
  readonly call: Call
  readonly decision: Decision
  /** The lease of the session or of the process: only its owner may write about the call. */
  readonly lease: Lease
  readonly skill?: LedgerEntry['skill']
  /** Needed when the decision is `ask`: what a person is asked. */
  readonly approval?: NewApproval
  /** The next owner of its turn may make the call again with the same id, if its process ends before the call does. */
  readonly isIdempotent?: boolean | undefined
  /** A call that is refused at once is recorded with its end, in one write. */
  readonly outcome?: Outcome
  /** With `outcome`: joins the history of the call's session in the same change; `lease` is that session's. */
  readonly message?: StoredMessage
  /**
   * The answer of the model that asked for the call, when it is not kept yet: `Turns.step` of the call's turn, in the same change. `lease`
   * is the one that took the turn.
   */
  readonly step?: TurnStep | undefined
}

/** The durable record of calls, decisions and outcomes. */
export interface Ledger {
  /**
   * Writes the call: `asked` with its approval when the decision is ask, else `started`, or closed when `outcome` is given. The
   * same call with the same id again writes nothing: the entry is the first one as it is by now, with `isRepeated`. Throws CONFLICT
   * for another call with a used id.
   */
  record(call: NewCall): Promise<LedgerEntry & { readonly isRepeated?: true }>
  /** Sets an answered call that was allowed to `started`, with the decision made after the answer. Throws CONFLICT otherwise. */
  start(callId: string, decision: Decision, lease: Lease): Promise<LedgerEntry>
  /**
   * Closes an entry once; a second close changes nothing and returns the entry as it is. An open approval of it becomes
   * `not run`. `decision` replaces the recorded one. `message`, the answer to the call, joins the history of its session in the
   * same change; `lease` is that session's then.
   */
  close(
    callId: string,
    outcome: Outcome,
    by: { readonly lease: Lease; readonly decision?: Decision; readonly message?: StoredMessage },
  ): Promise<LedgerEntry>
  get(callId: string): Promise<LedgerEntry | undefined>
  /** Oldest first; with a limit the newest ones, still oldest first. */
  list(filter?: {
    readonly sessionId?: string
    readonly turnId?: string
    readonly agentId?: string
    readonly origin?: Call['origin']
    readonly states?: readonly CallState[]
    /** Only calls that the shadow of their agent would have decided otherwise. */
    readonly isShadowed?: true
    readonly limit?: number
    /** Only earlier ones than the row of this id; none when it is gone. */
    readonly before?: string
  }): Promise<readonly LedgerEntry[]>
}

/** Which file, and whose rows of it. */
export interface SqliteStoreOptions {
  /** The state file. It is made with mode 0600, missing directories with 0700. */
  readonly path: string
  /** Every read and write is scoped to this project. */
  readonly projectId: string
  readonly clock?: Clock
}

/** Which database, and whose rows of it. */
export interface PostgresStoreOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Messages show host, port and database of it only. */
  readonly url: string
  /** Every read and write is scoped to this project. */
  readonly projectId: string
  /** Limits of the connections; what is missing has a default. */
  readonly pool?: {
    readonly maxConnections?: number
    readonly connectTimeoutMs?: number
    readonly statementTimeoutMs?: number
    readonly idleTimeoutMs?: number
  }
  /** For tests: replaces the clock of the server. */
  readonly clock?: Clock
}

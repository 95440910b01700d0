/** The interfaces of conversations: histories of agents, and the queue of messages to them. */
import type { JsonObject } from '../kernel/index.ts'
import type { Lease } from './leases.ts'

/** A message of a conversation in the AI SDK's `ModelMessage` form, kept as plain JSON. */
export type StoredMessage = JsonObject & { readonly role: string }

/** A skill whose instructions the model of a session has, at the revision it loaded. */
export type LoadedRevision = {
  readonly address: string
  readonly name: string
  readonly baseDir: string
  readonly treeDigest: string
}

export interface SessionRecord {
  readonly id: string
  /** The id of an agent of the configuration, or the key of one of the pool. */
  readonly agentId: string
  /** First words of the first task, for lists. */
  readonly title: string
  /** Where it was started: `scope` of its runtime, on one machine the real path of the workspace. Absent when it had none. */
  readonly scope?: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly messageCount: number
  /** Skills the session saw when its last turn began, as JSON of `catalog/`. */
  readonly snapshot?: JsonObject
  /** Skills loaded in it, in the order of loading. */
  readonly loaded: readonly LoadedRevision[]
}

/** Histories of agents. A write takes the lease `sessionLease(id)`. */
export interface Sessions {
  create(session: {
    readonly id: string
    readonly agentId: string
    readonly title: string
    readonly scope?: string
  }): Promise<SessionRecord>
  get(id: string): Promise<SessionRecord | undefined>
  /** The one used last comes first; with `scope` only those that were started there. */
  list(filter?: {
    readonly limit?: number
    readonly scope?: string
    /** Only those that come after this one, which a list gave: a session that was used since is not met again. */
    readonly after?: Pick<SessionRecord, 'id' | 'updatedAt'>
  }): Promise<readonly SessionRecord[]>
  /** Adds messages in one transaction. */
  append(id: string, messages: readonly StoredMessage[], lease: Lease): Promise<void>
  messages(id: string): Promise<readonly StoredMessage[]>
  /**
   * Removes the session with its messages, turns, questions and saved output, and the row of its agent; its calls stay in the ledger. Throws
   * CONFLICT while a turn of it runs or waits, a message of a living process is queued, a question is open, or its agent or an
   * ancestor of that lives.
   */
  remove(id: string): Promise<void>
  /** Changes what is given. */
  update(id: string, change: SessionChange, lease: Lease): Promise<SessionRecord>
}

export interface SessionChange {
  readonly snapshot?: JsonObject
  readonly loaded?: readonly LoadedRevision[]
}

/**
 * `dropped`: never run, by a person's choice. `interrupted`: its process died in the middle. `waiting`: its process died while
 * people were asked or idempotent calls ran; it has its place in the session, and whoever takes it goes on from the answers.
 */
export type TurnState = 'queued' | 'running' | 'waiting' | 'done' | 'cancelled' | 'dropped' | 'interrupted'

/** An acknowledged message and what became of it. */
export interface TurnRecord {
  readonly id: string
  readonly sessionId: string
  /** The caller's own id of the message, unique in its session. */
  readonly requestId?: string
  readonly message: StoredMessage
  readonly state: TurnState
  /** True while it is queued and the process that queued it is gone: it waits until someone takes or drops it. */
  readonly isLeft: boolean
  /** Someone asked the owner of the running turn to stop it. */
  readonly isCancelRequested: boolean
  readonly createdAt: number
  readonly startedAt?: number
  readonly endedAt?: number
  readonly result?: JsonObject
  /** Answers of the model so far, and their tokens. */
  readonly use: TurnUse
  /**
   * Times in which no process had it, in epoch milliseconds: from what its owner wrote about it last, until another one took it over;
   * without an end where none did. Absent when there were none.
   */
  readonly away?: readonly Away[]
  /** The model's ids of calls in its latest answer whose arguments the history has without their secrets. */
  readonly hiddenCalls: readonly string[]
}

export type Away = readonly [from: number, to?: number]

/** The id of a turn, or the caller's own id of its message. */
export type TurnName = string | { readonly sessionId: string; readonly requestId: string }

/** Answers of the model, and their tokens. */
export interface TurnUse {
  readonly steps: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** How many of `totalTokens` are an estimate, because the provider did not report them; absent when none are. */
  readonly estimatedTokens?: number
  /** How many of `inputTokens` the provider read from its cache; absent when there were none. */
  readonly cachedTokens?: number
  /** Money by the price of the model that answered, exact to a billionth; absent when there was none. */
  readonly cost?: number
  /** Milliseconds in turns, without the time in which people were asked; absent when there were none. */
  readonly activeMs?: number
}

/** One answer of the model. */
export interface TurnStep {
  /** Joins the history in the same change. */
  readonly message: StoredMessage
  readonly tokens: Omit<TurnUse, 'steps' | 'activeMs'>
  /** Since the step before. */
  readonly activeMs?: number
  readonly hiddenCalls?: readonly string[]
}

/** The messages of sessions, in the order they came; one runs at a time. */
export interface Turns {
  /**
   * Queues a message. `lease` is that of the process that wants to run it. The same request id with the same message again
   * returns the record as it is. Throws CONFLICT when the queue is full or the session has another message of that request id.
   */
  enqueue(turn: {
    readonly sessionId: string
    readonly message: StoredMessage
    readonly lease: Lease
    readonly requestId?: string | undefined
    /** How many of living processes may wait in the session; default 32. */
    readonly limit?: number
  }): Promise<TurnRecord>
  /**
   * Sets the next queued turn to running, for the owner of the session's lease; undefined when there is none. With `id`
   * only that one, and only when no turn of a living process came before it; left ones are passed over.
   * `messages` join the history in the same change. With the `id` of a waiting turn it goes on, and its open calls are the
   * new owner's; while one waits, no other turn is taken.
   */
  take(
    sessionId: string,
    lease: Lease,
    which?: { readonly id?: string; readonly messages?: readonly StoredMessage[] },
  ): Promise<TurnRecord | undefined>
  /** Counts one answer of the model in the running turn, and keeps it, in one change. `lease` is the one that took the turn. */
  step(id: string, lease: Lease, step: TurnStep): Promise<TurnRecord>
  /**
   * Ends a running turn, once; a second end changes nothing. `lease` is the one that took it; `messages` join the history, and
   * `tokens` are of the answer that ended it, which counts as a step.
   */
  finish(
    id: string,
    lease: Lease,
    end: {
      readonly state: 'done' | 'cancelled' | 'interrupted'
      readonly result?: JsonObject
      readonly messages?: readonly StoredMessage[]
      readonly tokens?: TurnStep['tokens'] | undefined
      readonly activeMs?: number | undefined
    },
  ): Promise<TurnRecord>
  /**
   * Makes the messages of the session that ended processes left those of the process with this lease, and returns them, the
   * oldest first. They keep their place: no later one is taken before them. When the lease ends first, they are left again.
   */
  adopt(sessionId: string, lease: Lease): Promise<readonly TurnRecord[]>
  /** A queued or waiting turn is cancelled, with its open calls and the messages whose request id is the id of one; for a running one its owner is asked to. An ended one stays as it is. */
  cancel(turn: TurnName): Promise<TurnRecord>
  /** A queued turn is dropped; any other one stays as it is. */
  drop(id: string): Promise<TurnRecord>
  get(turn: TurnName): Promise<TurnRecord | undefined>
  /** Steps, tokens and time of all turns of each of these sessions that had one. */
  use(sessionIds: readonly string[]): Promise<ReadonlyMap<string, TurnUse>>
  /** Oldest first; with a limit the newest ones, still oldest first. */
  list(filter?: {
    readonly sessionId?: string
    readonly states?: readonly TurnState[]
    readonly limit?: number
    /** Only earlier ones than the turn of this id; none when it is gone. */
    readonly before?: string
  }): Promise<readonly TurnRecord[]>
}

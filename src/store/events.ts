/** The interface of events: what changed, in the order it was committed. */

/** Ids of the rows that changed, never copies of them. */
export type EventReferences = {
  readonly callId?: string
  readonly turnId?: string
  readonly approvalId?: string
  readonly skill?: string
  readonly [name: string]: string | number | boolean | undefined
}

export interface NewEvent {
  /** Words with dots: `call.started`, `turn.queued`, `skill.changed`. */
  readonly type: string
  /** Default: the agent of the session. */
  readonly agentId?: string
  readonly sessionId?: string
  readonly references?: EventReferences
}

export interface StoredEvent extends NewEvent {
  /** Grows with the order of commits. */
  readonly id: number
  readonly projectId: string
  readonly at: number
  readonly references: EventReferences
}

/** The log of changes. The event of a change is written in the change's own transaction. */
export interface Events {
  /**
   * Events with a greater id, oldest first. When an event was returned, none with a smaller id appears later in the
   * project: a store must give ids in the order of commits, or withhold events until no smaller id can be committed.
   * Throws CONFLICT when later ones than `id` were removed by `trim`, except from 0: that is the oldest there is.
   */
  after(id: number, filter?: { readonly sessionId?: string; readonly limit?: number }): Promise<readonly StoredEvent[]>
  /** The id of the newest event, 0 when there is none: the place to follow from. */
  last(): Promise<number>
  /** Records what happened outside the store; secrets already blanked. */
  append(event: NewEvent): Promise<StoredEvent>
  /** Removes what is older than `maxAgeMs` and all but the newest `maxRows`; the newest one stays. Returns how many. */
  trim(limits: { readonly maxAgeMs?: number; readonly maxRows?: number }): Promise<number>
  /**
   * Calls `listener` for each event that is committed after the promise resolves, by any process, in order; without an event
   * when some may have been missed, so that who waits looks. The returned function ends that. Changes that end a wait (of turns,
   * approvals, session leases) come at once; other ones, and other processes on SQLite, within 2 s and 500 ms.
   */
  follow(listener: (event?: StoredEvent) => void): Promise<() => void>
}

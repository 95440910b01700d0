/** The interface of leases: who may write, across processes and machines. */

/** The right of one owner to write until another acquisition of the same name. */
export interface Lease {
  readonly name: string
  readonly owner: string
  /** Greater with every acquisition, also after a restart. A write with an older one is refused. */
  readonly fence: number
  /** Epoch milliseconds on the store's clock: the database's, not the caller's. */
  readonly expiresAt: number
}

export interface LeaseRequest {
  readonly owner: string
  /** How long it lasts without `renew`. */
  readonly ttlMs?: number
  /** Instead of `ttlMs`: it lasts as long as this lease of the same process, whose heartbeat is enough for both. */
  readonly under?: Lease
  /** Names the process, where its machine can say that it ended: its leases end at once then. From `processName`. */
  readonly process?: string | undefined
}

export type Acquired =
  | { readonly type: 'acquired'; readonly lease: Lease }
  | { readonly type: 'taken'; readonly by: Lease }

/**
 * A write that needs a lease throws LEASE_LOST when the lease was released, expired and reclaimed, or acquired by
 * another; the message names the present owner. An expired lease that no process reclaimed still writes.
 */
export interface Leases {
  /**
   * Takes the lease unless it has an owner whose time is not over; one owner cannot acquire it twice either.
   * Throws LEASE_LOST when `under` is lost.
   */
  acquire(name: string, request: LeaseRequest): Promise<Acquired>
  /** The heartbeat: `ttlMs` from now on. Throws LEASE_LOST. */
  renew(lease: Lease, ttlMs: number): Promise<Lease>
  /** Ends the lease and those under it; does nothing when it is lost. */
  release(lease: Lease): Promise<void>
  /** The present lease, expired or not. */
  get(name: string): Promise<Lease | undefined>
}

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

export type Acquired =
  | { readonly type: 'acquired'; readonly lease: Lease }
  | { readonly type: 'taken'; readonly by: Lease }

/**
 * A write that needs a lease throws LEASE_LOST when the lease was released, expired and reclaimed, or acquired by
 * another; the message names the present owner. An expired lease that no process reclaimed still writes.
 */
export interface Leases {
  /** Takes the lease unless it has an owner whose time is not over; one owner cannot acquire it twice either. */
  acquire(name: string, request: { readonly owner: string; readonly ttlMs: number }): Promise<Acquired>
  /** The heartbeat: `ttlMs` from now on. Throws LEASE_LOST. */
  renew(lease: Lease, ttlMs: number): Promise<Lease>
  /** Ends the lease; does nothing when it is lost. */
  release(lease: Lease): Promise<void>
  /** The present lease, expired or not. */
  get(name: string): Promise<Lease | undefined>
}

/** ownership: leases that this process keeps by a heartbeat, so that only one process writes about a session or a call. */
import { hostname } from 'node:os'
import { isNexusError } from '../kernel/index.ts'
import type { Lease, Leases } from '../store/index.ts'

/** How long a lease lasts without a heartbeat: after that, what a killed process left is closed. */
export const LEASE_MS = 10_000
export const HEARTBEAT_MS = LEASE_MS / 4

/** A lease that is renewed until it is released. */
export interface KeptLease {
  readonly lease: Lease
  /** Aborts when another process took over: nothing may be written any more. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** Takes a lease and keeps it; undefined while another owner has it. The heartbeat does not keep the program running. */
export async function keepLease(leases: Leases, name: string): Promise<KeptLease | undefined> {
  const acquired = await leases.acquire(name, { owner: ownerName(), ttlMs: LEASE_MS })
  if (acquired.type === 'taken') return undefined
  const { lease } = acquired
  const lost = new AbortController()
  const beat = async (): Promise<void> => {
    try {
      await leases.renew(lease, LEASE_MS)
    } catch (error) {
      // Another failure of the store is for the next write to report: the lease lasts longer than one heartbeat.
      if (isNexusError(error) && error.code === 'LEASE_LOST') {
        clearInterval(timer)
        lost.abort(error)
      }
    }
  }
  const timer = setInterval(() => void beat(), HEARTBEAT_MS)
  timer.unref()
  return {
    lease,
    lost: lost.signal,
    release: async () => {
      clearInterval(timer)
      await leases.release(lease)
    },
  }
}

/** How messages name this process; the fence decides, never this. */
function ownerName(): string {
  return `process ${process.pid} on ${hostname()}`
}

/** ownership: the lease of this process, kept by one heartbeat, and those under it: only one process writes about a session or a call. */
import { hostname } from 'node:os'
import { isNexusError, newId, NexusError } from '../kernel/index.ts'
import { type Lease, processName, type Store } from '../store/index.ts'
import { ERRORS } from './messages.ts'

/** How long a lease lasts without a heartbeat: after that, what a process of another machine left is closed. */
const LEASE_MS = 10_000
const HEARTBEAT_MS = LEASE_MS / 4

/** A lease that lasts until it is released, or the process stands still for too long. */
export interface KeptLease {
  readonly lease: Lease
  /** Aborts when another process took over: nothing may be written any more. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** The leases of this process in one project. */
export interface Ownership {
  /**
   * A write with the lease of the process: for calls outside of turns and for messages that wait. The lease is taken at its first
   * use; when the write learns that it was lost, it is taken again and the write repeated.
   */
  write<T>(work: (lease: Lease) => Promise<T>): Promise<T>
  /** Takes another lease, under that of the process; undefined while another owner has it. */
  keep(name: string): Promise<KeptLease | undefined>
  close(): Promise<void>
}

interface KeptProcess extends KeptLease {
  lose(reason: unknown): void
  /** Ends a lease under this one. Where the store fails, each heartbeat tries again: it would last as long as this process. */
  end(lease: Lease): Promise<void>
}

/** `onTaken` is called each time the lease of the process was taken. */
export function createOwnership(store: Store, onTaken: () => Promise<unknown>): Ownership {
  let own: Promise<KeptProcess> | undefined
  const current = async (): Promise<KeptProcess> => {
    // A lease that was lost, or could not be had, is asked for again: a suspended machine loses it.
    const before = own
    const isOver = await before?.then(
      ({ lost }) => lost.aborted,
      () => true,
    )
    if (isOver && own === before) own = undefined
    own ??= keepProcess(store, onTaken)
    return own
  }
  /** A refused write changed nothing, so it may be repeated. */
  const use = async <T>(work: (own: KeptProcess) => Promise<T>): Promise<T> => {
    const before = await current()
    try {
      return await work(before)
    } catch (error) {
      if (!isLost(error)) throw error
      before.lose(error)
    }
    return work(await current())
  }
  return {
    write: (work) => use(({ lease }) => work(lease)),
    keep: (name) =>
      use(async ({ lease: under, lost, end }) => {
        const acquired = await store.leases.acquire(name, { owner: ownerName(), under })
        if (acquired.type === 'taken') return undefined
        const { lease } = acquired
        return { lease, lost, release: () => end(lease) }
      }),
    close: async () => (await own?.catch(() => undefined))?.release(),
  }
}

/** The name is new for each runtime, so that no other process can have the lease. The heartbeat does not keep the program running. */
async function keepProcess(store: Store, onTaken: () => Promise<unknown>): Promise<KeptProcess> {
  const { leases } = store
  const request = { owner: ownerName(), ttlMs: LEASE_MS, process: processName() }
  const acquired = await leases.acquire(`process:${newId()}`, request)
  if (acquired.type === 'taken') throw new NexusError('INTERNAL', ERRORS.leaseTaken().message)
  const { lease } = acquired
  const lost = new AbortController()
  const lose = (reason: unknown): void => {
    clearInterval(timer)
    lost.abort(reason)
  }
  const unended = new Set<Lease>()
  const end = async (each: Lease): Promise<void> => {
    unended.add(each)
    await leases.release(each)
    unended.delete(each)
  }
  const beat = async (): Promise<void> => {
    await leases.renew(lease, LEASE_MS).catch((error: unknown) => isLost(error) && lose(error))
    await Promise.all([...unended].map((each) => end(each).catch(() => undefined)))
    // Ends what other processes left, and questions whose time is over. A failure is for the next write to report.
    await store.reclaim().catch(() => undefined)
  }
  const timer = setInterval(() => void beat(), HEARTBEAT_MS)
  timer.unref()
  await onTaken()
  return {
    lease,
    lost: lost.signal,
    lose,
    end,
    release: () => {
      clearInterval(timer)
      return leases.release(lease)
    },
  }
}

function isLost(error: unknown): boolean {
  return isNexusError(error) && error.code === 'LEASE_LOST'
}

/** How messages name this process; the fence decides, never this. */
function ownerName(): string {
  return `process ${process.pid} on ${hostname()}`
}

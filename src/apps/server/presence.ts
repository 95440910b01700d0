/** Which servers serve a workspace: a lease of the store for each, whose owner is its address. It ends with its process. */
import { sha256 } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import type { Lease, Store } from '../../store/index.ts'

/** Servers of one workspace at the same time. */
const SLOTS = 8
const ADDRESS = /^https?:\/\/[\w.:[\]-]+$/

const slotsOf = (scope: string): string[] =>
  Array.from({ length: SLOTS }, (_, index) => `server:${sha256(scope).slice(0, 16)}:${index + 1}`)

/** Writes the address; undefined where all places are taken. The lease lasts as long as the process. */
export async function announce(runtime: Runtime, address: string): Promise<Lease | undefined> {
  const { store } = runtime
  const handle = runtime.openAgent()
  for (const name of slotsOf(handle.scope)) {
    const acquired = await handle.writeAsProcess((under) => store.leases.acquire(name, { owner: address, under }))
    if (acquired.type === 'acquired') return acquired.lease
  }
  return undefined
}

/** The addresses of the servers of a workspace, by what the store has: one that was killed may be among them. */
export async function announcedServers({ leases }: Store, scope: string): Promise<readonly string[]> {
  const all = await Promise.all(slotsOf(scope).map((name) => leases.get(name)))
  return all.flatMap((lease) => (lease && ADDRESS.test(lease.owner) ? [lease.owner] : []))
}

import type { Call, Decision, LedgerEntry } from '../../kernel/index.ts'
import { isNexusError } from '../../kernel/index.ts'
import { type Lease, sessionLease, type Store } from '../../store/index.ts'

/** Opens the store of a fresh project, or of the named one. */
export type Open = (projectId?: string) => Promise<Store>
/** Moves the store's clock on. */
export type Advance = { advance(ms: number): Promise<void> }

export const ALLOW: Decision = { type: 'allow', rule: 'profile:full', chain: [], limits: {} }
export const ASK: Decision = { type: 'ask', rule: 'ask: run_command', chain: [], limits: {}, question: 'Run it?' }
export const DENY: Decision = { type: 'deny', rule: 'deny: run_command', chain: [], limits: {}, reason: 'denied' }
export const TTL_MS = 1_000

export function call(store: Store, id: string, more: Partial<Call> = {}): Call {
  return {
    id,
    projectId: store.projectId,
    agentId: 'main',
    origin: 'library',
    tool: 'echo',
    arguments: { id },
    ...more,
  }
}

export function hasCode(code: string, words = /./): (error: unknown) => boolean {
  return (error) => isNexusError(error) && error.code === code && words.test(error.message)
}

export const idsOf = (entries: readonly LedgerEntry[]): string[] => entries.map((entry) => entry.call.id)

/** Acquires a lease that must be free. */
export async function acquire(store: Store, name: string, owner = 'one'): Promise<Lease> {
  const acquired = await store.leases.acquire(name, { owner, ttlMs: TTL_MS })
  if (acquired.type === 'acquired') return acquired.lease
  throw new Error(`${name} is taken by ${acquired.by.owner}`)
}

/** A session with its lease. */
export async function openSession(store: Store, id = 's1'): Promise<Lease> {
  await store.sessions.create({ id, agentId: 'main', title: '' })
  return acquire(store, sessionLease(id))
}

/** removed-sets: the change sets of calls go with their session, but for those in which something waits for a person. */
import type { ChangeSet, SetsAt } from '../machine/changes/index.ts'
import type { Store } from '../store/index.ts'

/** Does work on the sets of a workspace while nobody else does; without sets where the sandbox makes none. */
export type InSets = <T>(work: (sets?: SetsAt) => Promise<T>) => Promise<T>

/** How many sets went with removed sessions, and which did not. */
export interface RemovedSets {
  readonly removed: number
  /** They stay until a person decided and another session is removed, or until they expire. */
  readonly waiting: readonly ChangeSet[]
}

/**
 * Removes the sets of turns whose session is gone; with `sessionId` only those of that one. A set stays whose call is not in the ledger:
 * nobody knows its session. The workspace stays as it is.
 */
export async function removeSets(store: Store, inSets: InSets, sessionId?: string): Promise<RemovedSets> {
  const list = (sets?: SetsAt): readonly ChangeSet[] => sets?.records.list() ?? []
  // The store is asked without the lock, for which commands wait.
  const gone = await ofRemoved(store, await inSets((sets) => Promise.resolve(list(sets))), sessionId)
  if (gone.size === 0) return { removed: 0, waiting: [] }
  return inSets((sets) => {
    const found = list(sets).filter(({ id }) => gone.has(id))
    const over = found.filter(({ state, counts }) => state !== 'taking' && counts?.held === 0)
    for (const { id } of over) sets?.records.remove(id)
    return Promise.resolve({ removed: over.length, waiting: found.filter((set) => !over.includes(set)) })
  })
}

/** Ids of the sets. */
async function ofRemoved(store: Store, sets: readonly ChangeSet[], only?: string): Promise<ReadonlySet<string>> {
  const isThere = new Map<string, boolean>()
  const gone = new Set<string>()
  for (const { id, call } of sets) {
    const { sessionId, turnId } = (call === undefined ? undefined : await store.ledger.get(call))?.call ?? {}
    // A call without a turn may name a session that never had a row.
    if (sessionId === undefined || turnId === undefined || (only !== undefined && sessionId !== only)) continue
    if (!isThere.has(sessionId)) isThere.set(sessionId, (await store.sessions.get(sessionId)) !== undefined)
    if (isThere.get(sessionId) === false) gone.add(id)
  }
  return gone
}

/** uses: how often skills were used lately, which decides whose description is cut first when the budget is short. */
import type { Store } from '../store/index.ts'

/** Sessions whose loaded skills are counted, those used last first. */
const COUNTED_SESSIONS = 100

/** In how many recent sessions of this scope each skill was loaded, by address. Empty when the store fails: its next write reports that. */
export async function countUses(
  { sessions }: Pick<Store, 'sessions'>,
  scope: string | undefined,
): Promise<ReadonlyMap<string, number>> {
  const uses = new Map<string, number>()
  const filter = { limit: COUNTED_SESSIONS, ...(scope !== undefined && { scope }) }
  for (const { loaded } of await sessions.list(filter).catch(() => []))
    for (const address of new Set(loaded.map((skill) => skill.address))) uses.set(address, (uses.get(address) ?? 0) + 1)
  return uses
}

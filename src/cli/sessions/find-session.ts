import { NexusError, toSafeLine } from '../../kernel/index.ts'
import type { SessionRecord, Store } from '../../store/index.ts'

/** The session with that id, or the only one whose id begins so. Throws FILE_NOT_FOUND, or INVALID_ARGUMENT when several do. */
export async function findSession({ sessions }: Pick<Store, 'sessions'>, wanted: string): Promise<SessionRecord> {
  const exact = await sessions.get(wanted)
  if (exact) return exact
  const matching =
    wanted === '' ? [] : (await sessions.list({ limit: 10_000 })).filter(({ id }) => id.startsWith(wanted))
  const [session] = matching
  if (session && matching.length === 1) return session
  const shown = toSafeLine(wanted)
  if (!session)
    throw new NexusError('FILE_NOT_FOUND', `There is no session '${shown}'.`, { fix: 'nexus sessions list' })
  throw new NexusError('INVALID_ARGUMENT', `${matching.length} sessions begin with '${shown}'.`, {
    fix: `Give more of the id: ${matching
      .slice(0, 3)
      .map(({ id }) => id)
      .join(', ')}${matching.length > 3 ? ' …' : ''}`,
  })
}

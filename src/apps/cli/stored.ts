import { openConfiguredStore } from '../../local/index.ts'
import type { SessionRecord, Store } from '../../store/index.ts'
import type { Invocation } from './command.ts'
import { errorOf, MESSAGES } from './messages/index.ts'

type Opened = Awaited<ReturnType<typeof openConfiguredStore>>

/** The store that the settings choose, for a command that needs nothing else. */
export async function openStored(invocation: Invocation): Promise<Opened & AsyncDisposable> {
  const opened = await openConfiguredStore(invocation)
  return { ...opened, [Symbol.asyncDispose]: () => opened.store.close() }
}

/** The session with that id, or the only one whose id begins so. Throws FILE_NOT_FOUND, or INVALID_ARGUMENT when several do. */
export async function findSession({ sessions }: Pick<Store, 'sessions'>, wanted: string): Promise<SessionRecord> {
  const exact = await sessions.get(wanted)
  if (exact) return exact
  const matching =
    wanted === '' ? [] : (await sessions.list({ limit: 10_000 })).filter(({ id }) => id.startsWith(wanted))
  const [session] = matching
  if (session && matching.length === 1) return session
  if (!session) throw errorOf('FILE_NOT_FOUND', MESSAGES.sessionMissing(wanted))
  const ids = matching.map(({ id }) => id)
  throw errorOf('INVALID_ARGUMENT', MESSAGES.sessionAmbiguous(wanted, ids))
}

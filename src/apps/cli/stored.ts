import { commandFix, toSafeLine } from '../../kernel/index.ts'
import { openConfiguredStore } from '../../local/index.ts'
import type { SessionRecord, Store } from '../../store/index.ts'
import type { Invocation } from './command.ts'
import { errorOf } from './failure.ts'

type Opened = Awaited<ReturnType<typeof openConfiguredStore>>

export async function openStored(invocation: Invocation): Promise<Opened & AsyncDisposable> {
  const opened = await openConfiguredStore(invocation)
  return { ...opened, [Symbol.asyncDispose]: () => opened.store.close() }
}

/** The one with that id, else those whose ids begin so. */
export function matchingIds<Item extends { readonly id: string }>(all: readonly Item[], wanted: string): Item[] {
  const exact = all.find(({ id }) => id === wanted)
  if (exact) return [exact]
  return wanted === '' ? [] : all.filter(({ id }) => id.startsWith(wanted))
}

/** The session with that id, or the only one whose id begins so. Throws FILE_NOT_FOUND, or INVALID_ARGUMENT when several do. */
export async function findSession({ sessions }: Pick<Store, 'sessions'>, wanted: string): Promise<SessionRecord> {
  const exact = await sessions.get(wanted)
  if (exact) return exact
  const matching = matchingIds(await sessions.list({ limit: 10_000 }), wanted)
  const [session] = matching
  if (session && matching.length === 1) return session
  const asked = toSafeLine(wanted)
  const all = commandFix('See all sessions:', 'sessions', 'list', '--all')
  if (!session) throw errorOf('FILE_NOT_FOUND', `There is no session '${asked}'.`, all)
  const ids = matching.slice(0, 3).map(({ id }) => id)
  const fix = `Write more of the id: ${ids.join(', ')}${matching.length > 3 ? ' …' : ''}`
  throw errorOf('INVALID_ARGUMENT', `${matching.length} sessions begin with '${asked}'.`, fix)
}

/** The error for an id that is that of no message, or the beginning of several. */
export function turnNotFound(wanted: string, number = 0): Error {
  const id = toSafeLine(wanted)
  const message = number === 0 ? `No message ${id} waits or runs.` : `${number} messages begin with ${id}.`
  return errorOf('FILE_NOT_FOUND', message, commandFix('See the sessions:', 'sessions', 'list', '--all'))
}

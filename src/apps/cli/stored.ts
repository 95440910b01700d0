import { commandFix, toSafeLine } from '../../kernel/index.ts'
import { openConfiguredStore } from '../../local/index.ts'
import type { SessionRecord, Store } from '../../store/index.ts'
import type { Invocation } from './command.ts'
import { errorOf } from './failure.ts'

export type Opened = Awaited<ReturnType<typeof openConfiguredStore>>

export async function openStored(invocation: Invocation): Promise<Opened & AsyncDisposable> {
  const opened = await openConfiguredStore(invocation)
  return { ...opened, [Symbol.asyncDispose]: opened.close }
}

/** The one with that id, else those whose ids begin so. */
export function matchingIds<Item extends { readonly id: string }>(all: readonly Item[], wanted: string): Item[] {
  const exact = all.find(({ id }) => id === wanted)
  if (exact) return [exact]
  return wanted === '' ? [] : all.filter(({ id }) => id.startsWith(wanted))
}

/** A kind of stored thing in words, and the command that lists them. */
interface Kind {
  readonly noun: string
  readonly list: readonly string[]
}

const ALL_SESSIONS = ['sessions', 'list', '--all']
export const TURN: Kind = { noun: 'message that waits or runs', list: ALL_SESSIONS }

/** The one with that id, or the only one whose id begins so. Throws FILE_NOT_FOUND, or INVALID_ARGUMENT when several do. */
export function theOne<Item extends { readonly id: string }>(all: readonly Item[], wanted: string, kind: Kind): Item {
  const matching = matchingIds(all, wanted)
  const [item] = matching
  if (item && matching.length === 1) return item
  const { noun, list } = kind
  const [id, fix] = [toSafeLine(wanted), commandFix('See what there is:', ...list)]
  if (!item) throw errorOf('FILE_NOT_FOUND', `There is no ${noun} with the id ${id}.`, fix)
  const more = matching.length > 3 ? ' …' : ''
  const ids = matching.slice(0, 3).map((each) => each.id)
  throw errorOf('INVALID_ARGUMENT', `More than one ${noun} begins with ${id}: ${ids.join(', ')}${more}`, fix)
}

export async function findSession({ sessions }: Pick<Store, 'sessions'>, wanted: string): Promise<SessionRecord> {
  const exact = await sessions.get(wanted)
  return exact ?? theOne(await sessions.list({ limit: 10_000 }), wanted, { noun: 'session', list: ALL_SESSIONS })
}

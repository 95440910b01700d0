/** turn-queue: one turn of a session at a time. A message waits until its turn comes, is cancelled, or is dropped. */
import { setTimeout as delay } from 'node:timers/promises'
import { errorMessage, isNexusError, NexusError } from '../../kernel/index.ts'
import { type Lease, sessionLease, type Store, type StoredMessage, type TurnRecord } from '../../store/index.ts'
import { type AgentHandle, createWaker, type KeptLease, type Waker } from '../../runtime/index.ts'
import { TURNS } from './messages.ts'

/** Pauses after failures of the store in a row, before the next try. */
const RETRY_PAUSES_MS: readonly number[] = [50, 250, 1000]

/** A turn that is ours to run. */
export interface TakenTurn {
  readonly type: 'taken'
  readonly turn: TurnRecord
  readonly lease: Lease
  /** True for one that waited for answers: its history is open, and it goes on. */
  readonly goesOn: boolean
  /** Aborts when a caller cancels the turn by its id, or another process took over the session. */
  readonly stopped: AbortSignal
  /** Ends the turn in the store and lets the next one begin. */
  finish(end: Parameters<Store['turns']['finish']>[2]): Promise<void>
  /** Gives the session up without an end: the store is not writable for us any more. */
  giveUp(): Promise<void>
}

/** The turn is over, and this caller did not run it: it was cancelled or dropped, or another caller ran it. */
export interface EndedTurn {
  readonly type: 'ended'
  readonly turn: TurnRecord
}

/** Its signal aborted before it began, and nobody cancelled it. */
interface LeftTurn {
  readonly type: 'left'
}

/** Additions to the history when the turn is taken: the end of a turn that was cut off, and the message. */
type Opening = () => Promise<readonly StoredMessage[]>

interface Taking {
  /** For a message of another process: neither an abort nor a failure before it runs cancels it. */
  readonly leaves: boolean
  readonly opening: Opening
  readonly agent: Pick<AgentHandle, 'keepLease' | 'writeAsProcess'>
}

/**
 * Waits for the turn of a queued message; for one that another caller runs, until it is over. The signal cancels the turn
 * meanwhile. `onWait` is called once, when it has to wait.
 */
export async function takeQueued(
  store: Store,
  queued: TurnRecord,
  options: { readonly signal: AbortSignal; readonly onWait: (turn: TurnRecord) => void } & Taking,
): Promise<TakenTurn | EndedTurn | LeftTurn> {
  const { sessionId } = queued
  const { signal, onWait, ...taking } = options
  let waker: Waker | undefined
  let hasWaited = false
  let failures = 0
  using _following = { [Symbol.dispose]: () => waker?.stop() }
  for (;;) {
    let next: TakenTurn | EndedTurn | LeftTurn | TurnRecord
    try {
      waker ??= await createWaker(
        store,
        (event) => event.sessionId === sessionId && /^(turn|session)\./.test(event.type),
      )
      next = await tryOnce(store, queued, { isCancelled: signal.aborted, ...taking })
      // Its heartbeat ends what other processes left: nothing else wakes who waits for one that was killed.
      if (!('type' in next)) await taking.agent.writeAsProcess(() => Promise.resolve())
      failures = 0
    } catch (error) {
      const pause = RETRY_PAUSES_MS[failures++]
      if (pause === undefined || !isNexusError(error) || error.code !== 'STORE_FAILED')
        throw await notRun(store, queued, { cause: error, leaves: taking.leaves })
      await delay(pause)
      continue
    }
    if ('type' in next) return next
    if (!hasWaited) onWait(next)
    hasWaited = true
    await waker.next(next.isCancelRequested ? undefined : signal)
  }
}

/** The turn, taken or over; else its row, when it has to wait. */
async function tryOnce(
  store: Store,
  queued: TurnRecord,
  { isCancelled, ...taking }: { readonly isCancelled: boolean } & Taking,
): Promise<TakenTurn | EndedTurn | LeftTurn | TurnRecord> {
  if (isCancelled && taking.leaves) return { type: 'left' }
  if (isCancelled) await store.turns.cancel(queued.id)
  const turn = await store.turns.get(queued.id)
  if (!turn) return { type: 'ended', turn: { ...queued, state: 'dropped' } }
  if (turn.state === 'queued' || turn.state === 'waiting') return (await tryTake(store, turn, taking)) ?? turn
  if (turn.state !== 'running') return { type: 'ended', turn }
  // Ends the turn when its process died.
  await store.reclaim()
  return turn
}

/** Cancels an own turn that still waits, because this process lives and would bar the later ones. Returns the error for the caller. */
async function notRun(
  store: Store,
  { id: turnId, sessionId }: TurnRecord,
  { cause, leaves }: { readonly cause: unknown; readonly leaves: boolean },
): Promise<unknown> {
  const cancelWaiting = async (): Promise<boolean> => {
    if ((await store.turns.get(turnId))?.state !== 'queued') return false
    return (await store.turns.cancel(turnId)).state === 'cancelled'
  }
  const isCancelled = leaves ? undefined : await cancelWaiting().catch(() => undefined)
  if (isCancelled === false) return cause // Another caller runs it, or has ended it.
  const about = { turnId, sessionId, cause: errorMessage(cause) }
  const { message, ...fix } = leaves
    ? TURNS.leftAgain(about)
    : TURNS.notRun({ ...about, isCancelled: isCancelled === true })
  return new NexusError(isNexusError(cause) ? cause.code : 'INTERNAL', message, { ...fix, cause })
}

/** Takes the session and the turn; undefined while another process has the session, or an earlier message comes first. */
async function tryTake(
  store: Store,
  { id, sessionId, state }: TurnRecord,
  { opening, agent }: Taking,
): Promise<TakenTurn | undefined> {
  const goesOn = state === 'waiting'
  if (!(await isNext(store, { id, sessionId }))) return undefined
  const kept = await agent.keepLease(sessionLease(sessionId))
  if (!kept) return undefined
  try {
    const turn = await store.turns.take(sessionId, kept.lease, { id, messages: goesOn ? [] : await opening() })
    if (turn) return { ...running(store, turn, kept), goesOn }
  } catch (error) {
    // The failure of the release would hide the first one; the lease ends by itself.
    await kept.release().catch(() => undefined)
    throw error
  }
  await kept.release()
  return undefined
}

/** Looks before anything is written: whoever acquires a session and cannot go on wakes the others who wait for it. */
async function isNext({ turns }: Store, { id, sessionId }: Pick<TurnRecord, 'id' | 'sessionId'>): Promise<boolean> {
  const all = await turns.list({ sessionId, states: ['queued', 'running', 'waiting'] })
  const first = all.find(({ state }) => state !== 'queued') ?? all.find((turn) => turn.id === id || !turn.isLeft)
  return first?.id === id
}

function running(store: Store, turn: TurnRecord, kept: KeptLease): Omit<TakenTurn, 'goesOn'> {
  const cancelled = new AbortController()
  const look = async (): Promise<void> => {
    const now = await store.turns.get(turn.id)
    if (now?.isCancelRequested) cancelled.abort()
  }
  // A store that cannot be followed fails the turn's next write.
  const looking = (): void => void look().catch(() => undefined)
  const following = store.events.follow((event) => {
    if (event === undefined || event.references['turnId'] === turn.id) looking()
  })
  following.then(looking, () => undefined)
  const end = async (): Promise<void> => {
    following.then(
      (stop) => stop(),
      () => undefined,
    )
    await kept.release()
  }
  return {
    type: 'taken',
    turn,
    lease: kept.lease,
    stopped: AbortSignal.any([cancelled.signal, kept.lost]),
    finish: async (how) => {
      await store.turns.finish(turn.id, kept.lease, how)
      // The end is stored. A lease that cannot be released ends by itself.
      await end().catch(() => undefined)
    },
    giveUp: end,
  }
}

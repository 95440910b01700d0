/** left-work: what a process that ended left in a session, as far as the next turn needs it. */
import type { Ledger, Store } from '../../store/index.ts'
import type { AgentListener } from './events.ts'
import type { FateOfCalls } from './history.ts'
import { TURNS, type WaitingTurn } from './messages.ts'
import type { RecordedCall } from './tool-calls.ts'

interface Place {
  readonly store: Store
  readonly sessionId: string
}

/** Names the messages that ended processes left in the session: a single message does not run them. */
export async function nameLeft({ store, sessionId }: Place, ownId: string, emit: AgentListener): Promise<void> {
  // When they cannot be read, the turn goes on and reports it.
  const queued = await store.turns.list({ sessionId, states: ['queued'] }).catch(() => [])
  const ids = queued.filter((turn) => turn.isLeft && turn.id !== ownId).map((turn) => turn.id)
  for (const words of TURNS.left({ ids, sessionId })) emit({ type: 'notice', code: 'message-left', ...words })
}

/** The turn of the session that waits for an answer, unless it is the own one, and its first open question. */
export async function openQuestion({ store, sessionId }: Place, ownId: string): Promise<WaitingTurn | undefined> {
  const [waiting] = await store.turns.list({ sessionId, states: ['waiting'] }).catch(() => [])
  if (!waiting || waiting.id === ownId) return undefined
  const [question] = await store.approvals.list({ sessionId, states: ['open'] }).catch(() => [])
  return { turnId: waiting.id, sessionId, question }
}

/** The recorded calls of a turn that goes on, by the model's id: those with a question, and idempotent ones that began. */
export async function recordedCalls(
  { store, sessionId }: Place,
  turnId: string,
): Promise<ReadonlyMap<string, RecordedCall>> {
  const entries = await store.ledger.list({ sessionId, turnId, states: ['asked', 'answered', 'started'] })
  const questions = await store.approvals.list({ sessionId })
  const found = new Map<string, RecordedCall>()
  for (const entry of entries) {
    const question = questions.findLast(({ callId }) => callId === entry.call.id)
    if (question || entry.state === 'started')
      found.set(entry.call.toolCallId ?? '', {
        entry,
        approvalId: entry.state === 'started' ? undefined : question?.id,
      })
  }
  return found
}

/**
 * The ledger's facts about calls without an answer: a call is recorded before it runs, and its end is written together with
 * its answer. So when no call of the latest recorded turn began without an end, none of the open calls ran.
 */
export async function fateOfCalls(ledger: Ledger, sessionId: string): Promise<FateOfCalls> {
  const [newest] = await ledger.list({ sessionId, limit: 1 })
  const turnId = newest?.call.turnId
  if (turnId === undefined) return 'unknown'
  const states = (await ledger.list({ sessionId, turnId })).map(({ state }) => state)
  const hasBegun = states.some((state) => state === 'started' || state === 'interrupted')
  const isLeft = states.some((state) => state === 'asked' || state === 'answered' || state === 'not run')
  return isLeft && !hasBegun ? 'not run' : 'unknown'
}

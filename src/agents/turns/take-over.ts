/** take-over: whoever serves an agent runs what ended processes left in its session. What does not begin is left again. */
import { newId } from '../../kernel/index.ts'
import type { AgentHandle } from '../../runtime/index.ts'
import type { Store, TurnRecord } from '../../store/index.ts'
import type { TurnResult } from './events.ts'

export interface Served {
  readonly store: Store
  readonly sessionId: string
  readonly agent: Pick<AgentHandle, 'keepLease'>
  /** Begins no further turn when it aborts. */
  readonly signal: AbortSignal
}

/** `run` gives undefined for a turn that did not begin. */
export async function takeOver(
  { store, sessionId, agent, signal }: Served,
  run: (turn: TurnRecord) => Promise<TurnResult | undefined>,
): Promise<readonly TurnResult[]> {
  await store.reclaim()
  // Reads first: where nothing was left, nothing is written.
  const open = await store.turns.list({ sessionId, states: ['waiting', 'queued'] })
  const isLeft = open.some((turn) => turn.isLeft)
  // Adopted messages are left again when this lease ends, by its release or with its process.
  const serving = isLeft && !signal.aborted ? await agent.keepLease(`serving:${newId()}`) : undefined
  try {
    const adopted = serving ? await store.turns.adopt(sessionId, serving.lease) : []
    const results: TurnResult[] = []
    for (const turn of [...open.filter(({ state }) => state === 'waiting'), ...adopted]) {
      const result = signal.aborted ? undefined : await run(turn)
      if (result) results.push(result)
    }
    return results
  } finally {
    // One that fails is repeated with the heartbeat of the process.
    await serving?.release().catch(() => undefined)
  }
}

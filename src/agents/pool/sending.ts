/** sending: messages between agents. One downward waits for the answer, one upward never waits: so no circle of agents waits. */
import { randomBytes } from 'node:crypto'
import type { Agent } from '../turns/index.ts'
import { POOL, poolError } from './messages.ts'
import type { Acting, PoolState } from './pool-state.ts'
import { isKey, type Target } from './reach.ts'
import type { SendRequest, Sent } from './types.ts'

export interface Message {
  readonly id: string
  readonly content: string
  readonly request: SendRequest
}

export async function send(state: PoolState, acting: Acting, { id, content, request }: Message): Promise<Sent> {
  if (state.closing.aborted) throw poolError('CONFLICT', POOL.closed())
  const requestId = request.requestId ?? randomBytes(8).toString('hex')
  const target = await acting.reach.target(id)
  if (target.type === 'parent') {
    const from = await authorOf(state, acting)
    return { type: await sendUp(state, target, { content, from, requestId }), requestId }
  }
  // For a descendant it is the task: nobody else gives it one.
  const { agent } = await state.opened.open(target.row)
  const signal = untilClosed(state, request.signal)
  const result = await state.running(target.row.key, agent.send(content, { ...request, requestId, signal }))
  return { type: 'answered', requestId, result }
}

/** A closed pool cancels what it runs. */
export function untilClosed({ closing }: PoolState, signal: AbortSignal | undefined): AbortSignal {
  return signal ? AbortSignal.any([signal, closing]) : closing
}

/** The agent that sends. */
async function authorOf({ options }: PoolState, { actor }: Acting): Promise<{ readonly agent: string }> {
  if (!actor) return { agent: 'user' }
  const row = isKey(actor.key) ? await options.runtime.store.agents.get(actor.key) : undefined
  return { agent: row?.path ?? actor.key }
}

interface Upward {
  readonly content: string
  readonly from: { readonly agent: string }
  readonly requestId: string
}

/** The turn of the parent reads it before its next step; without one it begins a turn of its own, which nobody waits for. */
async function sendUp(
  state: PoolState,
  target: Extract<Target, { readonly type: 'parent' }>,
  { content, from, requestId }: Upward,
): Promise<'delivered' | 'queued'> {
  const { opened } = state
  const agent: Agent = target.row ? (await opened.open(target.row)).agent : opened.configured(target)
  if (await agent.deliver(content, from)) return 'delivered'
  await new Promise<void>((resolve, reject) => {
    const onEvent = ({ type }: { readonly type: string }): void => {
      if (type === 'turn-queued') resolve()
    }
    const turn = agent.send(content, { from, requestId, onEvent, signal: state.closing })
    state.running(target.row?.key ?? target.id, turn).then(() => resolve(), reject)
  })
  return 'queued'
}

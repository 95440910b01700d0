/** sending: messages between agents. One downward waits for the answer, one upward never waits: so no circle of agents waits. */
import { randomBytes } from 'node:crypto'
import { type AgentRecord, isAgentKey } from '../../store/index.ts'
import { type Agent, hasMessage } from '../turns/index.ts'
import { POOL, poolError } from './messages.ts'
import type { Acting, PoolState } from './pool-state.ts'
import type { Target } from './reach.ts'
import type { SendRequest, Sent } from './types.ts'

export interface Message {
  readonly id: string
  readonly content: string
  readonly request: SendRequest
}

export async function send(state: PoolState, acting: Acting, { id, content, request }: Message): Promise<Sent> {
  if (state.work.isClosed) throw poolError('CONFLICT', POOL.closed())
  const requestId = request.requestId ?? randomBytes(8).toString('hex')
  const target = await acting.reach.target(id)
  if (target.type === 'parent') {
    const from = await authorOf(state, acting)
    return { type: await sendUp(state, target, { content, from, requestId }), requestId }
  }
  // For a descendant it is the task: nobody else gives it one.
  const { agent } = await state.opened.open(target.row)
  const { key } = target.row
  const stop = new AbortController()
  const signal = AbortSignal.any([untilClosed(state, key, request.signal), stop.signal])
  try {
    const sending = agent.send(content, { ...request, requestId, signal })
    const [result] = await Promise.all([
      state.work.running(key, sending),
      goOn(state, target.row, { ...request, signal }),
    ])
    return { type: 'answered', requestId, result }
  } finally {
    stop.abort()
  }
}

/**
 * A turn whose process ended while other agents worked for it has its place before this message. It goes on here, unless a person is
 * still asked about a call below it.
 */
async function goOn(state: PoolState, row: AgentRecord, options: SendRequest & { readonly signal: AbortSignal }) {
  const { store, approvals } = state.options.runtime
  const [waiting] = await store.turns.list({ sessionId: row.sessionId, states: ['waiting'] })
  if (!waiting || waiting.requestId === options.requestId) return
  const isBelow = ({ agentPath }: { readonly agentPath: string }): boolean => `${agentPath}/`.startsWith(`${row.path}/`)
  if ((await approvals.list()).some(isBelow)) return
  const { agent } = await state.opened.open(row)
  await state.work.running(row.key, agent.takeOver({ signal: options.signal }))
}

/** A closed pool cancels what it runs. */
export function untilClosed({ work }: PoolState, key: string, signal: AbortSignal | undefined): AbortSignal {
  const closing = work.signalOf(key)
  return signal ? AbortSignal.any([signal, closing]) : closing
}

/** The agent that sends. */
async function authorOf({ options }: PoolState, { actor }: Acting): Promise<{ readonly agent: string }> {
  if (!actor) return { agent: 'user' }
  const row = isAgentKey(actor.key) ? await options.runtime.store.agents.get(actor.key) : undefined
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
  const { opened, options } = state
  const { store } = options.runtime
  const { sessionId } = target
  // The same message again, after a process that ended: it was queued or delivered, and is not a second time.
  if (await store.turns.get({ sessionId, requestId })) return 'queued'
  const author = { ...from, requestId }
  if ((await store.sessions.get(sessionId)) && hasMessage(await store.sessions.messages(sessionId), author))
    return 'delivered'
  const agent: Agent = target.row ? (await opened.open(target.row)).agent : opened.configured(target)
  if (await agent.deliver(content, author)) return 'delivered'
  await new Promise<void>((resolve, reject) => {
    const onEvent = ({ type }: { readonly type: string }): void => {
      if (type === 'turn-queued') resolve()
    }
    const key = target.row?.key ?? target.id
    const turn = agent.send(content, { from, requestId, onEvent, signal: state.work.signalOf(key) })
    state.work.running(key, turn).then(() => resolve(), reject)
  })
  return 'queued'
}

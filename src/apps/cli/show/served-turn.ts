/** served-turn: shows what an agent of a server and its descendants do, by the events of the server. */
import type { PoolEvent } from '../../../agents/pool/index.ts'
import type { AgentEvent, TurnResult } from '../../../agents/turns/index.ts'
import { type Decision, inTime, type JsonObject, type Outcome } from '../../../kernel/index.ts'
import type { CallListing, Client, ServerEvent } from '../../client/index.ts'

export interface ServedTurn extends AsyncDisposable {
  /** Resolves when the end of the turn was shown, at most 2 s later. True when words of the agent were shown. */
  shown(turnId: string): Promise<boolean>
}

/** Each event of a turn, in the form of a pool; `onQuestion` gets a question that was opened, with its call. */
export interface ServedListener {
  readonly onEvent: (event: PoolEvent) => void
  readonly onQuestion: (approvalId: string, call: CallListing) => Promise<void>
}

const LAST_EVENTS_MS = 2_000
/** Events that come whole, and only from the server that runs the turn. */
const LIVE: ReadonlySet<string> = new Set(['text-delta', 'reasoning-delta', 'tool-output', 'notice'])
const ENDS: ReadonlySet<string> = new Set(['turn.done', 'turn.cancelled', 'turn.dropped', 'turn.interrupted'])

const ENDINGS: Readonly<Record<string, TurnResult['end']>> = { 'turn.done': 'done', 'turn.interrupted': 'failed' }

/** Follows the events until it is disposed of. A stream that fails shows nothing: the answer of the message is not its. */
export async function followServed(client: Client, id: string, listener: ServedListener): Promise<ServedTurn> {
  const stop = new AbortController()
  const { signal } = stop
  const opened = Promise.withResolvers<void>()
  const ended = new Map<string, PromiseWithResolvers<void>>()
  const endOf = (turnId: string): PromiseWithResolvers<void> => {
    const known = ended.get(turnId) ?? Promise.withResolvers<void>()
    ended.set(turnId, known)
    return known
  }
  let hasSaid = false
  const translate = createTranslation(client, listener)
  const reading = (async () => {
    for await (const event of client.events(id, { subtree: true, signal, onOpen: opened.resolve })) {
      if (event.type === 'text-delta' && event.data['agent_id'] === id) hasSaid = true
      await translate(event)
      if (ENDS.has(event.type)) endOf(referencesOf(event).turnId ?? '').resolve()
    }
  })().catch(() => undefined)
  void reading.then(opened.resolve)
  await opened.promise
  return {
    async shown(turnId) {
      await inTime(Promise.race([endOf(turnId).promise, reading]), LAST_EVENTS_MS)
      return hasSaid
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await reading
    },
  }
}

interface References {
  readonly turnId?: string
  readonly callId?: string
  readonly approvalId?: string
  readonly totalTokens?: number
}

const referencesOf = ({ data }: ServerEvent): References => (data['references'] ?? {}) as References

/** Events of rows name them only: the rows are read. */
function createTranslation(client: Client, { onEvent, onQuestion }: ServedListener) {
  const paths = new Map<string, string>()
  const calls = new Map<string, { readonly since: number; isDecided: boolean; isOver: boolean }>()
  const tokens = new Map<string, number>()

  async function pathOf(agentId: string): Promise<string> {
    if (!paths.has(agentId))
      for (const { agent_id, path } of await client.listAgents().catch(() => [])) paths.set(agent_id, path)
    return paths.get(agentId) ?? agentId
  }

  async function emit(data: JsonObject, event: PoolEvent['event']): Promise<void> {
    const agentId = String(data['agent_id'])
    onEvent({ agentId, key: String(data['agent_key'] ?? ''), path: await pathOf(agentId), event })
  }

  async function onCall({ data }: ServerEvent, callId: string): Promise<CallListing | undefined> {
    const call = await client.callAgent(String(data['agent_id']), ['get_call', { call_id: callId }]).catch(() => null)
    if (!call) return undefined
    const known = calls.get(callId) ?? { since: performance.now(), isDecided: false, isOver: false }
    if (!calls.has(callId)) await emit(data, { type: 'tool-call', callId, tool: call.tool, arguments: call.arguments })
    calls.set(callId, known)
    const decision = call.decision as unknown as Decision
    if (!known.isDecided && decision.type !== 'ask') {
      known.isDecided = true
      await emit(data, { type: 'tool-decision', callId, decision })
    }
    if (call.outcome !== null && !known.isOver) {
      known.isOver = true
      const outcome = call.outcome as unknown as Outcome
      const durationMs = Math.round(performance.now() - known.since)
      await emit(data, { type: 'tool-result', callId, tool: call.tool, outcome, durationMs })
    }
    return call
  }

  return async (event: ServerEvent): Promise<void> => {
    const { type, data } = event
    if (LIVE.has(type)) return emit(data, { ...data, type } as unknown as AgentEvent)
    const { callId } = referencesOf(event)
    if (callId !== undefined) return onCallEvent(event, callId)
    return onTurn(event)
  }

  async function onCallEvent(event: ServerEvent, callId: string): Promise<void> {
    const { type, data } = event
    const call = await onCall(event, callId)
    const { approvalId } = referencesOf(event)
    if (type !== 'approval.open' || approvalId === undefined) return
    await emit(data, { type: 'tool-asked', callId, approvalId, isOpen: true })
    // A person takes their time: what others do is shown meanwhile. Who answered elsewhere was faster.
    if (call) void onQuestion(approvalId, call).catch(() => undefined)
  }

  async function onTurn(event: ServerEvent): Promise<void> {
    const { type, data } = event
    const { turnId = '', totalTokens = 0 } = referencesOf(event)
    const sessionId = String(data['session_id'] ?? '')
    if (type === 'turn.running') await emit(data, { type: 'turn-start', turnId, sessionId, model: '' })
    else if (type === 'turn.step') tokens.set(turnId, (tokens.get(turnId) ?? 0) + totalTokens)
    else if (ENDS.has(type)) await emit(data, { type: 'turn-end', result: endOf(type, { turnId, sessionId }) })
  }

  function endOf(type: string, ids: { readonly turnId: string; readonly sessionId: string }): TurnResult {
    const totalTokens = tokens.get(ids.turnId) ?? 0
    return {
      ...ids,
      end: ENDINGS[type] ?? 'cancelled',
      text: '',
      usage: { steps: 0, inputTokens: 0, outputTokens: 0, totalTokens },
    }
  }
}

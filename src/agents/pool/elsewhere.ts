/** elsewhere: the tools of the pool on another server of the same store, over the wire: the agent has there what it has here. */
import {
  failed,
  isNexusError,
  type JsonObject,
  type JsonValue,
  NexusError,
  type Outcome,
  succeeded,
} from '../../kernel/index.ts'
import type { TurnResult } from '../turns/index.ts'
import { POOL, poolError } from './messages.ts'
import { toSendOutcome } from './send-outcome.ts'
import type { OtherServers } from './types.ts'

/** A call of a tool with the port of another server. */
export interface Elsewhere {
  readonly port: number
  readonly agentKey: string
  readonly others: OtherServers | undefined
  readonly callId: string
  readonly signal: AbortSignal
}

type Ask = (method: string, params: JsonObject, agentId?: string) => Promise<JsonObject>

/** The outcome of the tool over there. */
export async function elsewhere(tool: string, args: JsonObject, about: Elsewhere): Promise<Outcome> {
  const { others, port, agentKey, signal } = about
  if (!others) throw poolError('INVALID_ARGUMENT', POOL.otherPort(port))
  const ask: Ask = (method, params, agentId) =>
    // A cancelled call still cancels its message.
    others.call({ port, agentKey, signal: method === 'cancel' ? undefined : signal }, { method, params, agentId })
  const id = String(args['agent_id'] ?? '').trim()
  if (id === '' && tool !== 'nexus_shutdown') throw poolError('INVALID_ARGUMENT', POOL.noId())
  switch (tool) {
    case 'nexus_create':
      return create(ask, { id, args, about })
    case 'nexus_send':
      return send(ask, { id, content: String(args['content']), about })
    case 'nexus_status':
      return json(statusOf(await ask('get_status', {}, id), await ask('get_tokens', {}, id)))
    case 'nexus_cancel':
      return json(await ask('cancel', { request_id: args['request_id'] ?? '' }, id))
    case 'nexus_destroy':
      return json(await ask('destroy_agent', { agent_id: id }))
    default:
      return json(await ask('shutdown_server', {}))
  }
}

const json = (value: JsonObject): Outcome => succeeded(JSON.stringify(value), value)

interface Request {
  readonly id: string
  readonly about: Elsewhere
}

async function create(ask: Ask, { id, args, about }: Request & { readonly args: JsonObject }): Promise<Outcome> {
  const { preset, disable_tools, instructions, model, skills, max_tokens, max_turns, message } = args
  const paths = Array.isArray(args['allowed_paths']) ? args['allowed_paths'] : []
  if (paths.length > 1) throw poolError('INVALID_ARGUMENT', POOL.onePath())
  const [cwd] = paths
  const given = { preset, disable_tools, system_prompt: instructions, model, skills, cwd, max_tokens, max_turns }
  const params = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  )
  const made = await ask('create_agent', { agent_id: id, ...params })
  return typeof message === 'string' ? send(ask, { id, content: message, about, more: made }) : json(made)
}

/** The text of the other agent comes in a boundary, as here. A cancel of the call cancels the message. */
async function send(
  ask: Ask,
  { id, content, about, more }: Request & { readonly content: string; readonly more?: JsonObject },
): Promise<Outcome> {
  const { callId, signal } = about
  const params = { request_id: callId }
  const cancel = (): void => void ask('cancel', params, id).catch(() => undefined)
  signal.addEventListener('abort', cancel)
  try {
    const { status } = await ask('send', { ...params, content, source: 'nexus_send' }, id)
    if (status === 'delivered' || status === 'queued') return json({ ...more, [status]: true, request_id: callId })
  } catch (error) {
    if (signal.aborted)
      return failed('CANCELLED', `The message to the agent ${id} was cancelled.`, { error: 'CANCELLED' })
    const turn = await ask('get_turn', params, id).catch(() => undefined)
    if (turn?.['end'] === undefined || !isNexusError(error)) throw error
  } finally {
    signal.removeEventListener('abort', cancel)
  }
  const result = resultOf(await ask('get_turn', params, id))
  return toSendOutcome({ type: 'answered', requestId: callId, result }, { agent: id, callId, more })
}

function resultOf({ turn_id, session_id, end, content, error }: JsonObject): TurnResult {
  const { message, fix } = (error ?? {}) as { readonly message?: string; readonly fix?: string }
  return {
    turnId: String(turn_id),
    sessionId: String(session_id),
    end: end as TurnResult['end'],
    text: String(content ?? ''),
    usage: { steps: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    error: message === undefined ? undefined : new NexusError('MODEL_FAILED', message, { fix }),
  }
}

/** The members that the tool has here. */
function statusOf(status: JsonObject, tokens: JsonObject): JsonObject {
  const { agent, used, left = {}, context = {}, questions = [] } = status
  const { state = '', child_count: children = 0 } = agent as JsonObject
  const { own = {}, subtree = {} } = used as JsonObject
  return { tokens, context, state, used: { own, subtree }, left, children, questions }
}

/** served-agents: the agents of a server, in the form in which commands have those of a pool. */
import type {
  AgentInfo,
  AgentState,
  AgentStatus,
  AgentTree,
  Budget,
  CreateRequest,
  PoolAccess,
  Sent,
} from '../../agents/pool/index.ts'
import type { TurnResult } from '../../agents/turns/index.ts'
import { CODES, type ErrorCode, isJsonObject, NexusError, toSafeLine } from '../../kernel/index.ts'
import type { Approval, StoredMessage, TurnUse } from '../../store/index.ts'
import type { AskedCall } from '../../runtime/index.ts'
import {
  type AgentListing,
  type AgentRequest,
  type CallListing,
  type Client,
  ClientError,
  type MessageResult,
  type TurnListing,
} from '../client/index.ts'
import type { Invocation } from './command.ts'
import { errorOf } from './failure.ts'
import { approver } from './open.ts'

type Shared = 'send' | 'cancel' | 'destroy' | 'list' | 'tree' | 'messages' | 'resume' | 'compact'

/** The part of a pool that commands use. */
export interface Agents extends Pick<PoolAccess, Shared> {
  status(id: string): Promise<
    Omit<AgentStatus, 'questions'> & {
      readonly questions: readonly Pick<Approval, 'id' | 'agentPath' | 'tool' | 'command'>[]
    }
  >
}

/** Most messages of one answer. */
const MOST_MESSAGES = 2_000
const SOURCE = 'nexus command'

/** Every method throws a NexusError: that of the server where it gave one. */
export function servedAgents(client: Client): Agents {
  const asked = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw toNexusError(error, client)
    })
  const list: Agents['list'] = async ({ parent, isLiving = true } = {}) => {
    const { agents } = await asked(client.call('list_agents', { ended: !isLiving }))
    return agents.map(toInfo).filter((info) => parent === undefined || info.parent === parent)
  }
  const turnOf = (id: string, requestId: string): Promise<TurnListing> =>
    asked(client.callAgent(id, ['get_turn', { request_id: requestId }]))

  /** The end of the turn of a message. An abort cancels the message; a turn that failed is a result. */
  async function endOf(
    { id, requestId, signal }: { readonly id: string; readonly requestId: string; readonly signal?: AbortSignal },
    send: () => Promise<MessageResult>,
  ): Promise<TurnResult | { readonly status: 'delivered' | 'queued' }> {
    const cancel = (): void => void client.cancel(id, requestId).catch(() => undefined)
    signal?.addEventListener('abort', cancel)
    try {
      const { status } = await asked(send())
      if (status !== undefined) return { status }
    } catch (error) {
      const turn = await turnOf(id, requestId).catch(() => undefined)
      if (turn?.end === undefined) throw error
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
    return toResult(await turnOf(id, requestId))
  }

  return {
    list,
    async send(id, content, { requestId = newRequestId(), signal } = {}): Promise<Sent> {
      const sending = (): Promise<MessageResult> => client.send(id, content, { requestId, source: SOURCE })
      const ended = await endOf({ id, requestId, signal }, sending)
      return 'status' in ended ? { type: ended.status, requestId } : { type: 'answered', requestId, result: ended }
    },
    async compact(id, { requestId = newRequestId(), signal } = {}) {
      const ended = await endOf({ id, requestId, signal }, () =>
        client.callAgent(id, ['compact', { request_id: requestId }]),
      )
      return 'status' in ended ? toResult(await turnOf(id, requestId)) : ended
    },
    cancel: async (id, requestId) => (await asked(client.cancel(id, requestId))).cancelled,
    async destroy(id) {
      const all = await list()
      const own = all.find((info) => info.id === id)
      await asked(client.destroyAgent(id))
      const below = all.filter(({ path }) => own !== undefined && path.startsWith(`${own.path}/`))
      return [id, ...below.map((info) => info.id)]
    },
    async status(id) {
      const { agent, used, budget, left, context, questions } = await asked(client.callAgent(id, ['get_status', {}]))
      return {
        ...toInfo(agent),
        used: { ...used, own: camel<TurnUse>(used.own), subtree: camel<TurnUse>(used.subtree) },
        budget: camel<Budget>(budget),
        left: camel<Budget>(left),
        context: { messageCount: context.message_count, systemPrompt: context.system_prompt },
        questions: questions.map((question) => ({
          id: question.approval_id,
          agentPath: question.agent_path,
          tool: question.tool,
          command: question.command,
        })),
      }
    },
    async tree(id) {
      const all = await list()
      const withBelow = (info: AgentInfo): AgentTree => {
        return { ...info, children: all.filter(({ parent }) => parent === info.id).map(withBelow) }
      }
      const known = new Set(all.map((info) => info.id))
      const tops = all.filter((info) => (id === undefined ? !known.has(info.parent ?? '') : info.id === id))
      if (id !== undefined && tops.length === 0) throw notFound(id)
      return tops.map(withBelow)
    },
    async messages(id, { offset = 0, limit = 200 } = {}) {
      const part = { offset, limit: Math.min(limit, MOST_MESSAGES) }
      const { agent } = await asked(client.callAgent(id, ['get_status', {}]))
      const { total, messages } = await asked(client.callAgent(id, ['get_messages', part]))
      return { sessionId: agent.session_id, total, offset, messages: messages as readonly unknown[] as StoredMessage[] }
    },
    resume: async (id) => (await asked(client.callAgent(id, ['resume', {}]))).turns.map(toResult),
  }
}

/** Makes an agent over the wire: with the default preset of the server, and at most its `server.ceiling`. */
export async function createServed(
  client: Client,
  { id, parent, preset, model, instructions, skills, permissions = {}, budget = {} }: CreateRequest,
): Promise<{ readonly agent: AgentInfo; readonly clipped: readonly string[] }> {
  const { disableTools, allowedPaths } = permissions
  const [cwd, ...more] = allowedPaths ?? []
  if (more.length > 0)
    throw errorOf('INVALID_ARGUMENT', 'A server confines an agent to one directory.', 'Give --path once.')
  const { maxTokens, maxTurns, maxTimeMs, maxChildren, maxCost } = budget
  const request = {
    agent_id: id,
    parent_agent_id: parent,
    preset,
    model,
    system_prompt: instructions,
    skills,
    disable_tools: disableTools,
    cwd,
    max_tokens: maxTokens,
    max_turns: maxTurns,
    max_seconds: maxTimeMs === undefined ? undefined : Math.ceil(maxTimeMs / 1_000),
    max_children: maxChildren,
    max_cost: maxCost,
  }
  try {
    // Members that are undefined are not sent.
    const { agent_id, clipped = [] } = await client.createAgent(request as AgentRequest)
    const { agent } = await client.callAgent(agent_id, ['get_status', {}])
    return { agent: toInfo(agent), clipped }
  } catch (error) {
    throw toNexusError(error, client)
  }
}

/** Answers questions of a server as this command answers its own: at the terminal, or with `--yes` for the policy. */
export function answerer(client: Client, invocation: Invocation): (id: string, call?: CallListing) => Promise<void> {
  const approve = approver(invocation)
  return async (id, known) => {
    if (!approve) return
    const { approvals } = await client.call('approvals.list', {})
    const approval = approvals.find(({ approval_id }) => approval_id === id)
    if (!approval) return
    const { agent_path: agentPath, tool, command, why, call_id: callId } = approval
    const asked = {
      id: callId,
      tool,
      agentPath,
      agentId: '',
      origin: 'model',
      arguments: known?.arguments ?? { command },
    }
    const said = await approve(asked as AskedCall, command, invocation.signal, why ?? undefined)
    if (said === undefined || typeof said === 'boolean') return
    const { isAllowed: allow, by, remember } = said
    const kept = remember === 'exact' ? remember : undefined
    await client.call('approvals.respond', { approval_id: id, allow, by, remember: kept })
  }
}

/** An agent of a server. */
export function toInfo(agent: AgentListing): AgentInfo {
  const { agent_id: id, key, path, depth, model, preset, parent_agent_id: parent, ended_at: ended } = agent
  return {
    id,
    key,
    path,
    parent: parent ?? undefined,
    depth,
    sessionId: agent.session_id,
    isTemporary: agent.is_temp,
    preset,
    level: agent.permission_level,
    model,
    state: agent.state as AgentState,
    messageCount: agent.message_count,
    childCount: agent.child_count,
    createdAt: Date.parse(agent.created_at),
    lastActionAt: Date.parse(agent.last_action_at),
    endedAt: ended === undefined ? undefined : Date.parse(ended),
  }
}

function toResult({ turn_id, session_id, end = 'failed', content = '', error, used }: TurnListing): TurnResult {
  return {
    turnId: turn_id,
    sessionId: session_id,
    text: content,
    end: end as TurnResult['end'],
    usage: camel<TurnUse>(used),
    error: error && new NexusError(codeOf(error.code), error.message, { fix: error.fix }),
  }
}

/** Counts with names in our form: `max_tokens` is `maxTokens`. */
function camel<T>(theirs: object): T {
  const rename = (name: string): string => name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(theirs).map(([name, value]) => [rename(name), value as number])) as T
}

function codeOf(name: unknown): ErrorCode {
  return typeof name === 'string' && Object.hasOwn(CODES, name) ? (name as ErrorCode) : 'INTERNAL'
}

const notFound = (id: string): NexusError => errorOf('AGENT_NOT_FOUND', `Agent not found: ${toSafeLine(id)}`)

/** The error of a server as ours. */
export function toNexusError(error: unknown, { url }: Pick<Client, 'url'>): unknown {
  if (!(error instanceof ClientError)) return error
  const { kind, status, message } = error
  const words = toSafeLine(message)
  if (kind === 'rpc') return ofMethod(error, words)
  if (status === 404) return errorOf('AGENT_NOT_FOUND', words, undefined, error)
  if (status === 401 || status === 403)
    return errorOf(
      'CALL_DENIED',
      `The server at ${url} did not take the key of this user: ${words}.`,
      'Set NEXUS_API_KEY to its key, or type the command as the user that started it.',
      error,
    )
  return errorOf(kind === 'timeout' ? 'TIMEOUT' : 'NETWORK_FAILED', `The server at ${url}: ${words}`, undefined, error)
}

function ofMethod(error: ClientError, words: string): NexusError {
  const { code, data } = error
  const { code: name, fix } = isJsonObject(data) ? data : {}
  const known = name ?? Object.entries(CODES).find(([, { rpc }]) => rpc === code)?.[0]
  return errorOf(codeOf(known), words, typeof fix === 'string' ? toSafeLine(fix) : undefined, error)
}

/** 16 hex digits. */
function newRequestId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex')
}

import { ClientError } from './client-error.ts'
import { type EventOptions, openEvents, type ServerEvent } from './events.ts'
import { post } from './post.ts'
import type { AgentMethods, AgentRequest, GlobalMethods, MessageResult } from './wire.ts'

export interface ClientOptions {
  /** Default: `http://127.0.0.1:PORT`. */
  readonly url?: string
  /** Default 8765. */
  readonly port?: number
  /** The key of the server, as `discoverKey` finds it. */
  readonly key?: string | undefined
  /** A capability token of one agent, in place of the key. */
  readonly token?: string | undefined
  /** For every method but `send`; default 60 s. */
  readonly timeoutMs?: number
  /** How often a request that may be repeated is made again when the connection fails; default 3. */
  readonly retries?: number
}

type Result<M, N extends keyof M> = M[N] extends { result: infer R } ? R : never
type Params<M, N extends keyof M> = M[N] extends { params: infer P } ? P : never

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** Every method rejects with a ClientError. Methods that a repetition cannot change are tried again when the connection fails. */
export interface Client {
  readonly url: string
  call<N extends keyof GlobalMethods>(
    method: N,
    params: Params<GlobalMethods, N>,
    options?: CallOptions,
  ): Promise<Result<GlobalMethods, N>>
  callAgent<N extends keyof AgentMethods>(
    agentId: string,
    [method, params]: readonly [N, Params<AgentMethods, N>],
    options?: CallOptions,
  ): Promise<Result<AgentMethods, N>>
  createAgent(request?: AgentRequest): Promise<Result<GlobalMethods, 'create_agent'>>
  listAgents(): Promise<Result<GlobalMethods, 'list_agents'>['agents']>
  destroyAgent(agentId: string): Promise<Result<GlobalMethods, 'destroy_agent'>>
  shutdownServer(): Promise<Result<GlobalMethods, 'shutdown_server'>>
  /**
   * Waits for the answer without a time limit of its own. It has a request id, yours or a new one, so that it goes on waiting for
   * the same turn after a connection that broke. `signal` ends the waiting, not the turn: `cancel` ends that.
   */
  send(
    agentId: string,
    content: string,
    options?: CallOptions & {
      readonly requestId?: string | number
      readonly source?: string
      readonly sourceAgentId?: string
    },
  ): Promise<MessageResult>
  cancel(agentId: string, requestId: string | number): Promise<Result<AgentMethods, 'cancel'>>
  getTokens(agentId: string): Promise<Result<AgentMethods, 'get_tokens'>>
  getContext(agentId: string): Promise<Result<AgentMethods, 'get_context'>>
  /**
   * The events of an agent, from now on or from `lastEventId`. It connects again by itself and goes on where it was; `reset` says
   * that some are gone. It ends with the signal, and with the agent's refusal.
   */
  events(agentId: string, options?: EventOptions): AsyncGenerator<ServerEvent, void, undefined>
}

const DEFAULT_PORT = 8765
/** They may take as long as an agent works. */
const WAITING: ReadonlySet<string> = new Set(['send', 'resume', 'compact'])
const TIMEOUT_MS = 60_000
const RETRIES = 3
/** The others are made again only where the first one never reached the server. */
const REPEATABLE: ReadonlySet<string> = new Set([
  ...['list_agents', 'approvals.list', 'skills.list', 'skills.get', 'rpc.discover'],
  ...['send', 'cancel', 'resume', 'get_status', 'get_turn', 'get_tokens', 'get_context', 'get_messages', 'get_call'],
])

export function createClient(options: ClientOptions = {}): Client {
  const { port = DEFAULT_PORT, key, token, timeoutMs = TIMEOUT_MS, retries = RETRIES } = options
  const url = (options.url ?? `http://127.0.0.1:${port}`).replace(/\/+$/, '')
  const headers: Record<string, string> = {
    ...(token !== undefined
      ? { 'x-nexus-capability': token }
      : key !== undefined && { authorization: `Bearer ${key}` }),
  }

  function request(path: string, [method, params]: readonly [string, object], { signal }: CallOptions = {}) {
    const isWaiting = WAITING.has(method) || (method === 'create_agent' && 'initial_message' in params)
    return post(`${url}${path}`, {
      headers,
      method,
      params,
      signal,
      timeoutMs: isWaiting ? undefined : timeoutMs,
      retries,
      isRepeatable: REPEATABLE.has(method),
    })
  }

  const call: Client['call'] = async (method, params, about) =>
    (await request('/rpc', [method, params as object], about)) as never
  const callAgent: Client['callAgent'] = async (agentId, [method, params], about) =>
    (await request(agentPath(agentId), [method, params as object], about)) as never

  return {
    url,
    call,
    callAgent,
    createAgent: (agent = {}) => call('create_agent', agent),
    listAgents: async () => (await call('list_agents', {})).agents,
    destroyAgent: (agentId) => call('destroy_agent', { agent_id: agentId }),
    shutdownServer: () => call('shutdown_server', {}),
    send: (agentId, content, { requestId = newRequestId(), source, sourceAgentId, ...about } = {}) => {
      const params = { content, request_id: requestId, source, source_agent_id: sourceAgentId }
      return callAgent(agentId, ['send', params], about)
    },
    cancel: (agentId, requestId) => callAgent(agentId, ['cancel', { request_id: requestId }]),
    getTokens: (agentId) => callAgent(agentId, ['get_tokens', {}]),
    getContext: (agentId) => callAgent(agentId, ['get_context', {}]),
    events: (agentId, about = {}) => openEvents(`${url}${agentPath(agentId)}/events`, { headers, retries, ...about }),
  }
}

function agentPath(agentId: string): string {
  if (agentId === '' || agentId === '.' || agentId === '..')
    throw new ClientError('rpc', `'${agentId}' is not a valid agent id.`, { code: -32602 })
  return `/agent/${encodeURIComponent(agentId)}`
}

/** 16 hex digits. */
function newRequestId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

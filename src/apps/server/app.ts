/** The routes of the server. Source: contracts §1.1; decisions, "RPC". */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import type { AgentRecord } from '../../store/index.ts'
import {
  type AgentContext,
  type Caller,
  failureText,
  type MethodTable,
  prepare,
  readRequest,
  RPC,
  type Request,
  type Route,
  type Served,
  type ServerControls,
} from '../rpc/index.ts'
import type { Headers, SiteFinding } from '../http/index.ts'
import { refuse, sendLate, sendText } from './answer.ts'
import { formProblem, headerProblem, readBody } from './body.ts'
import type { Callers } from './tokens.ts'
import type { EventStreams } from './event-stream.ts'
import type { Load } from './load.ts'
import { foreignSite, isRefusal, noAgent, type Refusal, REFUSALS } from './refusals.ts'
import type { ServerLog } from './log.ts'
import type { Telemetry } from './telemetry/telemetry.ts'

export interface AppParts {
  readonly table: MethodTable
  /** The configuration of now: a reload replaces it. */
  readonly served: () => Served
  readonly server: ServerControls
  readonly callers: Callers
  readonly checkSite: (headers: Headers) => SiteFinding | undefined
  readonly load: Load
  readonly streams: EventStreams
  readonly log: ServerLog
  readonly telemetry: Telemetry
  /** MCP under /mcp. */
  readonly mcp: { handle(request: IncomingMessage, response: ServerResponse): void } | undefined
  /** `starting` and `closing` answer nothing but their state. */
  readonly state: () => 'starting' | 'ready' | 'closing'
}

type Bindings = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }

/** A listener for requests of Node. */
export function createApp(parts: AppParts): (request: IncomingMessage, response: ServerResponse) => void {
  const app = new Hono<{ Bindings: Bindings }>({ strict: true })
  const sent = RESPONSE_ALREADY_SENT

  app.get('/healthz', ({ env }) => {
    sendText(env.outgoing, 200, '{"status":"ok"}')
    return sent
  })
  app.get('/readyz', ({ env }) => {
    const state = parts.state()
    sendText(env.outgoing, state === 'ready' ? 200 : 503, JSON.stringify({ status: state }))
    return sent
  })
  app.all('/mcp', async ({ env }) => {
    await withCaller(parts, env, async (caller) => {
      if (caller.type !== 'key') return REFUSALS.mcpKey
      if (!parts.mcp) return REFUSALS.notFound
      const isPost = env.incoming.method === 'POST'
      if (isPost && formProblem(env.incoming)) return REFUSALS.type
      // A call of a tool may take as long as a turn; a GET is a stream.
      const end = parts.load.begin(isPost ? 'waiting' : 'streams')
      if (!end) return REFUSALS.busy
      env.outgoing.once('close', end)
      parts.mcp.handle(env.incoming, env.outgoing)
      return undefined
    })
    return sent
  })
  app.get('/agent/:id/events', async ({ env, req }) => {
    await withCaller(parts, env, (caller) => openStream(parts, env, { caller, id: req.param('id') }))
    return sent
  })
  for (const path of ['/', '/rpc'])
    app.post(path, async ({ env }) => {
      await withCaller(parts, env, (caller) => rpc(parts, env, { caller }))
      return sent
    })
  app.post('/agent/:id', async ({ env, req }) => {
    await withCaller(parts, env, (caller) => rpc(parts, env, { caller, id: req.param('id') }))
    return sent
  })
  const rpcPath = /^\/(?:rpc|agent\/[^/]+)?$/
  app.all('*', ({ env, req }) => {
    const foreign = parts.checkSite(env.incoming.headersDistinct)
    const isKnown = rpcPath.test(req.path) || /^\/agent\/[^/]+\/events$/.test(req.path)
    const wrong = isKnown ? REFUSALS.method : REFUSALS.notFound
    refuse(env.outgoing, foreign ? foreignSite(foreign) : wrong)
    return sent
  })
  app.onError((error, { env }) => {
    parts.log.failed('request', error)
    sendText(env.outgoing, 500, failureText(null, RPC.internal()))
    return sent
  })

  const listener = getRequestListener((request, env) => app.fetch(request, env), { overrideGlobalObjects: false })
  return (request, response) => {
    const bad = headerProblem(request)
    if (bad) refuse(response, bad)
    else void listener(request, response)
  }
}

/** Checks where a request comes from and who sends it, before anything of its body is read. A refusal is answered. */
async function withCaller(
  { checkSite, callers, served, state }: AppParts,
  { incoming, outgoing }: Bindings,
  work: (caller: Caller) => Promise<Refusal | undefined>,
): Promise<void> {
  const headers = incoming.headersDistinct
  const foreign = checkSite(headers)
  if (foreign) return refuse(outgoing, foreignSite(foreign))
  if (state() === 'starting') return refuse(outgoing, REFUSALS.starting)
  if (state() === 'closing') return refuse(outgoing, REFUSALS.closing)
  const caller = await callers(headers, served().runtime.store.agents)
  const refusal = isRefusal(caller) ? caller : await work(caller)
  if (refusal) refuse(outgoing, refusal)
}

interface Asked {
  readonly caller: Caller
  /** Its agent, as the path has it. */
  readonly id?: string
}

async function rpc(parts: AppParts, { incoming, outgoing }: Bindings, asked: Asked): Promise<Refusal | undefined> {
  const bad = formProblem(incoming)
  if (bad) return bad
  const end = parts.load.begin('requests')
  if (!end) return REFUSALS.busy
  outgoing.once('close', end)
  const body = await readBody(incoming, parts.served().config.server.maxBodyBytes)
  if (typeof body !== 'string') return body
  const target = await routeOf(parts, asked)
  if (isRefusal(target)) return target
  const read = readRequest(body)
  if (read.type === 'failure') {
    sendText(outgoing, read.failure.code === PARSE ? 400 : 200, failureText(read.id, read.failure))
    return undefined
  }
  return run(parts, outgoing, { request: read.request, route: target, asked, end })
}

interface Running {
  readonly request: Request
  readonly route: Route
  readonly asked: Asked
  /** Ends its place among the requests that are answered. */
  readonly end: () => void
}

/** Calls the method, and answers. */
function run(parts: AppParts, outgoing: ServerResponse, { request, route, asked, end }: Running): Refusal | undefined {
  const { table, log, load, telemetry } = parts
  const { id, method } = request
  const prepared = prepare(request, { table, route }, (name, error) => log.failed(name, error))
  if ('failure' in prepared) {
    log.called(method, asked.id, {})
    answer(outgoing, id, { text: failureText(id ?? null, prepared.failure) })
    return undefined
  }
  const { notes, isWaiting } = prepared
  log.called(method, asked.id, notes)
  const over = isWaiting ? load.begin('waiting') : undefined
  if (isWaiting && !over) return REFUSALS.busy
  const about = { route: asked.id === undefined ? '/rpc' : '/agent/{agent_id}', method, notes }
  const text = telemetry.request(about, prepared.answer)
  if (over) end()
  // Not with its connection: the agent goes on.
  answer(outgoing, id, over ? { late: text.finally(over) } : { text })
  return undefined
}

const PARSE = RPC.notJson().code

/** A notification gets an empty answer, whatever comes of it. */
function answer(
  response: ServerResponse,
  id: string | number | undefined,
  what: { readonly text: string | Promise<string> } | { readonly late: Promise<string> },
): void {
  if (id === undefined) response.writeHead(200, { 'content-length': 0 }).end()
  else if ('late' in what) void sendLate(response, what.late)
  else if (typeof what.text === 'string') sendText(response, 200, what.text)
  else void what.text.then((text) => sendText(response, 200, text))
}

async function routeOf(parts: AppParts, { caller, id }: Asked): Promise<Route | Refusal> {
  const served = parts.served()
  const access = caller.type === 'key' ? served.pool : served.pool.as(caller.agent)
  const context = { served, server: parts.server, caller, access }
  if (id === undefined) return { type: 'global', context }
  const agent = await reachable(served, caller, id)
  if (!agent) return noAgent(id)
  return { type: 'agent', context: { ...context, agent } satisfies AgentContext }
}

/** An agent out of reach and one that does not exist get the same answer. */
async function reachable({ runtime }: Served, caller: Caller, id: string): Promise<AgentRecord | undefined> {
  const { agents } = runtime.store
  const agent = await agents.find(id)
  if (!agent || caller.type === 'key' || agent.key === caller.agent.key) return agent
  const chain = await agents.chain(agent.key)
  return chain.some(({ key }) => key === caller.agent.key) ? agent : undefined
}

async function openStream(
  parts: AppParts,
  { incoming, outgoing }: Bindings,
  { caller, id = '' }: Asked,
): Promise<Refusal | undefined> {
  const [given, ...more] = incoming.headersDistinct['last-event-id'] ?? []
  if (more.length > 0 || (given !== undefined && !/^\d{1,15}$/.test(given))) return REFUSALS.badEventId
  const agent = await reachable(parts.served(), caller, id)
  if (!agent) return noAgent(id)
  const end = parts.load.begin('streams')
  if (!end) return REFUSALS.streams
  outgoing.once('close', end)
  const subtree = /[?&]subtree=(?:1|true)(?:&|$)/.test(incoming.url ?? '')
  const lastEventId = given === undefined ? undefined : Number(given)
  await parts.streams.open({ agentKey: agent.key, subtree, lastEventId, response: outgoing })
  return undefined
}

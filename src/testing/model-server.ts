import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isJsonObject, type JsonObject } from '../kernel/index.ts'
import type { ModelApi, ModelRequest, ModelScript, Reply } from './model-reply.ts'
import { sendJson, sendReply } from './send-reply.ts'
import { chatCompletions } from './wire/chat-completions.ts'
import type { WireFormat } from './wire/format.ts'
import { messages } from './wire/messages.ts'
import { responses } from './wire/responses.ts'

/** A model that says what its script says, behind real HTTP. */
export interface ModelServer extends AsyncDisposable {
  /** Base URL for providers, such as `http://127.0.0.1:40123/v1`. */
  readonly url: string
  readonly port: number
  /** Every request so far, in order. */
  readonly requests: readonly ModelRequest[]
  /** Requests whose client went away before the answer was complete. */
  readonly abortedRequests: readonly ModelRequest[]
  /** Resolves when that many requests have come (from 1); with the last of them. */
  waitForRequest(count: number): Promise<ModelRequest>
  /** Resolves when that many requests were aborted by their client. */
  waitForAbort(count: number): Promise<ModelRequest>
  /** Cuts all connections and frees the port. Safe to call twice. */
  close(): Promise<void>
}

export interface ModelServerOptions {
  readonly script: ModelScript
  /** When given, requests with another key are answered 401. */
  readonly apiKey?: string
  /** Names that GET /v1/models lists; default `scripted`. */
  readonly models?: readonly string[]
}

const PATHS: Readonly<Record<string, ModelApi>> = {
  '/v1/chat/completions': 'chat-completions',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
}
const FORMATS: Readonly<Record<ModelApi, WireFormat>> = { 'chat-completions': chatCompletions, responses, messages }
/** Enough for any history; a client that sends more is broken. */
const MAX_BODY_BYTES = 64 * 1024 * 1024

/**
 * Starts an HTTP server on 127.0.0.1 that speaks the interfaces of OpenAI (chat completions, responses) and
 * Anthropic (messages), streaming or not, and answers from the script.
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const requests: ModelRequest[] = []
  const abortedRequests: ModelRequest[] = []
  const waiting = new Set<() => void>()
  const told = (): void => waiting.forEach((check) => check())

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!response.headersSent)
        sendJson(response, { error: { message: `The model server failed: ${String(error)}` } }, 500)
      else response.destroy()
    })
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname
    if (request.method === 'GET' && path === '/v1/models')
      return sendJson(response, modelList(options.models ?? ['scripted']))
    const api = Object.hasOwn(PATHS, path) ? PATHS[path] : undefined
    if (request.method !== 'POST' || api === undefined) {
      return sendJson(response, { error: { message: `No such endpoint: ${request.method} ${path}` } }, 404)
    }
    const format = FORMATS[api]
    if (options.apiKey !== undefined && keyOf(request) !== options.apiKey)
      return sendJson(response, format.error(401, 'Invalid API key.'), 401)
    const body = await readBody(request)
    if (!body) return sendJson(response, format.error(400, 'The request is not a JSON object.'), 400)
    const seen = toModelRequest(requests.length, api, request, body)
    requests.push(seen)
    told()
    await answer(seen, response)
  }

  async function answer(seen: ModelRequest, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => {
      if (response.writableFinished || gone.signal.aborted) return
      gone.abort()
      abortedRequests.push(seen)
      told()
    })
    const reply = await nextReply(options.script, seen)
    if (!gone.signal.aborted) await sendReply(reply, { seen, response, gone, format: FORMATS[seen.api] })
  }

  async function waitFor(list: readonly ModelRequest[], count: number): Promise<ModelRequest> {
    return new Promise((resolve) => {
      const check = (): void => {
        const found = list[count - 1]
        if (!found) return
        waiting.delete(check)
        resolve(found)
      }
      waiting.add(check)
      check()
    })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    abortedRequests,
    waitForRequest: (count) => waitFor(requests, count),
    waitForAbort: (count) => waitFor(abortedRequests, count),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function readBody(request: IncomingMessage): Promise<JsonObject | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > MAX_BODY_BYTES) return undefined
    parts.push(part)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'))
    return isJsonObject(value) ? value : undefined
  } catch {
    // Not JSON: the caller answers 400.
    return undefined
  }
}

function keyOf(request: IncomingMessage): string | undefined {
  const own = request.headers['x-api-key']
  if (typeof own === 'string') return own
  return /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
}

const CREDENTIALS = ['authorization', 'x-api-key', 'api-key']

function toModelRequest(index: number, api: ModelApi, request: IncomingMessage, body: JsonObject): ModelRequest {
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    CREDENTIALS.includes(name) ? '[redacted]' : String(value),
  ])
  return {
    index,
    api,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body,
    model: typeof body.model === 'string' ? body.model : '',
    stream: body.stream === true,
    messages: FORMATS[api].messages(body),
    toolNames: FORMATS[api].toolNames(body),
  }
}

async function nextReply(script: ModelScript, request: ModelRequest): Promise<Reply> {
  if (typeof script === 'function') return script(request, request.index)
  const message = `The script has ${script.length} replies, and this is request ${request.index + 1}.`
  return script[request.index] ?? { type: 'status', status: 400, message }
}

function modelList(names: readonly string[]): JsonObject {
  return { object: 'list', data: names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'scripted' })) }
}

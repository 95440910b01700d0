/** MCP over Streamable HTTP on loopback, for clients that connect to a running server. */
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { errorCode, NexusError } from '../../../kernel/index.ts'
import { createHost, type McpOptions } from '../host.ts'
import { LOG } from '../messages.ts'
import { createServer } from '../server.ts'
import { createGuard, PATH, type Refusal } from './guard.ts'
import { openKeyFile } from './key-file.ts'
import { createSessions, type Sessions } from './sessions.ts'

export interface HttpOptions extends McpOptions {
  /** 0: any free one. */
  readonly port: number
  /** The file of the key for a port; absent: everybody on this machine may call. */
  readonly keyFile?: ((port: number) => string) | undefined
  /** Ends the service. */
  readonly signal: AbortSignal
  /** Told when it can be reached. */
  readonly onReady: (ready: { readonly url: string; readonly keyFile: string | undefined }) => void
}

const LOOPBACK = '127.0.0.1'
const MAX_CONNECTIONS = 256
/** Both keep a connection: streams that clients forget leave room for requests. */
const MAX_SUBSCRIPTIONS = MAX_CONNECTIONS / 4
const MAX_SESSIONS = MAX_CONNECTIONS / 4
const MAX_BODY_BYTES = 4 * 1024 * 1024
/** For the headers of a request, and for all of it. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
const CHECK_TIMEOUTS_MS = 2_000

/** Serves until `signal` aborts, then ends what runs. Throws CONFLICT for a port that is taken, CONFIG_INVALID for a key file that others can read. */
export async function serveHttp({ port: wanted, keyFile, signal, onReady, ...options }: HttpOptions): Promise<void> {
  const { log } = options
  const server = createHttpServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_TIMEOUTS_MS,
  })
  server.maxConnections = MAX_CONNECTIONS
  const port = await listen(server, wanted)
  const host = createHost(options)
  const onError = (error: Error): void => log(LOG.failed(error))
  const handler = createMcpHandler(() => createServer(host, 'request'), {
    maxRequestBodySize: MAX_BODY_BYTES,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    onerror: onError,
  })
  const sessions = createSessions({ createServer: () => createServer(host, 'session'), max: MAX_SESSIONS, onError })
  try {
    const file = keyFile?.(port)
    const key = file === undefined ? undefined : await openKeyFile(file)
    // 1, 10, 100 …: a flood does not fill the log.
    const onWrongKey = (count: number): void => void (/^10*$/.test(String(count)) && log(LOG.wrongKey(count)))
    const guard = createGuard({ port, key, onWrongKey })
    const node = keepingRequests(handler, sessions)
    const stop = host.onSkillsChanged(() => {
      handler.notify.toolsChanged()
      handler.notify.promptsChanged()
      handler.notify.resourcesChanged()
    })
    server.on('request', (request, response) => {
      const refusal = guard(request)
      if (refusal) refuse(response, refusal)
      else node(request, response).catch((error: unknown) => log(LOG.failed(error)))
    })
    onReady({ url: `http://${LOOPBACK}:${port}${PATH}`, keyFile: file })
    if (!signal.aborted) await once(signal, 'abort')
    stop()
  } finally {
    server.close()
    await Promise.all([handler.close(), sessions.close()])
    server.closeAllConnections()
    await host.close()
  }
}

/**
 * Serves requests of Node so that the end of a connection cancels its call. Node links a web request and its signal by weak references:
 * a garbage collection would cut the call off. So the request is kept until its connection closes, and the SDK, which would go on with
 * a clone of it, gets the parsed body.
 */
function keepingRequests(
  handler: McpHttpHandler,
  sessions: Sessions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const live = new Set<Request>()
  return (request, response) => {
    const serve: McpHttpHandler['fetch'] = async (web, options) => {
      live.add(web)
      const sent = new Promise<boolean>((resolve) =>
        response.once('close', () => {
          live.delete(web)
          resolve(response.writableFinished)
        }),
      )
      const body = await parsed(web)
      const answered = await sessions.handle(web, { body, sent })
      return answered ?? handler.fetch(web, { ...options, parsedBody: body })
    }
    return toNodeHandler({ fetch: serve }, { maxRequestBodySize: MAX_BODY_BYTES })(
      request as NodeIncomingMessageLike,
      response,
    )
  }
}

/** Undefined for a body that is no JSON: the SDK reports what is wrong with it. */
async function parsed(request: Request): Promise<unknown> {
  try {
    return JSON.parse(await request.clone().text()) as unknown
  } catch {
    return undefined
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const fix = 'Choose another port: nexus mcp --http --port 8767'
      const taken = new NexusError('CONFLICT', `Another program listens on port ${port}.`, { fix })
      reject(errorCode(error) === 'EADDRINUSE' ? taken : error)
    })
    server.listen(port, LOOPBACK, () => resolve((server.address() as AddressInfo).port))
  })
}

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } })
  // Its body is not read.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body)
}

/** The requests of MCP of one address, for a server that checked who sends them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { createHost, type McpOptions } from '../host.ts'
import { LOG } from '../messages.ts'
import { createServer } from '../server.ts'
import { createSessions, type Sessions } from './sessions.ts'

export interface Mounted {
  /** Answers one request. Failures are logged. */
  handle(request: IncomingMessage, response: ServerResponse): void
  close(): Promise<void>
}

/** Both keep a connection: streams that clients forget leave room for requests. */
const MAX_STREAMS = 64
const MAX_BODY_BYTES = 4 * 1024 * 1024

/** Nothing is opened before the first request. */
export function mountMcp(options: McpOptions): Mounted {
  const { log } = options
  const host = createHost(options)
  const onError = (error: Error): void => log(LOG.failed(error))
  const handler = createMcpHandler(() => createServer(host, 'request'), {
    maxRequestBodySize: MAX_BODY_BYTES,
    maxSubscriptions: MAX_STREAMS,
    onerror: onError,
  })
  const sessions = createSessions({ createServer: () => createServer(host, 'session'), max: MAX_STREAMS, onError })
  const node = keepingRequests(handler, sessions)
  const stop = host.onSkillsChanged(() => {
    handler.notify.toolsChanged()
    handler.notify.promptsChanged()
    handler.notify.resourcesChanged()
  })
  return {
    handle: (request, response) => void node(request, response).catch((error: unknown) => log(LOG.failed(error))),
    async close() {
      stop()
      await Promise.all([handler.close(), sessions.close()])
      await host.close()
    },
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

/**
 * Sessions of clients of the protocol of 2025. They give the server a way back to its client: it asks about a call on the stream of that
 * call, and announces changes on a stream of their own. Requests of 2026 need none.
 */
import {
  isInitializeRequest,
  isJSONRPCRequest,
  isLegacyRequest,
  type McpServer,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'

export interface SessionOptions {
  /** Not connected yet. */
  readonly createServer: () => Promise<McpServer>
  /** Most sessions at a time; then a new one replaces the one that was longest unused. */
  readonly max: number
  readonly onError: (error: Error) => void
}

export interface Received {
  /** Undefined: it is no JSON. */
  readonly body: unknown
  /** Settles when the answer is sent (true), or its connection ended before (false). */
  readonly sent: Promise<boolean>
}

export interface Sessions {
  /** Answers a request of a session, or one that begins a session; undefined for any other. */
  handle(request: Request, received: Received): Promise<Response | undefined>
  close(): Promise<void>
}

interface Session {
  readonly server: McpServer
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** Ids of the messages, and streams, that are not answered whole. */
  readonly open: Set<unknown>
}

const SESSION_HEADER = 'mcp-session-id'

export function createSessions({ createServer, max, onError }: SessionOptions): Sessions {
  /** Longest unused first. */
  const sessions = new Map<string, Session>()

  async function begin(): Promise<Session> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    transport.onerror = onError
    const session: Session = { server: await createServer(), transport, open: new Set() }
    await session.server.connect(transport)
    return session
  }

  /** False when every session is in use. */
  async function makeRoom(): Promise<boolean> {
    if (sessions.size < max) return true
    const unused = [...sessions].find(([, { open }]) => open.size === 0)
    if (!unused) return false
    const [id, { server }] = unused
    sessions.delete(id)
    await server.close()
    return true
  }

  async function answer(session: Session, request: Request, received: Received): Promise<Response> {
    const { body, sent } = received
    const { open, transport } = session
    const ids = [body].flat().flatMap((message) => (isJSONRPCRequest(message) ? [message.id] : []))
    // The SDK would forget how to cancel the first one.
    if (ids.some((id) => open.has(id))) return refusal(400, 'A request with this id is not answered yet.')
    const keys = ids.length > 0 ? ids : [received]
    for (const key of keys) open.add(key)
    void sent.then((isWhole) => {
      for (const key of keys) open.delete(key)
      if (!isWhole) for (const id of ids) cancel(transport, id)
    })
    return transport.handleRequest(request, { parsedBody: body })
  }

  return {
    async handle(request, received) {
      const id = request.headers.get(SESSION_HEADER)
      if (id === null && !isInitializeRequest(received.body)) return undefined
      if (!(await isLegacyRequest(request, received.body))) return undefined
      if (id === null) {
        if (!(await makeRoom())) return refusal(503, 'All sessions are in use. Try again later.')
        return answer(await begin(), request, received)
      }
      const session = sessions.get(id)
      // The protocol's word for: begin another one.
      if (!session) return refusal(404, 'Session not found')
      sessions.delete(id)
      sessions.set(id, session)
      return answer(session, request, received)
    },
    async close() {
      const all = [...sessions.values()]
      sessions.clear()
      await Promise.all(all.map(({ server }) => server.close()))
    },
  }
}

/** A client that is gone gets no answer: its call ends as if it had cancelled it. */
function cancel({ onmessage }: WebStandardStreamableHTTPServerTransport, requestId: RequestId): void {
  const params = { requestId, reason: 'The connection ended.' }
  onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
}

const CODES = { 400: -32_600, 404: -32_001, 503: -32_000 }

function refusal(status: keyof typeof CODES, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: CODES[status], message } }, { status })
}

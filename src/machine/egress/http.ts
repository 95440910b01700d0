/** http: CONNECT and plain requests of a command. Each request is checked by itself, also the later ones of a connection. */
import { createServer, type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HostPort } from '../../kernel/index.ts'
import { type Door, RefusedConnection } from './door.ts'
import { joined, type TakesHttp, tunnel } from './tunnel.ts'

export const MAX_HEADER_BYTES = 64 * 1024
/** They concern one connection, or this proxy. */
const HOP =
  /^(?:connection|proxy-connection|keep-alive|te|trailer|transfer-encoding|upgrade|host|proxy-authorization|proxy-authenticate)$/i

/** Takes connections whose first bytes are of HTTP; a client that was admitted to a host, for that host only. */
export interface HttpFront {
  accept(client: Duplex): void
  readonly acceptFor: TakesHttp
  close(): void
}

export function createHttpFront(door: Door): HttpFront {
  const fixed = new WeakMap<Duplex, HostPort>()
  const server: Server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 0, headersTimeout: 60_000 })
  server.on('request', (request, response) => void forward(request, response))
  server.on('upgrade', (request: IncomingMessage, client: Duplex, head: Buffer) => void upgrade(request, client, head))
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => void connect(request, client, head))
  server.on('clientError', (_error, client) => client.destroy())

  const acceptFor: TakesHttp = (client, to) => {
    fixed.set(client, to)
    accept(client)
  }
  const accept = (client: Duplex): void => {
    server.emit('connection', client)
    client.resume()
  }

  /** The host of a request and its path there. Throws RefusedConnection. */
  async function targetOf(request: IncomingMessage): Promise<{ readonly to: HostPort; readonly path: string }> {
    const known = fixed.get(request.socket)
    const { url = '' } = request
    if (known) return { to: sameHost(known, request), path: url }
    const target = URL.parse(url)
    if (target?.protocol !== 'http:' || target.username !== '') throw door.refuse({ host: '?', port: 80 }, 'malformed')
    const to = door.read(target.hostname, Number(target.port || 80))
    await door.admit(to)
    return { to, path: `${target.pathname}${target.search}` }
  }

  function sameHost(known: HostPort, { url = '', headers }: IncomingMessage): HostPort {
    const [, name = '', port = String(known.port)] = /^([^:]*)(?::(\d+))?$/.exec(headers.host ?? '') ?? []
    const named = door.read(name, Number(port))
    if (named.host === known.host && named.port === known.port && url.startsWith('/')) return known
    throw door.refuse(known, 'other-host', 'its request names another host')
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    try {
      const { to, path } = await targetOf(request)
      const upstream = await door.dial(to)
      response.once('close', () => upstream.destroy())
      const outgoing = httpRequest({
        ...{ method: request.method, path, setHost: false, maxHeaderSize: MAX_HEADER_BYTES },
        headers: [...headersFor(request, to), ...framing(request), 'Connection', 'close'],
        createConnection: () => upstream,
      })
      outgoing.once('response', (incoming) => {
        const { statusCode = 502, statusMessage, rawHeaders, headers } = incoming
        response.writeHead(statusCode, statusMessage, passed(rawHeaders, headers.connection))
        incoming.on('error', () => response.destroy())
        incoming.pipe(response)
      })
      outgoing.once('error', (error) => {
        if (response.headersSent) response.destroy()
        else answer(response, door.refuse(to, 'unreachable', error.message))
      })
      request.pipe(outgoing)
    } catch (error) {
      request.resume()
      answer(response, error)
    }
  }

  async function upgrade(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy())
    try {
      const { to, path } = await targetOf(request)
      const { upgrade: protocol = '' } = request.headers
      if (/\bh2c\b/i.test(protocol))
        throw door.refuse(to, 'other-host', 'it changes to HTTP/2, which can name other hosts')
      const upstream = await door.dial(to)
      joined(client, upstream)
      const outgoing = httpRequest({
        ...{ method: request.method, path, setHost: false, maxHeaderSize: MAX_HEADER_BYTES },
        headers: [...headersFor(request, to), 'Connection', 'Upgrade', 'Upgrade', protocol],
        createConnection: () => upstream,
      })
      // Only a server that changes the protocol gets bytes that are not checked.
      outgoing.once('upgrade', ({ rawHeaders }, socket, rest) => {
        client.write(`HTTP/1.1 101 Switching Protocols\r\n${linesOf(rawHeaders)}\r\n`)
        if (rest.length > 0) client.write(rest)
        if (head.length > 0) socket.write(head)
        client.pipe(socket)
        socket.pipe(client)
      })
      outgoing.once('response', () => client.destroy())
      outgoing.on('error', () => client.destroy())
      outgoing.end()
    } catch (error) {
      refuse(client, error)
    }
  }

  async function connect(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy())
    try {
      const [, name = '', port = ''] = /^(\[[^\]]*\]|[^:[\]]*):(\d{1,5})$/.exec(request.url ?? '') ?? []
      if (fixed.has(request.socket)) throw door.refuse({ host: name, port: Number(port) }, 'malformed')
      const to = door.read(name, Number(port))
      await door.admit(to)
      if (head.length > 0) client.unshift(head)
      const upstream = await door.dial(to)
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      tunnel(client, upstream, { to, door, takesHttp: acceptFor })
    } catch (error) {
      refuse(client, error)
    }
  }

  return { accept, acceptFor, close: () => server.closeAllConnections() }
}

export function hostHeader({ host, port }: HostPort, usual = 80): string {
  return port === usual ? host : `${host}:${port}`
}

/** Names and values in turn: those that were sent, without their framing, and the host that was asked for. */
function headersFor({ rawHeaders, headers }: IncomingMessage, to: HostPort): string[] {
  return [...passed(rawHeaders, `${headers.connection ?? ''},content-length`), 'Host', hostHeader(to)]
}

/** The body is framed as it was read, so that a server takes none of it for a further request. */
function framing({ headers }: IncomingMessage): string[] {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked']
  const length = headers['content-length']
  return length === undefined ? [] : ['Content-Length', length]
}

/** Names and values in turn, without those that concern one connection only. */
export function passed(raw: readonly string[], connection: string | undefined): string[] {
  const named = new Set((connection ?? '').toLowerCase().split(/[\s,]+/))
  return raw.flatMap((name, index) =>
    index % 2 === 1 || HOP.test(name) || named.has(name.toLowerCase()) ? [] : [name, raw[index + 1] ?? ''],
  )
}

function linesOf(raw: readonly string[]): string {
  return raw.flatMap((name, index) => (index % 2 === 1 ? [] : [`${name}: ${raw[index + 1] ?? ''}\r\n`])).join('')
}

function statusOf(error: unknown): number {
  if (!(error instanceof RefusedConnection)) return 502
  if (error.because === 'malformed') return 400
  return error.because === 'unreachable' ? 502 : 403
}

function textOf(error: unknown): string {
  return error instanceof RefusedConnection ? error.message : 'Nexus could not pass the request on.'
}

export function answer(response: ServerResponse, error: unknown): void {
  const text = `${textOf(error)}\n`
  response.writeHead(statusOf(error), { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text)
}

/** The reason is in the status line too: programs show no body of a refused CONNECT. */
function refuse(client: Duplex, error: unknown): void {
  const [status, text] = [statusOf(error), textOf(error)]
  const head = `HTTP/1.1 ${status} ${status === 403 ? 'Blocked by Nexus' : 'Nexus'}\r\nContent-Type: text/plain; charset=utf-8`
  const body = `${text}\n`
  client.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
}

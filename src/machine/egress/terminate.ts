/** terminate: ends the TLS of a command's connection to a host that gets a masked key, and speaks HTTP/1.1 with both sides. */
import { Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import { type Duplex, pipeline, Transform } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type * as Zlib from 'node:zlib'
import { errorMessage, type HostPort } from '../../kernel/index.ts'
import { securePinned } from '../net/index.ts'
import type { Door } from './door.ts'
import { answer, hostHeader, MAX_HEADER_BYTES, passed } from './http.ts'
import { isText, Masking, masksFor, type MaskOptions, type Terminator } from './masks.ts'

/** Longer bodies are passed on as they are. */
const MAX_TEXT_BYTES = 1024 * 1024
/** They ask for what is not done: parts and packed bodies would hide a key that comes back. */
const NOT_SENT = /^(?:expect|accept-encoding|range|if-range|content-length)$/i

interface Session {
  readonly to: HostPort
  readonly masking: Masking
  readonly agent: OneConnection
  /** The server's side, once its certificate was checked. */
  readonly server: Promise<Duplex>
  /** Requests without a whole answer. */
  answering: number
  /** The server closed its side. */
  isEnded: boolean
}

export function createTerminator(door: Door, { masks, authority, roots }: MaskOptions): Terminator {
  const sessions = new WeakMap<Duplex, Session>()
  const front = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: 0,
    headersTimeout: 60_000,
    keepAliveTimeout: 0,
  })
  front.on('request', (request, response) => void serve(request, response))
  front.on('upgrade', (request: IncomingMessage, client: Duplex) => refuseUpgrade(request, client))
  front.on('connect', (_request, client: Duplex) => client.destroy())
  front.on('clientError', (_error, client) => client.destroy())

  function accept(client: Duplex, upstream: Duplex, to: HostPort): void {
    client.once('close', () => upstream.destroy())
    const inside = new TLSSocket(client as never, {
      isServer: true,
      secureContext: authority.contextFor(to.host),
      ALPNProtocols: ['http/1.1'],
    })
    inside.on('error', () => client.destroy())
    client.on('error', () => client.destroy())
    upstream.on('error', () => upstream.destroy())
    const net = { ...door.options.net, roots: roots.context }
    const server = securePinned(upstream, { ...to, signal: door.signal }, net)
    // Its reason is the answer to the first request.
    server.catch(() => undefined)
    const agent = new OneConnection()
    inside.once('close', () => agent.destroy())
    const session: Session = {
      to,
      agent,
      server,
      masking: new Masking(masksFor(masks, to)),
      answering: 0,
      isEnded: false,
    }
    sessions.set(inside, session)
    // The command reads the last answer first.
    upstream.once('close', () => {
      session.isEnded = true
      if (session.answering === 0) inside.end()
    })
    inside.once('secure', () => front.emit('connection', inside))
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = sessions.get(request.socket)
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    if (!session) return void request.destroy()
    session.answering++
    response.once('close', () => {
      session.answering--
      if (session.answering === 0 && session.isEnded) request.socket.end()
    })
    try {
      checkRequest(request, session.to, door)
      session.agent.server = await session.server.catch((error: unknown) => {
        throw door.refuse(session.to, 'unreachable', errorMessage(error))
      })
      if (session.isEnded) throw door.refuse(session.to, 'unreachable', 'the server closed the connection')
      await forward(request, response, { session, door })
    } catch (error) {
      request.resume()
      if (response.headersSent) response.destroy()
      else answer(response, error)
    }
  }

  function refuseUpgrade(request: IncomingMessage, client: Duplex): void {
    const to = sessions.get(request.socket)?.to ?? { host: '?', port: 443 }
    const { message } = door.refuse(to, 'masked-upgrade')
    const head = 'HTTP/1.1 501 Nexus\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close'
    client.end(`${head}\r\nContent-Length: ${Buffer.byteLength(message) + 1}\r\n\r\n${message}\n`)
  }

  return {
    takesTls: (to) => (to.host !== 'localhost' && masksFor(masks, to).length > 0 ? accept : undefined),
    close: () => front.closeAllConnections(),
  }
}

/** A connection of the command has one to the server, and both end together. */
class OneConnection extends Agent {
  server: Duplex | undefined

  constructor() {
    super({ keepAlive: true, maxSockets: 1 })
  }

  override createConnection(): Duplex | undefined {
    return this.server
  }
}

/** Throws RefusedConnection for a request that a server could understand in another way, or as one to another host. */
function checkRequest(request: IncomingMessage, to: HostPort, door: Door): void {
  const { rawHeaders, headers, url = '' } = request
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name))
  const coding = headers['transfer-encoding']
  if (hosts.length !== 1 || !url.startsWith('/') || (coding !== undefined && !/^chunked$/i.test(coding)))
    throw door.refuse(to, 'malformed')
  const [, name = '', port = '443'] = /^([^:]*)(?::(\d+))?$/.exec(headers.host ?? '') ?? []
  if (name.toLowerCase() !== to.host || Number(port) !== to.port)
    throw door.refuse(to, 'other-host', 'its request names another host')
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { session, door }: { readonly session: Session; readonly door: Door },
): Promise<void> {
  const { to, masking, agent } = session
  const body = await bodyOf(request, masking)
  const headers = withKeys(passed(request.rawHeaders, request.headers.connection), masking)
  const outgoing = httpRequest({
    ...{ agent, method: request.method, path: masking.target(request.url ?? '/'), setHost: false },
    maxHeaderSize: MAX_HEADER_BYTES,
    headers: [...headers, ...framing(request, body), 'Host', hostHeader(to, 443), 'Accept-Encoding', 'identity'],
  })
  response.once('close', () => {
    if (!response.writableFinished) request.socket.destroy()
  })
  outgoing.once('response', (incoming) => {
    giveBack(incoming, response, { session, door }).catch(() => response.destroy())
  })
  outgoing.once('error', (error) => {
    if (response.headersSent) response.destroy()
    else answer(response, door.refuse(to, 'unreachable', error.message))
  })
  if (Buffer.isBuffer(body)) return void outgoing.end(body)
  for (const part of body?.begun ?? []) outgoing.write(part)
  if (body) request.pipe(outgoing)
  else outgoing.end()
}

/** Whole where keys were put in it; else what has come, and the rest follows. */
async function bodyOf(
  request: IncomingMessage,
  masking: Masking,
): Promise<Buffer | { readonly begun: readonly Buffer[] } | undefined> {
  const { 'content-type': type, 'content-length': length, 'content-encoding': encoding } = request.headers
  if (length === undefined && request.headers['transfer-encoding'] === undefined) return undefined
  if (!isText(type) || encoding !== undefined || Number(length ?? 0) > MAX_TEXT_BYTES) return { begun: [] }
  const begun: Buffer[] = []
  let bytes = 0
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const onData = (part: Buffer): void => {
    begun.push(part)
    bytes += part.length
    if (bytes > MAX_TEXT_BYTES) resolve(false)
  }
  request.on('data', onData).once('end', () => resolve(true))
  request.once('close', () => reject(new Error('the request ended early')))
  const isWhole = await promise
  request.off('data', onData)
  if (isWhole) return masking.body(Buffer.concat(begun), type ?? '')
  request.pause()
  return { begun }
}

/** One length, or one coding: never both, and never none where bytes follow. */
function framing({ headers, method = '' }: IncomingMessage, body: Awaited<ReturnType<typeof bodyOf>>): string[] {
  if (Buffer.isBuffer(body)) return ['Content-Length', String(body.length)]
  if (!body) return /^(?:POST|PUT|PATCH)$/.test(method) ? ['Content-Length', '0'] : []
  const { 'content-length': length } = headers
  return length === undefined ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', length]
}

function withKeys(raw: readonly string[], masking: Masking): string[] {
  return raw.flatMap((name, index) => {
    if (index % 2 === 1 || NOT_SENT.test(name)) return []
    return [name, masking.header(name, raw[index + 1] ?? '')]
  })
}

async function giveBack(
  incoming: IncomingMessage,
  response: ServerResponse,
  { session: { masking, to }, door }: { readonly session: Session; readonly door: Door },
): Promise<void> {
  incoming.on('error', () => response.destroy())
  const { statusCode = 502, statusMessage = '', headers } = incoming
  const message = masking.restore(statusMessage).done
  if (hasNoBody(incoming, response))
    return void response.writeHead(statusCode, message, headersBack(incoming, masking)).end()
  const unpack = unpackerOf(headers['content-encoding'], await import('node:zlib'))
  if (unpack === 'unknown') {
    incoming.destroy()
    return answer(response, door.refuse(to, 'unreachable', 'its answer is packed in a way that Nexus cannot read'))
  }
  const kept = headersBack(incoming, masking, /^content-(?:length|encoding)$/i)
  if (!unpack && Number(headers['content-length']) <= MAX_TEXT_BYTES) {
    const whole: Buffer[] = []
    for await (const part of incoming as AsyncIterable<Buffer>) whole.push(part)
    const text = masking.restore(Buffer.concat(whole).toString('latin1')).done
    kept.push('Content-Length', String(text.length))
    return void response.writeHead(statusCode, message, kept).end(text, 'latin1')
  }
  response.writeHead(statusCode, message, kept)
  const source = unpack ? pipeline(incoming, unpack, () => undefined) : incoming
  pipeline(source, restoring(masking), response, () => undefined)
}

function hasNoBody({ statusCode, headers }: IncomingMessage, response: ServerResponse): boolean {
  return headers['content-length'] === '0' || statusCode === 204 || statusCode === 304 || response.req.method === 'HEAD'
}

function headersBack(
  { rawHeaders, headers, httpVersion }: IncomingMessage,
  masking: Masking,
  dropped = /^$/,
): string[] {
  const kept = passed(rawHeaders, headers.connection).flatMap((text, index, all) =>
    index % 2 === 1 || dropped.test(text) ? [] : [text, masking.restore(all[index + 1] ?? '').done],
  )
  const isLast = /\bclose\b/i.test(headers.connection ?? '') || httpVersion === '1.0'
  return isLast ? [...kept, 'Connection', 'close'] : kept
}

function unpackerOf(coding: string | undefined, zlib: typeof Zlib): Transform | 'unknown' | undefined {
  switch (coding?.trim().toLowerCase() ?? 'identity') {
    case 'identity':
      return undefined
    case 'gzip':
    case 'x-gzip':
    case 'deflate':
      return zlib.createUnzip()
    case 'br':
      return zlib.createBrotliDecompress()
    case 'zstd':
      return zlib.createZstdDecompress()
    default:
      return 'unknown'
  }
}

function restoring(masking: Masking): Transform {
  let rest = ''
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      const made = masking.restore(rest + part.toString('latin1'), false)
      rest = made.rest
      done(null, Buffer.from(made.done, 'latin1'))
    },
    flush(done) {
      done(null, Buffer.from(masking.restore(rest).done, 'latin1'))
    },
  })
}

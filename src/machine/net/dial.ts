/** dial: a connection to one of the checked addresses, directly or through a proxy, with TLS for https. */
import { request as httpRequest } from 'node:http'
import { connect as connectTcp, isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { errorMessage } from '../../kernel/index.ts'
import { beforeAbort, type Run } from './deadline.ts'
import { network } from './errors.ts'
import { type Proxy, proxyFor } from './proxy.ts'
import { addressesOf, reasonOf } from './resolve.ts'
import type { Target } from './target.ts'
import type { Connect, NetOptions, PinnedAddress } from './types.ts'

/** The run of one connection. The signal ends it, also after it was given away. */
export interface Dialling extends Run {
  readonly options: NetOptions
}

export async function openConnection(
  target: Target,
  addresses: readonly PinnedAddress[],
  dialling: Dialling,
): Promise<Duplex> {
  const socket = await openPlain(target, addresses, dialling)
  return target.isTls ? secured(socket, target.host, dialling) : socket
}

/** The same without TLS of its own; `isTls` chooses the proxy. */
export async function openPlain(
  target: Pick<Target, 'host' | 'port' | 'isTls' | 'origin'>,
  addresses: readonly PinnedAddress[],
  dialling: Dialling,
): Promise<Duplex> {
  const proxy = dialling.options.proxy && proxyFor(target, dialling.options.proxy)
  return proxy ? tunnel(target, addresses, proxy, dialling) : dialFirst(addresses, target.port, dialling)
}

/** The first address that accepts; each gets its share of the time. */
async function dialFirst(addresses: readonly PinnedAddress[], port: number, dialling: Dialling): Promise<Duplex> {
  const { connect = dialTcp } = dialling.options
  const shareMs = Math.ceil(dialling.limits.connectMs / addresses.length)
  let reason = 'it has no address'
  for (const [index, address] of addresses.entries()) {
    const isLast = index === addresses.length - 1
    const signal = isLast ? dialling.signal : AbortSignal.any([dialling.signal, AbortSignal.timeout(shareMs)])
    try {
      return closedBy(dialling.signal, await connect({ ...address, port }, signal))
    } catch (error) {
      if (dialling.signal.aborted) throw error
      reason = signal.aborted ? 'no answer' : reasonOf(error)
    }
  }
  throw network(
    `${dialling.origin} could not be reached: ${reason}.`,
    'Check that the server runs and that your network reaches it.',
  )
}

/** `host` is an address here, so Node does no lookup of its own. */
const dialTcp: Connect = ({ address, family, port }, signal) => {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
  const socket = connectTcp({ host: address, family, port, noDelay: true })
  const onAbort = (): unknown => socket.destroy(new Error('aborted'))
  signal.addEventListener('abort', onAbort, { once: true })
  socket.once('error', reject)
  socket.once('connect', () => {
    signal.removeEventListener('abort', onAbort)
    socket.off('error', reject)
    resolve(socket)
  })
  if (signal.aborted) onAbort()
  return promise
}

/** Errors of a socket reach who reads it; without a listener of its own one would end the process. */
function closedBy<Socket extends Duplex>(signal: AbortSignal, socket: Socket): Socket {
  const onAbort = (): unknown => socket.destroy()
  socket.on('error', () => {})
  socket.once('close', () => signal.removeEventListener('abort', onAbort))
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return socket
}

/** A TLS connection whose certificate is that of `host`, whatever the environment of Node says. */
export async function secured(
  socket: Duplex,
  host: string,
  { origin, signal, options, limits }: Dialling,
): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const secure = connectTls({
    socket,
    host,
    servername: isIP(host) === 0 ? host : undefined,
    ca: options.ca,
    secureContext: options.roots,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  })
  secure.once('secureConnect', resolve)
  secure.once('error', reject)
  secure.once('close', () => reject(new Error('the server closed the connection')))
  closedBy(signal, secure)
  await beforeAbort(promise, { origin, signal, limits }).catch((error: unknown) => {
    secure.destroy()
    if (signal.aborted) throw error
    throw network(
      `${origin} was not used: its TLS connection failed (${reasonOf(error)}).`,
      'Check the host of the URL. The owner of the server must renew or correct its certificate.',
      error,
    )
  })
  return secure
}

/** CONNECT with the checked address: the proxy resolves no name, so it reaches what was checked. */
async function tunnel(
  target: Pick<Target, 'origin' | 'port'>,
  [first]: readonly PinnedAddress[],
  proxy: Proxy,
  dialling: Dialling,
): Promise<Duplex> {
  const { origin, signal, options, limits } = dialling
  const toProxy = { ...dialling, origin: `The proxy ${proxy.host}:${proxy.port}` }
  const plain = await dialFirst(await addressesOf(proxy.host, options), proxy.port, toProxy)
  const socket = proxy.isTls ? await secured(plain, proxy.host, toProxy) : plain
  const authority = `${first?.family === 6 ? `[${first.address}]` : first?.address}:${target.port}`
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
  const request = httpRequest({
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...(proxy.authorization && { 'proxy-authorization': proxy.authorization }) },
    maxHeaderSize: limits.maxHeaderBytes,
    createConnection: () => socket,
  })
  request.once('connect', ({ statusCode = 0 }, tunnelled, rest) => {
    if (statusCode !== 200) return reject(new Error(`it answered ${statusCode}`))
    if (rest.length > 0) tunnelled.unshift(rest)
    resolve(tunnelled)
  })
  request.once('response', ({ statusCode }) => reject(new Error(`it answered ${statusCode}`)))
  request.on('error', reject)
  request.end()
  return await beforeAbort(promise, dialling).catch((error: unknown) => {
    socket.destroy()
    if (signal.aborted) throw error
    throw network(
      `The proxy did not connect Nexus to ${origin}: ${errorMessage(error)}.`,
      'Check the proxy variables and the rules of the proxy.',
      error,
    )
  })
}

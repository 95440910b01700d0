/** A listening HTTP server with the limits that all of ours have. */
import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { errorCode, NexusError, toSafeLine } from '../../kernel/index.ts'

export interface ListenOptions {
  /** 0: any free one. */
  readonly port: number
  /** Default: loopback. */
  readonly host?: string
  readonly maxConnections: number
  /** For all of a request; its headers have at most a third of it. */
  readonly requestTimeoutMs?: number
  /** PEM texts; absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  /** The next step where the port is taken. */
  readonly portFix: string
}

export interface Listening {
  readonly server: Server
  readonly port: number
}

const LOOPBACK = '127.0.0.1'
const REQUEST_TIMEOUT_MS = 30_000
const CHECK_TIMEOUTS_MS = 2_000
/** Source: contracts §1.1. */
const MAX_HEADERS = 128
const MAX_HEADER_BYTES = 32 * 1024
const KEEP_ALIVE_MS = 15_000

/** Listens. Throws CONFLICT for a port that is taken. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { port, host = LOOPBACK, maxConnections, requestTimeoutMs = REQUEST_TIMEOUT_MS, tls, portFix } = options
  const limits = {
    ...timeoutsOf(requestTimeoutMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: CHECK_TIMEOUTS_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  }
  const server = tls ? createHttpsServer({ ...limits, ...tls }) : createHttpServer(limits)
  server.maxConnections = maxConnections
  server.maxHeadersCount = MAX_HEADERS
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(refused(error, { port, host, portFix })))
    server.listen(port, host, resolve)
  })
  return { server, port: (server.address() as AddressInfo).port }
}

function timeoutsOf(requestTimeoutMs: number) {
  return { headersTimeout: Math.ceil(requestTimeoutMs / 3), requestTimeout: requestTimeoutMs }
}

/** Changes limits of a server that listens. */
export function setLimits(
  server: Server,
  { maxConnections, requestTimeoutMs }: { readonly maxConnections: number; readonly requestTimeoutMs: number },
): void {
  Object.assign(server, timeoutsOf(requestTimeoutMs), { maxConnections })
}

/** Connections that come from now on get it. A server without TLS stays without. */
export function setCertificate(server: Server, pems: { readonly cert: string; readonly key: string }): void {
  if (server instanceof HttpsServer) server.setSecureContext(pems)
}

function refused(error: Error, { port, host, portFix }: { port: number; host: string; portFix: string }): Error {
  const code = errorCode(error)
  if (code === 'EADDRINUSE')
    return new NexusError('CONFLICT', `Another program listens on port ${port}.`, { fix: portFix, cause: error })
  const message = `Nexus cannot listen on ${toSafeLine(host)}, port ${port}: ${code ?? 'unknown reason'}.`
  return new NexusError('INVALID_ARGUMENT', message, { fix: portFix, cause: error })
}

/** True for addresses that only programs of this machine reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

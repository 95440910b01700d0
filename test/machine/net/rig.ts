/** A client whose lookups and connections are those of the test: a public address leads to a server on loopback, or nowhere. */
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { join } from 'node:path'
import { createNet, type Net, type NetOptions, type NetResponse } from '../../../src/machine/net/index.ts'
import { ROOT } from '../../source-tree.ts'

/** An address that is public; the tests never dial it. */
export const PUBLIC = '93.184.216.34'
export const OTHER = '93.184.216.35'
const file = (name: string): string => readFileSync(join(ROOT, 'test/fixtures/net', name), 'utf8')
/** Self-signed for public.test, other.test and the address PUBLIC. */
export const CERTIFICATE = file('cert.pem')

export interface Rig {
  readonly net: Net
  readonly dialled: string[]
  readonly lookedUp: string[]
}

export interface Stubs {
  /** Successive answers for a name; the last one stays. Other names have the address PUBLIC. */
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>
  /** Address and port to a port on loopback. */
  readonly routes?: Readonly<Record<string, number>>
  readonly options?: NetOptions
}

export function makeRig(stubs: Stubs = {}): Rig {
  const { options, ...seen } = makeOptions(stubs)
  return { net: createNet(options), ...seen }
}

/** The lookups and connections of a test as options, for whoever makes the client. */
export function makeOptions({ names = {}, routes = {}, options = {} }: Stubs = {}): Omit<Rig, 'net'> & {
  readonly options: NetOptions
} {
  const dialled: string[] = []
  const lookedUp: string[] = []
  const all: NetOptions = {
    ownAddresses: () => [],
    lookup: async (name) => {
      const answers = names[name] ?? [[PUBLIC]]
      const turn = lookedUp.filter((earlier) => earlier === name).length
      lookedUp.push(name)
      return (answers[Math.min(turn, answers.length - 1)] ?? []).map((address) => ({ address }))
    },
    connect: async ({ address, port }) => {
      const to = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
      dialled.push(to)
      const route = routes[to]
      if (route === undefined) throw Object.assign(new Error(`no route to ${to}`), { code: 'ECONNREFUSED' })
      return await dialLoopback(route)
    },
    ...options,
  }
  return { options: all, dialled, lookedUp }
}

async function dialLoopback(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once('connect', resolve)
  socket.once('error', reject)
  await promise
  socket.off('error', reject)
  return socket
}

/** The port of a server that ends with the test. */
export async function serve(t: TestContext, listener: RequestListener): Promise<number> {
  return await listen(t, createServer(listener))
}

export async function serveTls(t: TestContext, listener: RequestListener): Promise<number> {
  return await listen(t, createTlsServer({ key: file('key.pem'), cert: CERTIFICATE }, listener))
}

/** A server that gives the connection itself, for answers that no HTTP library would send. */
export async function serveRaw(t: TestContext, onConnection: (socket: Socket) => void): Promise<number> {
  return await listen(t, createTcpServer(onConnection))
}

async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => {})
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

export async function textOf({ body }: NetResponse): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts).toString()
}

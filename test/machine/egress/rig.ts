/** One proxy with stand-in servers behind public names, and clients that speak to it as programs do. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type HostRule, readHostRule } from '../../../src/kernel/index.ts'
import { type Egress, type EgressOptions, type EgressReport, openEgress } from '../../../src/machine/egress/index.ts'
import { makeOptions, type Stubs } from '../net/rig.ts'

export interface Proxied {
  readonly path: string
  readonly egress: Egress
  readonly dialled: readonly string[]
  readonly lookedUp: readonly string[]
  report(): Promise<EgressReport>
}

export const rules = (texts: readonly string[]): HostRule[] =>
  texts.map((text) => {
    const rule = readHostRule(text)
    if (!rule) throw new Error(`not a rule: ${text}`)
    return rule
  })

export interface ProxyOptions extends Stubs {
  readonly allowed?: readonly string[]
  readonly denied?: readonly string[]
  readonly within?: readonly string[]
  readonly egress?: EgressOptions
}

export async function proxy(t: TestContext, options: ProxyOptions): Promise<Proxied> {
  const { allowed = [], denied = [], within, egress: more, ...stubs } = options
  const directory = mkdtempSync(join(tmpdir(), 'egress-'))
  const path = join(directory, 'socket')
  const { options: net, dialled, lookedUp } = makeOptions(stubs)
  const egress = await openEgress(path, { allowed: rules(allowed), denied: rules(denied), within }, { net, ...more })
  t.after(async () => {
    await egress.close()
    rmSync(directory, { recursive: true })
  })
  return { path, egress, dialled, lookedUp, report: () => egress.close() }
}

/** Sends bytes and collects what comes until the other side ends, or `until` is contained. */
export async function exchange(path: string, parts: readonly (string | Buffer)[], until?: string): Promise<string> {
  const socket = await dialSocket(path)
  const waits = parts.length > 1
  let got = ''
  const { promise, resolve } = Promise.withResolvers<void>()
  const rest = [...parts]
  const next = (): void => {
    const part = rest.shift()
    if (part !== undefined) socket.write(part)
  }
  socket.on('data', (data: Buffer) => {
    got += data.toString('latin1')
    if (until !== undefined && rest.length === 0 && got.includes(until)) resolve()
    else if (waits) next()
  })
  socket.once('close', () => resolve())
  next()
  await promise
  socket.destroy()
  return got
}

export async function dialSocket(path: string): Promise<Socket> {
  const socket = connect({ path })
  socket.on('error', () => undefined)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once('connect', resolve)
  socket.once('error', reject)
  await promise
  return socket
}

/** A socket after CONNECT; rejects with the answer of a refusal. */
export async function throughConnect(path: string, authority: string): Promise<Socket> {
  const socket = await dialSocket(path)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let got = ''
  const onData = (data: Buffer): void => {
    got += data.toString('latin1')
    if (got.startsWith('HTTP/1.1 200') && got.includes('\r\n\r\n')) resolve(got)
  }
  socket.on('data', onData)
  socket.once('close', () => reject(new Error(got)))
  await promise
  socket.pause().off('data', onData)
  const rest = got.slice(got.indexOf('\r\n\r\n') + 4)
  if (rest !== '') socket.unshift(Buffer.from(rest, 'latin1'))
  return socket
}

const name = (host: string): Buffer => Buffer.concat([Buffer.from([3, host.length]), Buffer.from(host)])

/** A SOCKS5 request to a name, or to the bytes of an address with their type. */
export function socksRequest(to: string | Buffer, port: number, command = 1): Buffer {
  const address = typeof to === 'string' ? name(to) : to
  return Buffer.concat([Buffer.from([5, command, 0]), address, Buffer.from([port >> 8, port & 255])])
}

export const GREETING = Buffer.from([5, 1, 0])

/** A client of `nexus mcp --http` that sends bytes as it likes. */
import assert from 'node:assert/strict'
import { connect as connectSocket } from 'node:net'
import type { TestContext } from 'node:test'
import { type startHttp, until } from '../apps/mcp/client.ts'

export type Server = Awaited<ReturnType<typeof startHttp>>

export interface Answer {
  /** 0 for none. */
  readonly status: number
  readonly text: string
  /** Of the error of the protocol. */
  readonly code: number | undefined
}

/** Sends bytes, and reads to the end of the answer. */
export async function fire(port: number, raw: string): Promise<Answer> {
  const socket = connectSocket(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  socket.on('error', () => undefined)
  socket.write(Buffer.from(raw, 'latin1'))
  await until(() => socket.destroyed || isWhole(text))
  socket.destroy()
  const code = /"code":(-?\d+)/.exec(text)?.[1]
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0),
    text,
    code: code === undefined ? undefined : Number(code),
  }
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /content-length: (\d+)/i.exec(text.slice(0, end))?.[1]
  if (length !== undefined) return text.length >= end + 4 + Number(length)
  return !/transfer-encoding: chunked/i.test(text.slice(0, end)) || text.endsWith('\r\n0\r\n\r\n')
}

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

export const rpc = (method: unknown, params: unknown = {}, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
export const PING = rpc('ping')
export const INITIALIZE = rpc('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'x', version: '1' },
})

/** A request of a client with the key, changed by `headers`; undefined leaves one out. */
export function requestTo({ port, key }: Server) {
  return (headers: Headers = {}, { method = 'POST', path = '/mcp', body = PING } = {}): string => {
    const all: Headers = {
      ...{ Host: `127.0.0.1:${port}`, Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...{ Accept: 'application/json, text/event-stream', 'Content-Length': String(Buffer.byteLength(body)) },
      ...headers,
    }
    const lines = Object.entries(all).flatMap(([name, value]) =>
      [value ?? []].flat().map((each) => `${name}: ${each}\r\n`),
    )
    return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
  }
}

/** Begins a session, and gives its header. */
export async function beginSession(server: Server): Promise<{ readonly 'Mcp-Session-Id': string }> {
  const { status, text } = await fire(server.port, requestTo(server)({}, { body: INITIALIZE }))
  assert.equal(status, 200)
  return { 'Mcp-Session-Id': /mcp-session-id: (\S+)/i.exec(text)?.[1] ?? '' }
}

/** The first event of a stream that stays open until the end of the test. */
export async function beginningOf(t: TestContext, port: number, raw: string): Promise<string> {
  const socket = connectSocket(port, '127.0.0.1')
  t.after(() => void socket.destroy())
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  socket.on('error', () => undefined)
  socket.write(raw)
  await until(() => socket.destroyed || /\r\n\r\n[\s\S]*\n\n/.test(text) || /"error"/.test(text))
  return text
}

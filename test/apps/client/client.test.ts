/** The client against servers that answer as none should. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { ClientError, createClient, detectServer, discoverKey } from '../../../src/apps/client/index.ts'

type Answer = (body: { readonly id: unknown; readonly method: string }, response: ServerResponse, count: number) => void

async function serverOf(t: TestContext, answer: Answer) {
  let count = 0
  const server = createServer((request: IncomingMessage, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => answer(JSON.parse(text === '' ? '{}' : text) as Parameters<Answer>[0], response, ++count))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, count: () => count }
}

async function kindOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof ClientError, String(error))
    return error.kind
  }
  return 'none'
}

test('an answer that is none of JSON-RPC to the request is a protocol error', async (t) => {
  const answers: readonly [string, string][] = [
    ['no JSON', 'protocol'],
    ['', 'protocol'],
    ['[]', 'protocol'],
    ['{"jsonrpc":"2.0","id":"another","result":{}}', 'protocol'],
    ['{"jsonrpc":"2.0","id":"another","error":{"code":1,"message":"x"}}', 'protocol'],
    ['{"result":{}}', 'protocol'],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}', 'rpc'],
    ['{"jsonrpc":"2.0","id":null,"error":{}}', 'rpc'],
  ]
  for (const [text, kind] of answers) {
    const { port } = await serverOf(t, (_body, response) => response.end(text))
    assert.equal(await kindOf(createClient({ port }).listAgents()), kind, text)
  }
})

test('an endless answer, one that breaks off, and none at all end the call', async (t) => {
  const huge = await serverOf(t, (_body, response) => {
    const block = Buffer.alloc(1024 * 1024, 0x20)
    const more = (): void => {
      while (!response.destroyed && response.write(block)) continue
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  assert.equal(await kindOf(createClient({ port: huge.port }).listAgents()), 'protocol')
  const broken = await serverOf(t, (_body, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{')
    response.destroy()
  })
  assert.equal(await kindOf(createClient({ port: broken.port, retries: 1 }).listAgents()), 'connection')
  assert.equal(broken.count(), 2)
  const silent = await serverOf(t, () => undefined)
  assert.equal(await kindOf(createClient({ port: silent.port, timeoutMs: 50 }).listAgents()), 'timeout')
  const elsewhere = await serverOf(t, (_body, response) =>
    response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
  )
  assert.equal(await kindOf(createClient({ port: elsewhere.port, retries: 0 }).listAgents()), 'connection')
})

test('what may be repeated is repeated; a change that may have been made is not', async (t) => {
  const flaky = await serverOf(t, ({ id, method }, response, count) => {
    if (count === 1) response.destroy()
    else response.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'send' ? { request_id: '1' } : {} }))
  })
  assert.deepEqual(await createClient({ port: flaky.port }).send('a', 'x', { requestId: '1' }), { request_id: '1' })
  assert.equal(flaky.count(), 2)
  const cut = await serverOf(t, (_body, response) => response.destroy())
  assert.equal(await kindOf(createClient({ port: cut.port }).destroyAgent('a')), 'connection')
  assert.equal(cut.count(), 1)
  const busy = await serverOf(t, ({ id }, response, count) => {
    if (count === 1) response.writeHead(503).end('{"error":"The server is busy"}')
    else response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { success: true, agent_id: 'a' } }))
  })
  assert.equal((await createClient({ port: busy.port }).destroyAgent('a')).success, true)
})

test('detectServer tells a server of Nexus from another one, silence and nothing', async (t) => {
  const other = await serverOf(t, (_body, response) => response.writeHead(401).end('no'))
  const ours = await serverOf(t, (_body, response) =>
    response.writeHead(401).end('{"error":"Authorization header required"}'),
  )
  const silent = await serverOf(t, () => undefined)
  assert.equal(await detectServer({ port: other.port }), 'other_service')
  assert.equal(await detectServer({ port: ours.port }), 'nexus_server')
  assert.equal(await detectServer({ port: silent.port, timeoutMs: 50 }), 'timeout')
  const gone = createServer()
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
  const { port } = gone.address() as AddressInfo
  await new Promise((resolve) => gone.close(resolve))
  assert.equal(await detectServer({ port }), 'no_server')
})

test('the key is found in the variables, in the file of the port, and in those of NEXUS3; never in one that others read', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'nexus-key-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  for (const directory of ['.nexus/apikeys', '.nexus3']) mkdirSync(join(home, directory), { recursive: true })
  const keyOf = (letter: string): string => letter.repeat(43)
  const write = (name: string, letter: string): void => writeFileSync(join(home, name), keyOf(letter), { mode: 0o600 })
  const find = (port: number, more = {}) => discoverKey({ port, environment: { HOME: home, ...more } })
  assert.equal(await find(8765), undefined)
  write('.nexus3/rpc.token', 'a')
  assert.deepEqual([await find(8765), await find(9000)], [keyOf('a'), undefined])
  write('.nexus3/server-9000.key', 'b')
  write('.nexus/apikeys/9000.key', 'c')
  assert.equal(await find(9000), keyOf('c'))
  assert.equal(await find(9000, { NEXUS3_API_KEY: 'given' }), 'given')
  chmodSync(join(home, '.nexus/apikeys/9000.key'), 0o640)
  assert.equal(await find(9000), keyOf('b'))
  rmSync(join(home, '.nexus3/server-9000.key'))
  symlinkSync(join(home, '.nexus3/rpc.token'), join(home, '.nexus3/server-9000.key'))
  assert.equal(await find(9000), undefined)
})

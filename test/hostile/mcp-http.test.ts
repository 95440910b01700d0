/** Programs and pages that speak to `nexus mcp --http` as no client should: each row is refused as it must be, and the server answers afterwards. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { Place } from '../apps/cli/nexus.ts'
import { ledgerOf, processesWith, startHttp, until } from '../apps/mcp/client.ts'
import {
  beginningOf,
  beginSession,
  fire,
  type Headers,
  INITIALIZE,
  PING,
  requestTo,
  rpc,
  type Server,
} from './http-rig.ts'

interface Row {
  readonly raw: string
  readonly status: readonly number[]
  readonly code?: number
}

/** Ids are those of the list of attacks, and of the issue where the list has none. */
function rowsFor(server: Server): Readonly<Record<string, Row>> {
  const { port, key } = server
  const host = `127.0.0.1:${port}`
  const request = requestTo(server)
  const body = (text: string): string => request({}, { body: text })
  const start = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n`
  return {
    'R01 control': { raw: request(), status: [200] },
    'R02 no key': { raw: request({ Authorization: undefined }), status: [401] },
    'R04 the beginning of the key': { raw: request({ Authorization: `Bearer ${key.slice(0, -1)}` }), status: [401] },
    'R05 the key and more': { raw: request({ Authorization: `Bearer ${key}x` }), status: [401] },
    'R06 an empty key': { raw: request({ Authorization: 'Bearer ' }), status: [401] },
    'R07 another scheme': { raw: request({ Authorization: `Basic ${key}` }), status: [401] },
    'R08 two keys': { raw: request({ Authorization: ['Bearer x', `Bearer ${key}`] }), status: [400, 401] },
    'R10 key in a cookie': {
      raw: request({ Authorization: undefined, Cookie: `api_key=${key}` }),
      status: [401],
    },
    'R11 key in the address': {
      raw: request({ Authorization: undefined }, { path: `/mcp?key=${key}` }),
      status: [401],
    },
    'R12 another host (DNS rebinding)': { raw: request({ Host: 'evil.example' }), status: [403] },
    'R12 another host with our port': { raw: request({ Host: `evil.example:${port}` }), status: [403] },
    'R13 a host that ends alike': { raw: request({ Host: `x.127.0.0.1:${port}` }), status: [403] },
    'R13 a host that begins alike': { raw: request({ Host: `${host}.evil.example` }), status: [403] },
    'R14 no host': { raw: request({ Host: undefined }), status: [400, 403] },
    'R15 two hosts': { raw: request({ Host: [host, 'evil.example'] }), status: [400, 403] },
    'R16 a host with a user': { raw: request({ Host: `a@${host}` }), status: [400, 403] },
    'R17 another origin': { raw: request({ Origin: 'https://evil.example' }), status: [403] },
    'R17 another port of this machine': { raw: request({ Origin: 'http://127.0.0.1:1' }), status: [403] },
    'R18 origin null': { raw: request({ Origin: 'null' }), status: [403] },
    'R19 another site': { raw: request({ 'Sec-Fetch-Site': 'cross-site' }), status: [403] },
    'R20 a form': { raw: request({ 'Content-Type': 'application/x-www-form-urlencoded' }), status: [415] },
    'R21 text': { raw: request({ 'Content-Type': 'text/plain' }), status: [415] },
    'R21 no type': { raw: request({ 'Content-Type': undefined }), status: [415] },
    'R24 GET': { raw: request({}, { method: 'GET', body: '' }), status: [405] },
    'R26 an empty body': { raw: body(''), status: [400], code: -32_700 },
    'R27 a broken body': { raw: body('{"jsonrpc"'), status: [400], code: -32_700 },
    'R28 a method that is no text': { raw: body(rpc(1)), status: [400], code: -32_600 },
    'R29 another version': { raw: body('{"jsonrpc":"1.0","id":1,"method":"ping"}'), status: [400], code: -32_600 },
    'R30 method __proto__': { raw: body(rpc('__proto__')), status: [200], code: -32_601 },
    'R32 method toString': { raw: body(rpc('toString')), status: [200], code: -32_601 },
    'R34 parameters that are a text': { raw: body(rpc('tools/list', 'x')), status: [400], code: -32_600 },
    'R35 id null': { raw: body(rpc('ping', {}, null)), status: [400], code: -32_600 },
    'R35 id object': { raw: body(rpc('ping', {}, {})), status: [400], code: -32_600 },
    'R36 id is a huge number': {
      raw: body('{"jsonrpc":"2.0","method":"ping","id":1e999}'),
      status: [400],
      code: -32_600,
    },
    'R38 an empty batch': { raw: body('[]'), status: [400], code: -32_600 },
    'R39 a batch with something else': { raw: body(`[${PING},7]`), status: [400], code: -32_600 },
    'R40 JSON nested 200,000 deep': { raw: body('['.repeat(200_000) + ']'.repeat(200_000)), status: [400] },
    'R41 arguments nested 200,000 deep': {
      raw: body(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"load_skill","arguments":{"skill_name":${'['.repeat(200_000)}${']'.repeat(200_000)}}}}`,
      ),
      status: [200, 400],
    },
    'R42 __proto__ in arguments': {
      raw: body(
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"load_skill","__proto__":{"a":1},"arguments":{"__proto__":{"skill_name":"greet"},"constructor":{"prototype":{"skill_name":"greet"}}}}}',
      ),
      status: [200],
    },
    'R43 a body that is too long': { raw: body(' '.repeat(5_000_000)), status: [0, 413] },
    'R43 a header that is too long': { raw: request({ 'X-A': 'a'.repeat(100_000) }), status: [431] },
    'R47 two lengths (smuggling)': {
      raw: `${start}Content-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      status: [400],
    },
    'R48 another path': { raw: request({}, { path: '/mcp/../../etc/passwd' }), status: [404] },
    'R50 a path with %00': { raw: request({}, { path: '/mcp%00' }), status: [404] },
    'R52 an absolute target': { raw: request({}, { path: 'http://evil.example/mcp' }), status: [400, 404] },
    'R56 an argument of another type': {
      raw: body(rpc('tools/call', { name: 'run_command', arguments: { command: { a: 1 } } })),
      status: [200],
    },
    'R58 bytes that are no HTTP': { raw: '\x16\x03\x01\x00\x00\x01\x02\x03\r\n\r\n', status: [400] },
    'a session that is not there': { raw: request({ 'Mcp-Session-Id': '../../x' }), status: [404] },
    'session __proto__': { raw: request({ 'Mcp-Session-Id': '__proto__' }), status: [404] },
    'end of a session that is not there': {
      raw: request({ 'Mcp-Session-Id': 'x' }, { method: 'DELETE', body: '' }),
      status: [404],
    },
    'resumption of a stream that is not there': {
      raw: request(
        { 'Last-Event-ID': '1', 'Mcp-Session-Id': 'x', Accept: 'text/event-stream' },
        { method: 'GET', body: '' },
      ),
      status: [404],
    },
    'a session and a batch at once': { raw: body(`[${INITIALIZE},${PING}]`), status: [400] },
    'a protocol that is not there': { raw: request({ 'Mcp-Protocol-Version': '1999-01-01' }), status: [400] },
    'a client that takes no JSON': { raw: request({ Accept: 'text/html' }), status: [406] },
  }
}

test('every row is refused as it must be, shows nothing of the code, and the server answers afterwards', async (t) => {
  const server = await startHttp(t, new Place(t), ['--trust'])
  const request = requestTo(server)
  for (const [what, { raw, status, code }] of Object.entries(rowsFor(server)))
    await t.test(what, async () => {
      const answer = await fire(server.port, raw)
      assert.ok(status.includes(answer.status), `${answer.status} ${answer.text.slice(0, 300)}`)
      if (code !== undefined) assert.equal(answer.code, code)
      assert.doesNotMatch(answer.text, /\.[cm]?[jt]s:\d+|node_modules/)
      assert.equal((await fire(server.port, request())).status, 200)
    })
  await t.test('R22 preflight from another origin', async () => {
    const headers = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' }
    const { text } = await fire(server.port, request(headers, { method: 'OPTIONS', body: '' }))
    assert.doesNotMatch(text, /access-control-allow-origin/i)
  })
  await t.test('R126 1,000 wrong keys: the others wait, the right one does not, and the log stays short', async () => {
    const wrong = request({ Authorization: 'Bearer wrong' })
    for (let round = 0; round < 20; round++)
      await Promise.all(Array.from({ length: 50 }, () => fire(server.port, wrong)))
    assert.equal((await fire(server.port, wrong)).status, 429)
    assert.equal((await fire(server.port, request())).status, 200)
    assert.ok((server.log().match(/wrong key/g) ?? []).length < 10, server.log())
  })
})

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

test('streams that clients open and forget leave room for requests', async (t) => {
  const server = await startHttp(t, new Place(t), ['--trust'])
  const headers = { 'Mcp-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' }
  const params = { _meta: META, notifications: { toolsListChanged: true } }
  const raw = requestTo(server)(headers, { body: rpc('subscriptions/listen', params) })
  const opened: Promise<string>[] = []
  for (let index = 0; index < 250; index++) opened.push(beginningOf(t, server.port, raw))
  const answers = await Promise.all(opened)
  assert.ok(
    answers.some((text) => text.includes('acknowledged')),
    answers[0],
  )
  assert.ok(answers.some((text) => text.includes('limit reached')))
  assert.equal((await fire(server.port, requestTo(server)())).status, 200)
})

test('nobody cancels the call of another connection, whatever id is named', async (t) => {
  const place = new Place(t)
  const server = await startHttp(t, place, ['--trust'])
  const request = requestTo(server)
  const token = `600.${process.pid}`
  const call = rpc('tools/call', { name: 'run_command', arguments: { command: `sleep ${token}` } }, 7)
  const socket = connectSocket(server.port, '127.0.0.1')
  socket.write(request({}, { body: call }))
  await until(() => processesWith(token).length > 0)
  const body = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'
  for (const session of [{}, await beginSession(server)])
    assert.equal((await fire(server.port, request(session, { body }))).status, 202)
  assert.equal((await fire(server.port, request())).status, 200)
  assert.ok(processesWith(token).length > 0)
  socket.destroy()
  await until(() => processesWith(token).length === 0)
  await until(() => isClosed(place))
})

type Crowd = { readonly headers: (server: Server) => Headers | Promise<Headers>; readonly meta: object }

const CROWDS: Readonly<Record<string, Crowd>> = {
  'in a session of 2025': { headers: beginSession, meta: {} },
  'of 2025 without a session': { headers: () => ({}), meta: {} },
  'of 2026': {
    headers: () => ({ 'Mcp-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'run_command' }),
    meta: { _meta: META },
  },
}

for (const [which, { headers, meta }] of Object.entries(CROWDS))
  test(`R131: a crowd of calls ${which} whose clients go away changes nothing, and each has its row`, async (t) => {
    const place = new Place(t)
    const server = await startHttp(t, place, ['--trust'])
    const token = `8.000${process.pid}`
    const params = { name: 'run_command', arguments: { command: `sleep ${token}; echo ran >> ran.txt` }, ...meta }
    const own = await headers(server)
    let calls = 0
    const raw = (): string => requestTo(server)(own, { body: rpc('tools/call', params, ++calls) })
    // So many that Node collects garbage, which must not cut calls off from their connections.
    const sockets = Array.from({ length: 60 }, () => {
      const socket = connectSocket(server.port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(raw())
      return socket
    })
    await until(() => processesWith(token).length > 0 && ledgerOf(place).length === sockets.length)
    for (const socket of sockets) socket.destroy()
    await until(() => processesWith(token).length === 0)
    await until(() => isClosed(place))
    assert.equal(existsSync(join(place.workspace, 'ran.txt')), false)
    assert.equal((await fire(server.port, requestTo(server)())).status, 200)
  })

/** No call is under way. */
function isClosed(place: Place): boolean {
  return ledgerOf(place).every(({ state }) => state !== 'started' && state !== 'pending')
}

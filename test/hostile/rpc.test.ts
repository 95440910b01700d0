/** Programs that speak to `nexus serve` as no client should: each row is refused as it must be, and the server answers afterwards. */
import assert from 'node:assert/strict'
import { connect as connectSocket } from 'node:net'
import test from 'node:test'
import { until } from '../apps/mcp/client.ts'
import { createTable } from '../../src/apps/rpc/index.ts'
import type { JsonObject } from '../../src/kernel/index.ts'
import { startServer } from '../apps/server/serving.ts'
import { fire, type Headers, rpc } from './http-rig.ts'

const LIST = rpc('list_agents')

/** Row 132: outside the form of an id, each in its own way. */
const ODD_IDS: readonly unknown[] = [
  ...[
    '',
    ' ',
    '.',
    '..',
    'a/b',
    'a\\b',
    '%2e',
    'a\0b',
    'a\r\nb',
    '*',
    '>',
    '$SYS',
    '--help',
    '__proto__',
    '\u202egnp',
    '\uff41',
  ],
  ...['x'.repeat(65), 'x'.repeat(100_000), 1, null, true, {}, [], ['a']],
]
/** Row 135. */
const SQL = `'; drop table agents; -- "\`$1 :projectId ? %_\\`

interface Param {
  readonly name: string
  readonly schema: { readonly type?: string; readonly anyOf?: readonly object[] }
}
const METHODS = createTable('test').document['methods'] as unknown as readonly {
  readonly name: string
  readonly params: readonly Param[]
  readonly tags: readonly { readonly name: string }[]
}[]

interface Row {
  readonly raw: string
  readonly status: readonly number[]
  readonly code?: readonly number[]
}

/** Ids are those of the list of attacks. */
function rowsFor(port: number, key: string): Readonly<Record<string, Row>> {
  const host = `127.0.0.1:${port}`
  const request = (headers: Headers = {}, { method = 'POST', path = '/rpc', body = LIST } = {}): string => {
    const all: Headers = {
      ...{ Host: host, Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      'Content-Length': String(Buffer.byteLength(body)),
      ...headers,
    }
    const lines = Object.entries(all).flatMap(([name, value]) =>
      [value ?? []].flat().map((each) => `${name}: ${each}\r\n`),
    )
    return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
  }
  const body = (text: string): string => request({}, { body: text })
  const start = `POST /rpc HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
  const to = (path: string): string => request({}, { path, body: rpc('send', { content: 'x' }) })
  return {
    'R02 no key': { raw: request({ Authorization: undefined }), status: [401] },
    'R04 the beginning of the key': { raw: request({ Authorization: `Bearer ${key.slice(0, -1)}` }), status: [403] },
    'R05 the key and more': { raw: request({ Authorization: `Bearer ${key}x` }), status: [403] },
    'R06 an empty key': { raw: request({ Authorization: 'Bearer ' }), status: [401, 403] },
    'R07 another scheme': { raw: request({ Authorization: `Basic ${key}` }), status: [403] },
    'R08 two keys': { raw: request({ Authorization: ['Bearer x', `Bearer ${key}`] }), status: [400, 403] },
    'R10 key in a cookie': { raw: request({ Authorization: undefined, Cookie: `api_key=${key}` }), status: [401] },
    'R11 key in the address': {
      raw: request({ Authorization: undefined }, { path: `/rpc?key=${key}` }),
      status: [401],
    },
    'R12 another host': { raw: request({ Host: `evil.example:${port}` }), status: [403] },
    'R13 a host that begins alike': { raw: request({ Host: `${host}.evil.example` }), status: [400, 403] },
    'R14 no host': { raw: request({ Host: undefined }), status: [400, 403] },
    'R15 two hosts': { raw: request({ Host: [host, 'evil.example'] }), status: [400, 403] },
    'R16 a host with a user': { raw: request({ Host: `a@${host}` }), status: [400, 403] },
    'R17 another port of this machine': { raw: request({ Origin: 'http://127.0.0.1:1' }), status: [403] },
    'R18 origin null': { raw: request({ Origin: 'null' }), status: [403] },
    'R19 another site': { raw: request({ 'Sec-Fetch-Site': 'same-site' }), status: [403] },
    'R20 a form': { raw: request({ 'Content-Type': 'application/x-www-form-urlencoded' }), status: [415] },
    'R21 text/plain': { raw: request({ 'Content-Type': 'text/plain' }), status: [415] },
    'R23 no type': { raw: request({ 'Content-Type': undefined }), status: [415] },
    'R26 an empty body': { raw: body(''), status: [400], code: [-32_700] },
    'R36 an id that is no number': {
      raw: body('{"jsonrpc":"2.0","method":"list_agents","id":1e999}'),
      status: [200],
      code: [-32_600],
    },
    'R40 nested 200,000 deep': { raw: body('['.repeat(200_000) + ']'.repeat(200_000)), status: [400], code: [-32_700] },
    'R41 keys twice': { raw: body('{"jsonrpc":"2.0","method":"nope","method":"list_agents","id":1}'), status: [200] },
    'R42 __proto__ in params': {
      raw: body(
        '{"jsonrpc":"2.0","method":"create_agent","params":{"agent_id":"a1","__proto__":{"preset":"yolo"}},"id":1}',
      ),
      status: [200],
      code: [-32_602],
    },
    'R43 constructor in params': {
      raw: body(
        '{"jsonrpc":"2.0","method":"create_agent","params":{"constructor":{"prototype":{"preset":"yolo"}}},"id":1}',
      ),
      status: [200],
      code: [-32_602],
    },
    'R48 a path that leads away': { raw: to('/agent/../../etc/passwd'), status: [400, 404] },
    'R49 the same, encoded': { raw: to('/agent/..%2f..%2fetc%2fpasswd'), status: [400, 404] },
    'R50 NUL in an id': { raw: to('/agent/a%00b'), status: [400, 404] },
    'R51 CRLF in an id': { raw: to('/agent/a%0d%0aX-Y:%20z'), status: [400, 404] },
    'R52 an absolute target': { raw: request({}, { path: 'http://evil.example/rpc' }), status: [400, 403, 404] },
    'R53 a broken escape in an id': { raw: to('/agent/%zz'), status: [400, 404] },
    'R54 wider rights': {
      raw: body(rpc('create_agent', { agent_id: 'esc2', preset: 'sandboxed', cwd: '/', allowed_paths: ['/'] })),
      status: [200],
      code: [-32_602],
    },
    'R56 no stack in errors': {
      raw: body(rpc('create_agent', { agent_id: { a: 1 } })),
      status: [200],
      code: [-32_602],
    },
    'R58 no HTTP': { raw: '\u0016\u0003\u0001\u0000\u0000\u0001\u0002\u0003', status: [0, 400] },
    'R60 two lengths': { raw: `${start}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`, status: [400] },
    'R61 a length and chunks (smuggling)': {
      raw: `${start}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      status: [400],
    },
    'R62 a header of 9,000 characters': { raw: request({ 'X-A': 'a'.repeat(9_000) }), status: [400] },
    'R63 40 KiB of headers': {
      raw: request(Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`X-${at}`, 'a'.repeat(4_096)]))),
      status: [431],
    },
    'R64 a body that says it is 10 GB': { raw: `${start}Content-Length: 10000000000\r\n\r\n{`, status: [413] },
    'R65 an endless body in chunks': {
      raw: `${start}Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${'a'.repeat(65_536)}\r\n`.repeat(17)}`,
      status: [413],
    },
  }
}

test('hostile requests to nexus serve', async (t) => {
  const { port, key, url, client, model, log } = await startServer(t, {
    settings: 'server: { requestTimeoutMs: 1500 }\n',
    script: () => ({ type: 'text', text: 'Heard.' }),
  })
  const call = async (path: string, method: string, params: JsonObject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: rpc(method, params) })
    const { error, result } = (await response.json()) as { error?: { code?: number }; result?: JsonObject }
    return { status: response.status, code: error?.code, result }
  }
  for (const [name, { raw, status, code }] of Object.entries(rowsFor(port, key)))
    await t.test(name, async () => {
      const got = await fire(port, raw)
      assert.ok(status.includes(got.status), `${got.status} ${got.text.slice(0, 300)}`)
      if (code) assert.ok(code.includes(got.code ?? 0), got.text)
      assert.doesNotMatch(got.text, /\.[cm]?[jt]s:\d+|access-control-allow-origin/i)
      assert.ok(!got.text.includes(key))
    })
  await t.test('R44, R46: slow headers and a body without an end are cut off, and hold nobody up', async () => {
    const host = `Host: 127.0.0.1:${port}\r\n`
    const slow = [
      `POST /rpc HTTP/1.1\r\n${host}X-A: `,
      `POST /rpc HTTP/1.1\r\n${host}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"jso`,
    ]
    const sockets = slow.flatMap((text) =>
      Array.from({ length: 10 }, () => {
        const socket = connectSocket(port, '127.0.0.1')
        socket.on('error', () => undefined).resume()
        socket.write(text)
        return socket
      }),
    )
    assert.deepEqual(await client.listAgents(), [])
    await until(() => sockets.every((socket) => socket.destroyed || socket.readableEnded))
  })
  await t.test('more requests than the limit are told to come back; afterwards the server answers', async () => {
    const held = Array.from({ length: 40 }, () => {
      const socket = connectSocket(port, '127.0.0.1')
      let text = ''
      socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
      socket.on('error', () => undefined)
      socket.write(
        `POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      )
      return { socket, text: () => text }
    })
    await until(() => held.filter(({ text }) => text().includes(' 503 ')).length >= 8)
    for (const { socket } of held) socket.destroy()
    await until(async () => (await client.listAgents()).length === 0)
  })
  await t.test('row 125: a child has no tool that its parent lacks, whatever it says', async () => {
    await client.createAgent({ agent_id: 'narrow', preset: 'trusted', disable_tools: ['read_file'] })
    const wants = { parent_agent_id: 'narrow', preset: 'trusted', disable_tools: [] }
    await client.createAgent({ agent_id: 'wide', ...wants })
    await client.send('wide', 'hi')
    const offered = model.requests.at(-1)?.toolNames ?? []
    assert.ok(offered.includes('write_file') && !offered.includes('read_file'), offered.join(' '))
    await client.destroyAgent('narrow')
  })
  await t.test('row 132: an id outside of its form is refused wherever one is given, and makes nothing', async () => {
    await client.createAgent({ agent_id: 'one' })
    for (const id of ODD_IDS as readonly string[]) {
      const about = JSON.stringify(id).slice(0, 40)
      const codes = [
        await call('/rpc', 'create_agent', { agent_id: id }),
        await call('/rpc', 'create_agent', { agent_id: 'child', parent_agent_id: id }),
        await call('/rpc', 'destroy_agent', { agent_id: id }),
        await call('/rpc', 'issue_token', { agent_id: id }),
        await call('/agent/one', 'send', { content: 'x', source_agent_id: id }),
      ].map(({ code }) => code)
      assert.deepEqual(codes.slice(0, 2), [-32_602, -32_602], about)
      for (const code of codes.slice(2)) assert.ok(code === -32_602 || code === -32_023, `${about} ${code}`)
      if (typeof id !== 'string' || id.length > 1_000 || /^\.{0,2}$/.test(id)) continue
      assert.equal((await call(`/agent/${encodeURIComponent(id)}`, 'send', { content: 'x' })).status, 404, about)
    }
    assert.deepEqual(
      (await client.listAgents()).map((agent) => agent.agent_id),
      ['one'],
    )
  })
  await t.test('row 135: SQL in any text of any method is only text', async () => {
    for (const { name, params, tags } of METHODS) {
      const path = tags[0]?.name.includes('/agent/') ? '/agent/one' : '/rpc'
      const texts = params.filter(({ schema }) => schema.type === 'string' || schema.anyOf)
      const needed = Object.fromEntries(
        params
          .map((param) => [param.name, param.schema.type === 'boolean' ? true : SQL] as const)
          .filter(([other]) => ['content', 'request_id', 'allow', 'approval_id', 'call_id', 'name'].includes(other)),
      )
      for (const param of texts) {
        const { status, code } = await call(path, name, { ...needed, [param.name]: SQL })
        assert.deepEqual([status, code === -32_603], [200, false], `${name}.${param.name} ${code}`)
      }
    }
    const { messages } = await client.callAgent('one', ['get_messages', {}])
    assert.ok(messages.some(({ role, content }) => role === 'user' && content === SQL))
    assert.ok((await client.listAgents()).some(({ agent_id: id }) => id === 'one'))
    for (const { agent_id: id } of await client.listAgents()) await client.destroyAgent(id)
  })
  assert.ok(!log().includes(key))
})

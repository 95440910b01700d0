/** Routes and methods × key, Host, Origin, body, wrong types and foreign ids: made from the table of methods, so that none lacks its tests. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import test from 'node:test'
import { createTable } from '../../../src/apps/rpc/index.ts'
import { startServer } from './serving.ts'

const table = createTable('test')

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body?: string
}

interface Got {
  readonly status: number
  readonly text: string
  readonly json: { readonly error?: unknown; readonly result?: unknown; readonly id?: unknown } | undefined
  readonly headers: Readonly<Record<string, unknown>>
}

/** A request with the right key, changed as the row says; undefined leaves a header out. */
function sender({ port, key }: { readonly port: number; readonly key: string }) {
  return ({ method = 'POST', path = '/rpc', headers = {}, body = '' }: Sent): Promise<Got> => {
    const all: Record<string, string | readonly string[] | undefined> = {
      ...{ Host: `127.0.0.1:${port}`, Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...headers,
    }
    const list = Object.entries(all).flatMap(([name, value]) => [value ?? []].flat().flatMap((each) => [name, each]))
    if (body !== '') list.push('Content-Length', String(Buffer.byteLength(body)))
    return new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers: list }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => {
          let json: Got['json']
          try {
            json = JSON.parse(text) as Got['json']
          } catch {
            json = undefined
          }
          resolve({ status: response.statusCode ?? 0, text, json, headers: response.headers })
        })
      })
      sent.on('error', reject).end(body)
    })
  }
}

const rpc = (method: string, params: unknown = {}, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params, id })

/** Every method with the path that it is called on. */
const METHODS = [
  ...[...table.global.values()].map((row) => ({ row, path: '/rpc', route: 'global' as const })),
  ...[...table.agent.values()].map((row) => ({ row, path: '/agent/probe', route: 'agent' as const })),
]

/** Everything that needs a key. */
const ROUTES = [
  ...['/', '/rpc', '/agent/probe', '/mcp'].map((path) => ['POST', path] as const),
  ...(['/agent/probe/events', '/mcp'] as const).map((path) => ['GET', path] as const),
]

const codeOf = ({ json }: Got): unknown => (json?.error as { code?: unknown } | undefined)?.code
const messageOf = ({ json }: Got): unknown => (json?.error as { message?: unknown } | undefined)?.message

test('statuses and texts of every route, whoever asks and however', async (t) => {
  const server = await startServer(t)
  const send = sender(server)
  await server.client.createAgent({ agent_id: 'probe' })
  await server.client.createAgent({ agent_id: 'stranger' })
  const { token } = await server.client.call('issue_token', { agent_id: 'stranger' })
  const error = async (sent: Sent): Promise<readonly [number, unknown]> => {
    const { status, json } = await send(sent)
    return [status, json?.error]
  }

  await t.test('each route looks at Host, Origin and key before anything else', async () => {
    const right = `Bearer ${server.key}`
    for (const [method, path] of ROUTES) {
      const ask = (headers: Sent['headers']) => error({ method, path, headers })
      const about = `${method} ${path}`
      assert.deepEqual(await ask({ Authorization: undefined }), [401, 'Authorization header required'], about)
      assert.deepEqual(await ask({ Authorization: `${right}x` }), [403, 'Invalid API key'], about)
      assert.deepEqual(await ask({ Authorization: [right, right] }), [403, 'Invalid API key'], about)
      assert.deepEqual(await ask({ 'X-Nexus-Capability': 'a.b.c' }), [403, 'Invalid capability token'], about)
      assert.deepEqual(await ask({ Host: 'evil.example', Authorization: 'x' }), [403, 'Host is not this server'], about)
      assert.deepEqual(await ask({ Host: ['evil.example', `127.0.0.1:${server.port}`] }), [
        403,
        'Host is not this server',
      ])
      assert.deepEqual(await ask({ Origin: 'null' }), [403, 'Origin is not this server'], about)
      assert.equal((await ask({ 'Sec-Fetch-Site': 'same-site' }))[0], 403, about)
      if (method === 'POST') assert.equal((await ask({ 'Content-Type': 'text/plain' }))[0], 415, about)
    }
    const narrow = { 'X-Nexus-Capability': token }
    for (const method of ['GET', 'POST', 'DELETE'])
      assert.deepEqual(await error({ method, path: '/mcp', headers: narrow }), [
        403,
        '/mcp needs the key of the server',
      ])
  })

  await t.test('a token of another agent reaches no method of an agent, and none that needs the key', async () => {
    for (const { row, path, route } of METHODS) {
      const body = rpc(row.name, { ...sample(row.name), ...(row.name === 'destroy_agent' && { agent_id: 'probe' }) })
      const got = await send({ path, body, headers: { 'X-Nexus-Capability': token } })
      if (route === 'agent') assert.deepEqual([got.status, got.json?.error], [404, 'Agent not found: probe'], row.name)
      else if (row.isForKeyOnly || row.name === 'shutdown_server') assert.equal(codeOf(got), -32_003, row.name)
      else if (row.name === 'destroy_agent') assert.equal(codeOf(got), -32_023)
    }
  })

  await t.test('each method refuses a body that is cut, a list, no object, and one without the version', async () => {
    for (const { row, path } of METHODS) {
      const body = rpc(row.name, sample(row.name))
      assert.equal(codeOf(await send({ path, body: body.slice(0, -1) })), -32_700, row.name)
      for (const bad of [
        `[${body}]`,
        JSON.stringify(body),
        body.replace('"2.0"', '2'),
        body.replace('"id":1', '"id":{}'),
      ])
        assert.equal(codeOf(await send({ path, body: bad })), -32_600, `${row.name} ${bad}`)
      for (const params of ['[]', 'null', '"x"', '1'])
        assert.equal(
          codeOf(await send({ path, body: `{"jsonrpc":"2.0","id":1,"method":"${row.name}","params":${params}}` })),
          -32_602,
        )
    }
  })

  await t.test('each method refuses no key, another host, origin, site, type and encoding', async () => {
    for (const { row, path } of METHODS) {
      const body = rpc(row.name)
      const ask = (headers: Sent['headers']) => error({ path, body, headers })
      assert.deepEqual(await ask({ Authorization: undefined }), [401, 'Authorization header required'], row.name)
      assert.deepEqual(await ask({ Host: 'evil.example' }), [403, 'Host is not this server'], row.name)
      assert.deepEqual(await ask({ Origin: 'https://evil.example' }), [403, 'Origin is not this server'], row.name)
      assert.equal((await ask({ 'Sec-Fetch-Site': 'cross-site' }))[0], 403, row.name)
      assert.equal((await ask({ 'Content-Type': 'text/plain' }))[0], 415, row.name)
      assert.equal((await ask({ 'Content-Encoding': 'gzip' }))[0], 415, row.name)
    }
  })

  await t.test('each method refuses unknown params, and names a required one that is missing', async () => {
    for (const { row, path } of METHODS) {
      const unknown = await send({ path, body: rpc(row.name, { ...sample(row.name), no_such: 1 }) })
      assert.deepEqual([codeOf(unknown), messageOf(unknown)], [-32_602, 'Unknown parameter: no_such'], row.name)
      for (const [name, about] of Object.entries(paramsOf(row.name))) {
        if (!about.required) continue
        const { [name]: _left, ...rest } = sample(row.name)
        const missing = await send({ path, body: rpc(row.name, rest) })
        assert.deepEqual([codeOf(missing), messageOf(missing)], [-32_602, `Missing required parameter: ${name}`])
      }
    }
  })

  await t.test('each param of each method refuses another type', async () => {
    for (const { row, path } of METHODS)
      for (const [name] of Object.entries(paramsOf(row.name))) {
        const got = await send({ path, body: rpc(row.name, { ...sample(row.name), [name]: { wrong: true } }) })
        assert.equal(codeOf(got), -32_602, `${row.name}.${name}`)
        assert.match(String(messageOf(got)), new RegExp(`^${name} must be .+, got: object$|^${name} must be one of`))
      }
  })

  await t.test('a notification of any method gets an empty answer, also with wrong params', async () => {
    for (const { row, path } of METHODS) {
      if (row.name === 'shutdown_server' || row.name === 'shutdown' || row.name === 'create_agent') continue
      const { status, text } = await send({
        path,
        body: JSON.stringify({ jsonrpc: '2.0', method: row.name, params: { no: 1 } }),
      })
      assert.deepEqual([status, text], [200, ''], row.name)
    }
  })

  await t.test('each method of an agent is not found on an agent that does not exist', async () => {
    const ids = [
      'nobody',
      '..%2f',
      '%00',
      'a%20b',
      '__proto__',
      'constructor',
      '-x',
      'x'.repeat(200),
      '%e2%80%ae',
      'a.b%2a',
    ]
    for (const { row, route } of METHODS)
      if (route === 'agent')
        assert.deepEqual(await error({ path: '/agent/nobody', body: rpc(row.name) }), [404, 'Agent not found: nobody'])
    for (const id of ids) {
      const [status, text] = await error({ path: `/agent/${id}`, body: rpc('get_context') })
      assert.equal(status, 404, id)
      assert.doesNotMatch(String(text), /[\u0000-\u001f\u202e]/u)
    }
  })

  await t.test('other paths and verbs', async () => {
    const notFound = 'Not found. Use /, /rpc, or /agent/{agent_id}.'
    for (const path of ['/x', '/rpc/', '/agent', '/agent/', '/agent/a/b', '/api'])
      assert.deepEqual(await error({ path, body: rpc('list_agents') }), [404, notFound], path)
    for (const path of ['/', '/rpc', '/agent/probe'])
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
        assert.deepEqual(await error({ method, path }), [405, 'Method not allowed'], `${method} ${path}`)
    assert.equal((await send({ method: 'HEAD', path: '/rpc' })).status, 405)
    const preflight = await send({
      method: 'OPTIONS',
      headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
    })
    assert.equal(preflight.status, 403)
    assert.equal(preflight.headers['access-control-allow-origin'], undefined)
  })

  await t.test('a body that cannot be read, is too large, or is no request', async () => {
    const unreadable = await send({ body: '{' })
    assert.deepEqual([unreadable.status, codeOf(unreadable), unreadable.json?.id], [400, -32_700, null])
    const large = await error({ body: rpc('list_agents', { x: 'x'.repeat(1024 * 1024) }) })
    assert.deepEqual(large, [413, 'The body is too large'])
    const unknown = await send({ body: rpc('toString') })
    assert.deepEqual([codeOf(unknown), messageOf(unknown)], [-32_601, 'Method not found: toString'])
    for (const name of ['__proto__', 'constructor', 'send', ''])
      assert.equal(codeOf(await send({ body: rpc(name) })), -32_601)
    const list = await send({ path: '/', body: rpc('list_agents', undefined, 'text id') })
    assert.deepEqual([list.status, list.json?.id], [200, 'text id'])
  })

  await t.test('the texts of contracts §1.3 for params of create_agent', async () => {
    const message = async (params: object): Promise<unknown> =>
      messageOf(await send({ body: rpc('create_agent', params) }))
    assert.equal(await message({ agent_id: 1 }), 'agent_id must be string, got: number')
    assert.equal(await message({ disable_tools: 'x' }), 'disable_tools must be array, got: string')
    assert.equal(await message({ disable_tools: ['a', 1] }), 'disable_tools[1] must be string, got: number')
    assert.equal(await message({ preset: 'god' }), 'Invalid preset: god. Valid: [trusted, sandboxed, worker]')
    assert.equal(await message({ preset: 'yolo' }), 'Invalid preset: yolo. Valid: [trusted, sandboxed, worker]')
    const orphan = await send({ body: rpc('create_agent', { agent_id: 'x1', parent_agent_id: 'nobody' }) })
    assert.deepEqual([codeOf(orphan), messageOf(orphan)], [-32_602, 'Parent agent not found: nobody'])
    assert.match(String(await message({ agent_id: 'x2', cwd: '/' })), /outside of the workspace/)
    assert.match(String(await message({ agent_id: 'x3', cwd: '../..' })), /outside of the workspace/)
    assert.match(String(await message({ agent_id: 'x4', allowed_write_paths: ['/etc'] })), /outside of the workspace/)
    for (const id of ['a/b', '..', '.', '-x', 'a b', 'x'.repeat(65), '\u202e', "'; drop table agents; --"])
      assert.equal(codeOf(await send({ body: rpc('create_agent', { agent_id: id }) })), -32_602, id)
    const again = await send({ body: rpc('create_agent', { agent_id: 'probe' }) })
    assert.equal(codeOf(again), -32_009)
  })

  await t.test(
    'health needs no key and says nothing but the state; a thousand wrong keys lock nobody out',
    async () => {
      for (const path of ['/healthz', '/readyz']) {
        const { status, text } = await send({ method: 'GET', path, headers: { Authorization: undefined } })
        assert.deepEqual([status, text.length < 30], [200, true])
      }
      const wrong = { body: rpc('list_agents'), headers: { Authorization: 'Bearer wrong' } }
      const statuses = new Set<number>()
      for (let count = 0; count < 1_000; count++) statuses.add((await send(wrong)).status)
      assert.deepEqual([...statuses].sort(), [403, 429])
      assert.equal((await send({ body: rpc('list_agents') })).status, 200)
      assert.match(server.log(), /"count":1000/)
      assert.ok(!server.log().includes(server.key))
    },
  )

  await t.test('rpc.discover describes what is there', async () => {
    const { json } = await send({ body: rpc('rpc.discover') })
    const document = json?.result as { readonly methods: readonly { readonly name: string }[] }
    assert.deepEqual(
      document.methods.map(({ name }) => name),
      METHODS.map(({ row }) => row.name),
    )
  })
})

interface Param {
  readonly name: string
  readonly required: boolean
  readonly schema: { readonly type?: string; readonly enum?: readonly unknown[]; readonly anyOf?: readonly object[] }
}

function paramsOf(method: string): Readonly<Record<string, Param>> {
  const methods = table.document['methods'] as unknown as readonly {
    readonly name: string
    readonly params: readonly Param[]
  }[]
  const params = methods.find(({ name }) => name === method)?.params ?? []
  return Object.fromEntries(params.map((param) => [param.name, param]))
}

/** Params that fit the schemas, and lead nowhere. */
function sample(method: string): Record<string, unknown> {
  const required = Object.values(paramsOf(method)).filter((param) => param.required)
  return Object.fromEntries(required.map(({ name, schema }) => [name, schema.type === 'boolean' ? true : 'none']))
}

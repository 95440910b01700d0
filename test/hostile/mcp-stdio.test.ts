/** A client that sends what no client should: the process answers afterwards, writes nothing but the protocol, and ends with its input. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Place } from '../apps/cli/nexus.ts'
import { ledgerOf, processesWith, RawClient, until } from '../apps/mcp/client.ts'

interface Case {
  readonly send: (client: RawClient) => void
  /** Of the errors that came back: id and code. */
  readonly errors?: readonly (readonly [id: string | number, code: number])[]
}

const call = (id: unknown, params: unknown): Record<string, unknown> => ({ id, method: 'tools/call', params })
const line = (text: string): ((client: RawClient) => void) => {
  return (client) => client.write(`${text}\n`)
}

const METHODS = ['__proto__', 'constructor', 'toString', 'tools/', 'tools/call/..', 'rpc.discover', '', 'x'.repeat(1e6)]

const CASES: Readonly<Record<string, Case>> = {
  'lines that are no message': {
    send: line('{nope\n\n[]\n"x"\n1\nnull\n{}\n{"jsonrpc":"1.0","id":1,"method":"ping"}'),
  },
  'a batch': { send: line('[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]') },
  'bytes that are no UTF-8': { send: ({ child }) => void child.stdin?.write(Buffer.from([0xff, 0xfe, 0x80, 0x0a])) },
  'ids of other types, and one in use': {
    send: (client) => {
      for (const id of [null, {}, [], 1.5, true, '', 'x'.repeat(1e6), 7, 7]) client.send({ id, method: 'tools/list' })
    },
  },
  'unknown methods and names of prototypes': {
    send: (client) => METHODS.forEach((method, id) => client.send({ id, method })),
    errors: METHODS.map((_, id) => [id, -32_601]),
  },
  'notifications about nothing': {
    send: (client) => {
      for (const method of ['cancelled', 'progress', 'initialized', 'roots/list_changed', 'xyz'])
        client.send({ method: `notifications/${method}`, params: { requestId: {}, progressToken: [] } })
    },
  },
  'answers that nobody asked for': {
    send: (client) => {
      for (const id of [1, 'x', null]) client.send({ id, result: {} })
      client.send({ id: 5, error: { code: 1, message: 'x' } })
    },
  },
  'parameters of other types': {
    send: (client) =>
      [null, [], 1, 'x', { name: null }, { name: {} }].forEach((params, id) => client.send(call(id, params))),
    // The others are no requests of the protocol: the SDK logs them.
    errors: [4, 5].map((id) => [id, -32_602]),
  },
  'a tool that is not there, by odd names': {
    send: (client) =>
      ['__proto__', 'load_skill\u0000', 'x'.repeat(1e6)].forEach((name, id) => client.send(call(id, { name }))),
    errors: [0, 1, 2].map((id) => [id, -32_602]),
  },
  'arguments that reach for a prototype, nest deeply, or are hidden': {
    send: (client) => {
      client.write(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"load_skill","arguments":{"__proto__":{"a":1},"skill_name":"\\ud800\\u0000\\u202e"}}}\n`,
      )
      const nested = '['.repeat(100_000) + ']'.repeat(100_000)
      client.write(
        `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"load_skill","arguments":{"skill_name":${nested}}}}\n`,
      )
    },
  },
  'more arguments than a tool has': {
    send: (client) => {
      const args = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]))
      client.send(call('many', { name: 'load_skill', arguments: args }))
    },
  },
  'a message that is too long, with its id at the end': {
    send: (client) =>
      client.write(
        `{"method":"tools/call","params":{"name":"x","a":"${'x'.repeat(12e6)}"},"jsonrpc":"2.0","id":"long"}\n`,
      ),
    errors: [['long', -32_600]],
  },
  'a message that is too long, with its id at the beginning': {
    send: (client) =>
      client.write(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"id":9,"a":"${'x'.repeat(12e6)}"}}\n`),
    errors: [[4, -32_600]],
  },
  'a flood of requests': {
    send: (client) => {
      for (let id = 0; id < 1_000; id++) client.send({ id, method: 'tools/list' })
    },
  },
}

for (const [what, { send, errors }] of Object.entries(CASES))
  test(`${what}: the server answers the next request`, async (t) => {
    const client = new RawClient(t, new Place(t), { args: ['--trust'] })
    await client.initialize()
    send(client)
    client.send({ id: 'after', method: 'tools/list' })
    assert.ok((await client.answer('after')).result)
    if (errors) {
      for (const [id] of errors) await client.answer(id)
      const found = client.received.flatMap(({ id, error }) => (error && id != null ? [[id, error.code]] : []))
      assert.deepEqual(found.toSorted(byId), errors.toSorted(byId))
    }
    client.child.stdin?.end()
    const [code] = (await once(client.child, 'exit')) as [number | null]
    assert.deepEqual([code, client.noise], [0, []])
  })

function byId([a]: readonly unknown[], [b]: readonly unknown[]): number {
  return String(a) < String(b) ? -1 : 1
}

test('a storm of calls that are cancelled leaves no command, and each has its row', async (t) => {
  const place = new Place(t)
  const client = new RawClient(t, place, { args: ['--trust'] })
  await client.initialize()
  const token = `600.${process.pid}`
  for (let id = 0; id < 100; id++) {
    client.send(call(id, { name: 'run_command', arguments: { command: `sleep ${token}` } }))
    client.send({ method: 'notifications/cancelled', params: { requestId: id } })
  }
  client.send({ id: 'after', method: 'tools/list' })
  await client.answer('after')
  const open = (): unknown[] => ledgerOf(place).filter(({ state }) => state === 'started' || state === 'pending')
  // The calls end because they were cancelled: after the end of input a slow machine could leave some to the next process.
  await until(() => ledgerOf(place).length === 100 && open().length === 0)
  assert.deepEqual(processesWith(token), [])
  client.child.stdin?.end()
  await once(client.child, 'exit')
})

test('half a message at the end of input ends the server as any end does', async (t) => {
  const client = new RawClient(t, new Place(t), { args: ['--trust'] })
  await client.initialize()
  client.write('{"jsonrpc":"2.0","id":1,"meth')
  client.child.stdin?.end()
  const [code] = (await once(client.child, 'exit')) as [number | null]
  assert.deepEqual([code, client.noise], [0, []])
})

const NAMES: readonly unknown[] = [
  ...['', ' ', '__proto__', 'constructor', '../run_command', 'run_command\n', 'RUN_COMMAND', 'mcp:x.y', '\u202e'],
  ...['a'.repeat(100_000), '%2e%2e', 'load_skill\0', 7, null, {}, []],
]
const ARGUMENTS: readonly unknown[] = [
  ...[undefined, null, 7, 'x', [], {}, { skill_name: 7 }, { skill_name: null }, { skill_name: '' }],
  ...[{ skill_name: '../../etc' }, { skill_name: '__proto__' }, { skill_name: 'a'.repeat(1_000_000) }],
]

test('wrong names and arguments of tools are errors in words that show nothing of the code', async (t) => {
  const client = new RawClient(t, new Place(t), { args: ['--trust'] })
  await client.initialize()
  const all = [
    ...NAMES.map((name) => ({ name, arguments: {} })),
    ...ARGUMENTS.map((args) => ({ name: 'load_skill', arguments: args })),
  ]
  for (const [id, params] of all.entries()) {
    client.send(call(id, params))
    const { error, result } = await client.answer(id)
    assert.ok(error !== undefined || result?.['isError'] === true, JSON.stringify(params).slice(0, 200))
  }
  assert.doesNotMatch(JSON.stringify(client.received), /\.[cm]?[jt]s:\d+|node_modules|at [A-Za-z.]+ \(/)
})

test('a message in single bytes is one message', async (t) => {
  const client = new RawClient(t, new Place(t), { args: ['--trust'] })
  await client.initialize()
  for (const byte of '{"jsonrpc":"2.0","id":"slow","method":"ping"}\n') client.write(byte)
  assert.deepEqual((await client.answer('slow')).result, {})
})

test('a command does not show the home of Nexus to the client', async (t) => {
  const client = new RawClient(t, new Place(t), { args: ['--trust'] })
  await client.initialize()
  client.send(
    call('env', { name: 'run_command', arguments: { command: 'env; cat /proc/self/environ /proc/1/environ' } }),
  )
  assert.doesNotMatch(JSON.stringify((await client.answer('env')).result), /NEXUS_HOME|nexus\.db/)
})

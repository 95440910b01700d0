/** Event streams: each stored event once and in order, whatever breaks in between. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import test from 'node:test'
import { type Client, createClient, type ServerEvent } from '../../../src/public/client.ts'
import { until } from '../mcp/client.ts'
import { prepare, startServer } from './serving.ts'

/** Reads the events of an agent until it is stopped. Resolves when the server answers. */
async function follow(client: Client, agentId: string, options: Parameters<Client['events']>[1] = {}) {
  const stop = new AbortController()
  const seen: ServerEvent[] = []
  const opened = Promise.withResolvers<void>()
  const ended = (async () => {
    const about = { ...options, signal: stop.signal, onOpen: () => opened.resolve() }
    for await (const event of client.events(agentId, about)) seen.push(event)
  })()
  ended.catch(opened.reject)
  await opened.promise
  return {
    seen,
    ids: () => seen.flatMap(({ id }) => id ?? []),
    types: () => seen.map(({ type }) => type),
    stop: async () => {
      stop.abort()
      await ended
    },
  }
}

test('events of one agent and of its descendants', async (t) => {
  const flood = Array.from({ length: 60 }, () => 'x'.repeat(256 * 1024))
  const { client, url, port, key } = await startServer(t, {
    script: ({ messages }) => ({ type: 'text', text: messages.at(-1)?.text === 'flood' ? flood : ['One ', 'two.'] }),
  })
  await client.createAgent({ agent_id: 'top', preset: 'trusted' })
  await client.createAgent({ agent_id: 'below', parent_agent_id: 'top' })
  await client.createAgent({ agent_id: 'other' })

  await t.test(
    'stored events have ids in order, live parts have none, and other agents have no part in it',
    async () => {
      const [own, whole] = [await follow(client, 'top'), await follow(client, 'top', { subtree: true })]
      for (const id of ['top', 'below', 'other']) await client.send(id, 'hi')
      await until(() => whole.types().filter((type) => type === 'turn.done').length === 2)
      await until(() => own.types().includes('turn.done'))
      const texts = own.seen.filter(({ type }) => type === 'text-delta').map(({ data }) => data['text'])
      assert.equal(texts.join(''), 'One two.')
      assert.deepEqual(
        own.ids(),
        [...own.ids()].sort((a, b) => a - b),
      )
      const agents = (seen: readonly ServerEvent[]): unknown[] =>
        [...new Set(seen.map(({ data }) => data['agent_id']))].sort()
      assert.deepEqual([agents(own.seen), agents(whole.seen)], [['top'], ['below', 'top']])
      await own.stop()
      await whole.stop()
    },
  )

  await t.test('Last-Event-ID goes on after it, and gives what a stream that never broke would have', async () => {
    const live = await follow(client, 'top')
    await client.send('top', 'first')
    await until(() => live.types().includes('turn.done'))
    const [first = 0] = live.ids()
    await client.send('top', 'second')
    await until(() => live.types().filter((type) => type === 'turn.done').length === 2)
    const replayed = await follow(client, 'top', { lastEventId: first })
    await until(() => replayed.ids().at(-1) === live.ids().at(-1))
    assert.deepEqual([first, ...replayed.ids()], live.ids())
    await live.stop()
    await replayed.stop()
  })

  await t.test('an id that the store never gave answers reset; one that is no number is refused', async () => {
    const foreign = await follow(client, 'top', { lastEventId: 999_999 })
    await until(() => foreign.types().includes('reset'))
    assert.ok((foreign.ids()[0] ?? 0) < 999_999)
    await foreign.stop()
    const headers = { authorization: `Bearer ${key}`, 'last-event-id': 'x' }
    assert.equal((await fetch(`${url}/agent/top/events`, { headers })).status, 400)
    assert.equal(
      (await fetch(`${url}/agent/nobody/events`, { headers: { authorization: `Bearer ${key}` } })).status,
      404,
    )
    assert.equal((await fetch(`${url}/agent/top/events`)).status, 401)
  })

  await t.test('a client that does not read loses its connection, and goes on where it was', async () => {
    const sockets = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const socket = connectSocket(port, '127.0.0.1')
        socket.write(
          `GET /agent/top/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
        )
        const [head] = (await once(socket, 'data')) as [Buffer]
        socket.pause()
        return { socket, last: Number(/^id: (\d+)$/m.exec(String(head))?.[1]) }
      }),
    )
    await client.send('top', 'hi')
    await client.send('top', 'flood')
    for (const { socket } of sockets) {
      let size = 0
      socket
        .on('data', (chunk: Buffer) => (size += chunk.length))
        .on('error', () => undefined)
        .resume()
      await once(socket, 'close')
      assert.ok(size < 12 * 1024 * 1024, `${size} bytes`)
    }
    const again = await follow(client, 'top', { lastEventId: sockets[0]?.last })
    await until(() => again.types().filter((type) => type === 'turn.done').length === 2)
    await again.stop()
  })

  await t.test('a token follows its own subtree only', async () => {
    const { token } = await client.call('issue_token', { agent_id: 'below' })
    const holder = createClient({ url, token, retries: 0 })
    const own = await follow(holder, 'below')
    await own.stop()
    await assert.rejects(follow(holder, 'top'), /Agent not found/)
  })
})

test('a client whose server is killed and started again misses no stored event, and a message runs once', async (t) => {
  const rounds = Number(process.env['TEST_ROUNDS'] ?? 3)
  const { start, model } = await prepare(t, { script: () => ({ type: 'text', text: ['a', 'b', 'c'], delayMs: 20 }) })
  let server = await start(['--port', '0'])
  const client = createClient({ url: server.url, key: server.key, retries: 60 })
  await client.createAgent({ agent_id: 'worker' })
  const live = await follow(client, 'worker')
  for (let round = 1; round <= rounds; round++) {
    const before = model.requests.length
    const sent = client.send('worker', `round ${round}`, { requestId: round })
    await model.waitForRequest(before + 1)
    server.child.kill('SIGKILL')
    await once(server.child, 'exit')
    server = await start(['--port', String(server.port)])
    // The turn was cut off, or had ended: either way it has one end, and the sender learns it.
    await sent.catch((error: unknown) => assert.match(String(error), /cut off|ended|interrupted|lost/i))
    const last = await client.send('worker', `after ${round}`)
    assert.equal(last.content, 'abc')
  }
  const everything = await follow(client, 'worker', { lastEventId: 0 })
  const place = await client.callAgent('worker', ['get_messages', {}])
  await until(() => everything.types().filter((type) => type === 'turn.done').length >= rounds)
  await until(() => live.ids().at(-1) === everything.ids().at(-1))
  const first = live.ids()[0] ?? 0
  assert.deepEqual(
    live.ids(),
    everything.ids().filter((id) => id >= first),
  )
  const said = place.messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  assert.deepEqual(said, [...new Set(said)])
  await live.stop()
  await everything.stop()
})

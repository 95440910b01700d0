/** The life of a server: found, shared, reloaded, ended, and what a second one makes of it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { detectServer } from '../../../src/public/client.ts'
import { until } from '../mcp/client.ts'
import { ended } from '../cli/nexus.ts'
import { prepare, startServer } from './serving.ts'

test('agents are saved over a restart, and a question that was open is answered after kill -9', async (t) => {
  const settings = 'agents: [{ id: main, tools: { ask: [sleep] } }]\n'
  const script = (request: { readonly messages: readonly { readonly role: string }[] }) =>
    request.messages.at(-1)?.role === 'tool'
      ? ({ type: 'text', text: 'Slept well.' } as const)
      : ({ type: 'tool-calls', calls: [{ name: 'sleep', arguments: { seconds: 0.01 } }] } as const)
  const { start } = await prepare(t, { settings, script })
  const first = await start(['--port', '0'])
  await first.client.createAgent({ agent_id: 'keeper', preset: 'trusted', system_prompt: 'Keep.' })
  const sent = first.client.send('keeper', 'sleep', { requestId: 'q' })
  sent.catch(() => undefined)
  await until(async () => (await first.client.call('approvals.list', {})).approvals.length === 1)
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')

  const second = await start(['--port', String(first.port)])
  assert.deepEqual(
    (await second.client.listAgents()).map(({ agent_id, permission_level }) => [agent_id, permission_level]),
    [['keeper', 'trusted']],
  )
  const [question] = (await second.client.call('approvals.list', {})).approvals
  assert.ok(question)
  const { result } = (await (
    await fetch(`${second.url}/rpc`, {
      method: 'POST',
      headers: { authorization: `bearer  ${second.key} `, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'approvals.respond',
        params: { approval_id: question.approval_id, allow: true },
      }),
    })
  ).json()) as { result: unknown }
  assert.deepEqual(result, { applied: true, state: 'allowed' })
  const answer = await second.client.send('keeper', 'sleep', { requestId: 'q' })
  assert.equal(answer.content, 'Slept well.')
  assert.equal((await second.client.callAgent('keeper', ['get_messages', {}])).messages.length, 4)
})

test('a port that is taken is refused with the name of who has it; nexus shutdown finds its server', async (t) => {
  const server = await startServer(t)
  const { place, port } = server
  const start = (at: number) =>
    ended(
      place.start(['serve', '--trust', '--port', String(at), '--model', 'openai/x'], {
        env: { OPENAI_API_KEY: 'sk-test' },
      }),
    )
  const again = await start(port)
  assert.equal(again.code, 1)
  assert.match(again.stderr, new RegExp(`A Nexus server already listens on port ${port}`))
  const foreign = createServer((_request, response) => response.writeHead(401).end('no'))
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
  t.after(() => foreign.close())
  const foreignPort = (foreign.address() as AddressInfo).port
  assert.match((await start(foreignPort)).stderr, /it is not a Nexus server/)
  const detect = async (at: number): Promise<unknown> =>
    (
      JSON.parse((await place.run(['agent', 'detect', '--port', String(at), '--json'])).stdout) as {
        data: { result: unknown }
      }
    ).data.result
  assert.deepEqual([await detect(port), await detect(foreignPort)], ['nexus_server', 'other_service'])
  const { code, stdout } = await place.run(['shutdown'])
  assert.deepEqual([code, /Server shutting down/.test(stdout)], [0, true])
  if (server.child.exitCode === null) await once(server.child, 'exit')
  assert.equal(server.child.exitCode, 0)
  assert.equal(await detectServer({ port, retries: 0 }), 'no_server')
  assert.equal((await place.run(['shutdown'])).code, 4)
})

test('two servers on one store: a message to an agent that the other one runs is queued and answered', async (t) => {
  const { start, model } = await prepare(t, {
    script: ({ index }) =>
      index === 0 ? { type: 'text', text: ['slow'], delayMs: 300 } : { type: 'text', text: 'next' },
  })
  const [one, other] = [await start(['--port', '0']), await start(['--port', '0'])]
  await one.client.createAgent({ agent_id: 'shared' })
  const first = one.client.send('shared', 'a')
  await model.waitForRequest(1)
  const second = other.client.send('shared', 'b')
  assert.deepEqual([(await first).content, (await second).content], ['slow', 'next'])
  const { messages } = await one.client.callAgent('shared', ['get_messages', {}])
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant'],
  )
})

test('SIGHUP reads the configuration again while a turn goes on; a broken one changes nothing', async (t) => {
  const server = await startServer(t, {
    script: ({ index }) =>
      index === 0 ? { type: 'text', text: ['long'], delayMs: 500 } : { type: 'text', text: 'short' },
  })
  const { client, place, child } = server
  await client.createAgent({ agent_id: 'a' })
  const going = client.send('a', 'x')
  await server.model.waitForRequest(1)
  const write = (text: string): void => writeFileSync(join(place.home, 'nexus.yaml'), text)
  const reloaded = async (word: string, count: number): Promise<void> => {
    child.kill('SIGHUP')
    await until(() => server.log().split(`"msg":"${word}"`).length > count)
  }
  write('server: { maxBodyBytes: 300 }\n')
  await reloaded('reloaded', 1)
  await assert.rejects(client.send('a', 'x'.repeat(400)), /too large/)
  assert.equal((await going).content, 'long')
  write('server: { maxBodyBytes: no }\n')
  await reloaded('reload failed', 1)
  await assert.rejects(client.send('a', 'x'.repeat(400)), /too large/)
  assert.equal((await client.send('a', 'y')).content, 'short')
  assert.equal(child.exitCode, null)
})

test('the end waits for what runs, then cancels it; each sender gets one answer, and nothing is left', async (t) => {
  const server = await startServer(t, {
    settings: 'server: { shutdownTimeoutMs: 700 }\n',
    script: ({ messages }) =>
      messages.some(({ text }) => text === 'hang') ? { type: 'hang' } : { type: 'text', text: ['done'], delayMs: 200 },
  })
  const { client, child, model } = server
  const ids = await Promise.all(
    ['hang', 'work'].map(async (text) => [text, (await client.createAgent()).agent_id] as const),
  )
  const sent = ids.map(([text, id]) => client.send(id, text).then(({ content, cancelled }) => content ?? cancelled))
  await model.waitForRequest(2)
  const others = await Promise.all(Array.from({ length: 4 }, async () => (await client.createAgent()).agent_id))
  const queued = others.flatMap((id) => Array.from({ length: 25 }, () => client.send(id, 'hang')))
  const ends = Promise.allSettled(queued)
  for (const id of others) await until(async () => (await client.callAgent(id, ['get_status', {}])).used.turns === 25)
  const start = performance.now()
  await client.shutdownServer()
  assert.deepEqual(await Promise.all(sent), [true, 'done'])
  const said = (await ends).map((end) => (end.status === 'fulfilled' ? end.value.cancelled : String(end.reason)))
  assert.deepEqual(new Set(said), new Set([true]), 'each of a hundred senders has an answer')
  if (child.exitCode === null) await once(child, 'exit')
  assert.ok(performance.now() - start < 10_000)
  assert.equal(child.exitCode, 0)
})

test('a turn in which a person is asked is left at the end of the server, and goes on in the next one', async (t) => {
  const settings = 'agents: [{ id: main, tools: { ask: [sleep] } }]\nserver: { shutdownTimeoutMs: 20000 }\n'
  const script = ({ messages }: { readonly messages: readonly { readonly role: string; readonly text: string }[] }) => {
    if (messages.at(-1)?.role === 'tool') return { type: 'text', text: 'Slept.' } as const
    if (messages.some(({ text }) => text === 'behind')) return { type: 'text', text: 'Next.' } as const
    return { type: 'tool-calls', calls: [{ name: 'sleep', arguments: { seconds: 0.01 } }] } as const
  }
  const { start } = await prepare(t, { settings, script })
  const first = await start(['--port', '0'])
  await first.client.createAgent({ agent_id: 'asks', preset: 'trusted' })
  await first.client.createAgent({ agent_id: '.brief', preset: 'trusted' })
  const cut = [
    first.client.send('asks', 'sleep', { requestId: 'q' }),
    first.client.send('.brief', 'sleep', { requestId: 'q' }),
  ]
  for (const each of cut) each.catch(() => undefined)
  await until(async () => (await first.client.call('approvals.list', {})).approvals.length === 2)
  const behind = first.client.send('asks', 'behind', { requestId: 'b' })
  behind.catch(() => undefined)
  await until(async () => (await first.client.callAgent('asks', ['get_turn', { request_id: 'b' }])).state === 'queued')
  const begin = performance.now()
  await first.client.shutdownServer()
  if (first.child.exitCode === null) await once(first.child, 'exit')
  assert.equal(first.child.exitCode, 0)
  assert.ok(performance.now() - begin < 8_000, 'a question does not hold up the end')

  const second = await start(['--port', '0'])
  const { approvals } = await second.client.call('approvals.list', {})
  assert.deepEqual(approvals.map(({ agent_path }) => agent_path).sort(), ['.brief', 'asks'])
  for (const { approval_id } of approvals) await second.client.call('approvals.respond', { approval_id, allow: true })
  for (const id of ['asks', '.brief'])
    assert.equal((await second.client.send(id, 'sleep', { requestId: 'q' })).content, 'Slept.')
  assert.equal((await second.client.send('asks', 'behind', { requestId: 'b' })).content, 'Next.')
  const { messages } = await second.client.callAgent('asks', ['get_messages', {}])
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'],
  )
})

test('an address that other machines reach needs TLS or a word of the user', async (t) => {
  const { place } = await prepare(t)
  const { code, stderr } = await place.run(['serve', '--trust', '--host', '0.0.0.0', '--port', '0'])
  assert.equal(code, 2)
  assert.match(stderr, /server\.tls/)
})

test('MCP is served under /mcp with the same key, and counts as use of the server', async (t) => {
  const { url, key, child } = await startServer(t, { settings: 'server: { idleTimeoutMs: 1000 }\n' })
  const ask = (authorization: string | undefined): Promise<Response> =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(authorization !== undefined && { authorization }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      }),
    })
  assert.equal((await ask(undefined)).status, 401)
  const answer = await ask(`Bearer ${key}`)
  assert.equal(answer.status, 200)
  assert.match(await answer.text(), /serverInfo/)
  const begin = performance.now()
  while (performance.now() - begin < 2_500) {
    assert.equal((await ask(`Bearer ${key}`)).status, 200)
    await sleep(100)
  }
  if (child.exitCode === null) await once(child, 'exit')
  assert.equal(child.exitCode, 0, 'a server that nobody uses ends after server.idleTimeoutMs')
})

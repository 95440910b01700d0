import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { ended, Place } from '../cli/nexus.ts'
import { type Era, ERAS, ledgerOf, processesWith, startHttp, until } from './client.ts'

async function connect(t: TestContext, era: Era, { url, key }: { url: string; key: string }) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: ERAS[era], capabilities: { elicitation: { form: {} } } },
  )
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  t.after(() => client.close())
  return client
}

for (const era of Object.keys(ERAS) as Era[])
  test(`a client of ${era} with the key lists tools and skills and runs a command over HTTP`, async (t) => {
    const place = new Place(t)
    const client = await connect(t, era, await startHttp(t, place, ['--trust']))
    assert.ok((await client.listTools()).tools.some(({ name }) => name === 'run_command'))
    const skills = new SkillsClient(client)
    const greet = (await skills.list()).skills.find(({ uri }) => uri.endsWith('/greet/SKILL.md'))
    assert.ok(greet && (await skills.read(greet)).verified)
    const { content } = await client.callTool({ name: 'run_command', arguments: { command: 'echo over http' } })
    assert.match(JSON.stringify(content), /over http/)
  })

for (const era of Object.keys(ERAS) as Era[]) {
  test(`a client of ${era} answers an approval over HTTP, and the call is one row of the ledger`, async (t) => {
    const place = new Place(t)
    mkdirSync(place.home, { recursive: true })
    writeFileSync(join(place.home, 'nexus.yaml'), 'agents: [{ id: main, tools: { ask: [run_command] } }]\n')
    const client = await connect(t, era, await startHttp(t, place, ['--trust']))
    const asked: string[] = []
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { answer: asked.length === 1 ? 'once' : 'deny' } }
    })
    const run = async (command: string): Promise<string> =>
      JSON.stringify((await client.callTool({ name: 'run_command', arguments: { command } })).content)
    assert.match(await run('echo agreed'), /stdout:\\nagreed/)
    assert.match(await run('echo refused'), /denied|not allowed/i)
    assert.deepEqual(
      asked.map((message) => /echo \w+/.exec(message)?.[0]),
      ['echo agreed', 'echo refused'],
    )
    assert.deepEqual(
      ledgerOf(place).map(({ tool, state }) => [tool, state]),
      [
        ['run_command', 'done'],
        ['run_command', 'denied'],
      ],
    )
  })

  test(`a client of ${era} that hangs up ends its command`, async (t) => {
    const place = new Place(t)
    const server = await startHttp(t, place, ['--trust'])
    const client = await connect(t, era, server)
    const mark = `nexus-mcp-http-${process.pid}-${era}`
    const call = client.callTool({ name: 'run_command', arguments: { command: `exec -a ${mark} sleep 300` } })
    call.catch(() => undefined)
    await until(() => processesWith(mark).length > 0)
    await client.close()
    await until(() => processesWith(mark).length === 0)
    assert.equal(server.child.exitCode, null)
  })

  test(`a client of ${era} that cancels a call over HTTP ends its command, and goes on`, async (t) => {
    const place = new Place(t)
    const client = await connect(t, era, await startHttp(t, place, ['--trust']))
    const mark = `nexus-mcp-cancel-${process.pid}-${era}`
    const controller = new AbortController()
    const call = client.callTool(
      { name: 'run_command', arguments: { command: `exec -a ${mark} sleep 300` } },
      { signal: controller.signal },
    )
    await until(() => processesWith(mark).length > 0)
    controller.abort()
    await assert.rejects(call)
    await until(() => processesWith(mark).length === 0)
    assert.ok((await client.listTools()).tools.length > 0)
  })
}

test('a client of 2025 learns over HTTP that skills have changed', async (t) => {
  const place = new Place(t)
  const client = await connect(t, '2025-11-25', await startHttp(t, place, ['--trust']))
  let changes = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1))
  await client.listTools()
  mkdirSync(join(place.workspace, 'skills/newcomer'), { recursive: true })
  writeFileSync(
    join(place.workspace, 'skills/newcomer/SKILL.md'),
    '---\nname: newcomer\ndescription: Comes later. Use when asked for newcomers.\n---\nSteps.\n',
  )
  await until(() => changes > 0)
  const load = (await client.listTools()).tools.find(({ name }) => name === 'load_skill')
  assert.match(load?.description ?? '', /newcomer/)
})

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

test('the key file is made for its user alone, kept, and refused when others can read or place it', async (t) => {
  const place = new Place(t)
  const { port, key } = await startHttp(t, place, [])
  const file = join(place.home, 'apikeys', `${port}.key`)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(statSync(join(place.home, 'apikeys')).mode & 0o777, 0o700)
  assert.equal(readFileSync(file, 'utf8'), key)
  // Below the ports that systems give out, so that no other test has it.
  const fixed = 20_000 + (process.pid % 10_000)
  const start = async (spoil: (target: string) => void): Promise<string> => {
    const own = new Place(t)
    const directory = join(own.home, 'apikeys')
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    chmodSync(directory, 0o700)
    spoil(join(directory, `${fixed}.key`))
    const { code, stderr } = await ended(own.start(['mcp', '--http', '--port', String(fixed)]))
    assert.notEqual(code, 0)
    return stderr
  }
  const good = 'k'.repeat(43)
  assert.match(await start((at) => writeFileSync(at, good, { mode: 0o644 })), /other users can read it/)
  assert.match(await start((at) => writeFileSync(at, '', { mode: 0o600 })), /it holds no key/)
  assert.match(await start((at) => symlinkSync('/etc/hostname', at)), /it is a link/)
  assert.match(await start((at) => chmodSync(join(at, '..'), 0o777)), /other users can write to it/)
})

test('--no-auth needs no key, and a port that is taken is a conflict', async (t) => {
  const place = new Place(t)
  const { url, port } = await startHttp(t, place, ['--no-auth'])
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  assert.equal((await fetch(url, { method: 'POST', headers, body: PING })).status, 200)
  const { code, stderr } = await ended(place.start(['mcp', '--http', '--port', String(port)]))
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`Another program listens on port ${port}`))
})

test('SIGTERM ends the server and its commands', async (t) => {
  const place = new Place(t)
  const server = await startHttp(t, place, ['--trust'])
  const client = await connect(t, '2026-07-28', server)
  const mark = `nexus-mcp-term-${process.pid}`
  const call = client.callTool({ name: 'run_command', arguments: { command: `exec -a ${mark} sleep 300` } })
  call.catch(() => undefined)
  await until(() => processesWith(mark).length > 0)
  server.child.kill('SIGTERM')
  await once(server.child, 'exit')
  await until(() => processesWith(mark).length === 0)
})

test('two Authorization headers are refused, though one of them has the key', async (t) => {
  const { url, key } = await startHttp(t, new Place(t), ['--trust'])
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  const ask = async (...keys: readonly string[]): Promise<number | undefined> => {
    const headers = [
      ...[
        'Host',
        new URL(url).host,
        'Content-Type',
        'application/json',
        'Accept',
        'application/json, text/event-stream',
      ],
      ...keys.flatMap((each) => ['Authorization', `Bearer ${each}`]),
    ]
    return new Promise((resolve, reject) => {
      request(url, { method: 'POST', headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end(body)
    })
  }
  assert.equal(await ask(key), 200)
  assert.equal(await ask(key, 'other'), 401)
  assert.equal(await ask('other', key), 401)
  assert.equal(await ask(key, key), 401)
})

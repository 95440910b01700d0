/** The story of the README, "As a server": its lines are typed as they are there, but for the port and the id of the question. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { describe, type TestContext } from 'node:test'
import { createClient, type ServerEvent } from '../../../src/public/client.ts'
import { startModelServer } from '../../../src/public/testing.ts'
import type { ModelScript } from '../../../src/testing/index.ts'
import { readSource } from '../../source-tree.ts'
import { startPostgres, whyNoPostgres } from '../../store/postgres-server.ts'
import { until } from '../mcp/client.ts'
import { ended, Place } from '../cli/nexus.ts'

const [, BLOCK = ''] = /^```bash server\n([\s\S]*?)^```$/m.exec(readSource('README.md')) ?? []
const LINES = BLOCK.trimEnd().split('\n')

/** The one line of the README that has these words. */
function line(words: string): string {
  const found = LINES.filter((each) => each.includes(words))
  assert.equal(found.length, 1, `${words}: ${found.join('\n')}`)
  return found[0]?.replaceAll('npx nexus', 'nexus') ?? ''
}

/** The lead makes a worker, which may write nowhere but in the workspace and whose command is asked about. */
const script: ModelScript = ({ messages }) => {
  const usage = { inputTokens: 90, outputTokens: 10 }
  const said = messages.findLast(({ role }) => role === 'user')?.text ?? ''
  const at = messages.filter(({ role }) => role === 'assistant').length
  const tool = (name: string, args: Record<string, string | number>) =>
    ({ type: 'tool-calls', calls: [{ name, arguments: args }], usage }) as const
  if (said === 'Have a worker count the files.')
    return (
      [
        tool('nexus_create', { agent_id: 'worker', preset: 'sandboxed', max_tokens: 5000 }),
        tool('nexus_send', { agent_id: 'worker', content: 'Count them.' }),
      ][at] ?? { type: 'text', text: 'The worker counted them.', usage }
    )
  return (
    [
      tool('write_file', { path: '/tmp/nexus-readme-outside', content: 'x' }),
      tool('run_command', { command: 'ls | wc -l >> counted.txt' }),
    ][at] ?? { type: 'text', text: 'Counted.', usage }
  )
}

async function receiver(t: TestContext) {
  let text = ''
  const server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, text: () => text }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function story(t: TestContext, settings: string): Promise<void> {
  const place = new Place(t)
  const home = join(place.root, '.nexus')
  mkdirSync(home, { recursive: true })
  const model = await startModelServer({ script })
  t.after(() => model.close())
  const [port, traces] = [await freePort(), await receiver(t)]
  writeFileSync(
    join(home, 'nexus.yaml'),
    [
      'model: openai-compatible/scripted',
      'agents: [{ id: main, tools: { ask: [run_command] } }]',
      `server: { port: ${port} }`,
      `telemetry: { url: "http://127.0.0.1:${traces.port}/v1/traces" }`,
      settings,
    ].join('\n'),
  )
  const env = { NEXUS_HOME: home, OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: model.url }
  const bash = (text: string): ChildProcess => {
    const child = spawn('bash', ['-c', text.replaceAll('8765', String(port))], place.options({ env }))
    t.after(() => void child.kill('SIGKILL'))
    return child
  }
  const preamble = [line('AUTH='), line('call()')].join('\n')
  /** A line in another terminal, with the two that it needs. */
  const type = (text: string): ChildProcess => bash(`${preamble}\n${text.replace(/ &(?= |$)/, '')}`)
  const serve = async (): Promise<ChildProcess> => {
    const server = bash(`exec ${line('nexus serve')}`)
    let said = ''
    server.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
    await until(() => said.includes('serves agents at') || server.exitCode !== null)
    assert.equal(server.exitCode, null, said)
    server.stdout?.resume()
    return server
  }
  assert.equal((await place.run(['trust', '--yes'], { env })).code, 0)

  const first = await serve()
  const made = await ended(bash(line('nexus agent create')))
  assert.match(made.stdout, /^lead {2}preset trusted/, made.stderr)
  assert.match(made.stderr, /The server at \S+ runs the agents/)
  const key = readFileSync(join(home, 'apikeys', `${port}.key`), 'utf8')
  const client = createClient({ port, key, retries: 100 })
  const stop = new AbortController()
  t.after(() => stop.abort())
  const seen: ServerEvent[] = []
  const following = (async () => {
    for await (const event of client.events('lead', { subtree: true, signal: stop.signal })) seen.push(event)
  })()
  const stream = type(line('/events?subtree=1'))
  let events = ''
  stream.stdout?.setEncoding('utf8').on('data', (text: string) => (events += text))
  await until(() => events.includes('event: ready'))
  const sending = ended(type(line(' send ')))
  const asked = async (): Promise<string> => {
    const { stdout } = await ended(type(line('approvals.list')))
    return /"approval_id":"([^"]+)","agent_path":"lead\/worker"/.exec(stdout)?.[1] ?? ''
  }
  await until(async () => (await asked()) !== '')
  const id = await asked()
  assert.ok(!existsSync('/tmp/nexus-readme-outside'), 'a sandboxed agent writes nothing outside')
  await until(() => events.includes('event: approval.open'))

  first.kill('SIGKILL')
  await once(first, 'exit')
  await sending
  const second = await serve()
  const last = Number([...events.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1])
  const later = type(line('Last-Event-ID').replace(/Last-Event-ID: \d+/, `Last-Event-ID: ${last}`))
  let more = ''
  later.stdout?.setEncoding('utf8').on('data', (text: string) => (more += text))
  const answered = await ended(type(line('approvals.respond').replace('"ID"', JSON.stringify(id))))
  assert.match(answered.stdout, /"applied":true,"state":"allowed"/)
  // The same message again waits for the same turn.
  assert.match((await ended(type(line(' send ')))).stdout, /The worker counted them\./)
  assert.match(readFileSync(join(place.workspace, 'counted.txt'), 'utf8'), /^\d+\n$/, 'the command ran once')

  const status = await client.callAgent('lead', ['get_status', {}])
  assert.ok(status.used.subtree.total_tokens > status.used.own.total_tokens)
  const worker = await client.callAgent('worker', ['get_status', {}])
  assert.deepEqual([worker.agent.permission_level, worker.agent.path], ['sandboxed', 'lead/worker'])
  assert.ok((worker.left['max_tokens'] ?? 5000) < 5000)
  await until(() => /event: turn\.done/.test(more))
  const ids = [...more.matchAll(/^id: (\d+)$/gm)].map(([, each]) => Number(each))
  assert.ok(ids.every((each, index) => each >= last && (index === 0 || each >= (ids[index - 1] ?? 0))))
  const everything: number[] = []
  const all = new AbortController()
  for await (const event of client.events('lead', { subtree: true, lastEventId: 0, signal: all.signal })) {
    if (event.id !== undefined) everything.push(event.id)
    if (event.id === ids.at(-1)) all.abort()
  }
  await until(() => seen.some((event) => event.id === ids.at(-1)))
  const live = seen.flatMap((event) => event.id ?? []).filter((each) => each <= (ids.at(-1) ?? 0))
  assert.deepEqual(
    live,
    everything.filter((each) => each >= (live[0] ?? 0)),
    'the stream of the client went on where it was',
  )
  stop.abort()
  await following
  second.kill('SIGTERM')
  await once(second, 'exit')
  assert.equal(second.exitCode, 0)
  assert.match(traces.text(), /invoke_agent lead[^]*|execute_tool run_command/)
  assert.match(traces.text(), /execute_tool run_command/)
}

describe('the server of the README:', () => {
  test('agents over the wire, a question answered by curl, kill -9, and the trace of a turn', (t) => story(t, ''))

  test('the same on Postgres', { skip: whyNoPostgres() ?? false }, async (t) => {
    const server = await startPostgres()
    t.after(() => server.close())
    await story(t, `store: { type: postgres, url: ${JSON.stringify(server.url())} }`)
  })
})

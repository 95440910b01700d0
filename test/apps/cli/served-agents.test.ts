/** `nexus agent …` and `nexus run --agent` where a server serves the workspace, and with `--port`. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { createClient, detectServer, discoverKey } from '../../../src/apps/client/index.ts'
import { prepare } from '../server/serving.ts'
import { ended } from './nexus.ts'

/** The model does what the last message says: `ask` calls a tool that is asked about, `hang` never answers. */
const script = ({ messages }: { readonly messages: readonly { readonly role: string; readonly text: string }[] }) => {
  if (messages.at(-1)?.role === 'tool') return { type: 'text', text: 'Slept.' } as const
  const said = messages.findLast(({ role }) => role === 'user')?.text ?? ''
  if (said === 'ask') return { type: 'tool-calls', calls: [{ name: 'sleep', arguments: { seconds: 0.01 } }] } as const
  return said === 'hang' ? ({ type: 'hang' } as const) : ({ type: 'text', text: [`Heard: `, said] } as const)
}
const SETTINGS = 'agents: [{ id: main, tools: { ask: [sleep] } }]\n'

test('commands about agents use the server that the store names, and say so; without it they work on the store', async (t) => {
  const { place, start, model } = await prepare(t, { script, settings: SETTINGS })
  const server = await start(['--port', '0'])
  const said = `The server at ${server.url} runs the agents.`
  const run = async (...args: string[]) => {
    const ran = await place.run(args)
    assert.ok(ran.stderr.includes(said), `${args.join(' ')}: ${ran.stderr}`)
    return ran
  }
  const data = async (...args: string[]): Promise<Record<string, never>> =>
    (JSON.parse((await run(...args, '--json')).stdout) as { data: Record<string, never> }).data

  // No model on these lines: the server has it.
  const made = await run('agent', 'create', 'boss', '--max-tokens', '5000', '--message', 'hello')
  assert.deepEqual([made.code, made.stdout], [0, 'Heard: hello\n'], made.stderr)
  await run('agent', 'create', 'w', '--parent', 'boss')
  const sent = await data('agent', 'send', 'boss', 'again', '--request', 'r1')
  assert.deepEqual(
    (sent['turns'] as unknown as { text: string }[]).map(({ text }) => text),
    ['Heard: again'],
  )
  assert.equal((await run('run', '--agent', 'w', 'work')).stdout, 'Heard: work\n')
  // A repeated message has its words only in the answer.
  assert.equal((await run('agent', 'send', 'boss', 'again', '--request', 'r1')).stdout, 'Heard: again\n')

  const { status } = (await data('agent', 'status', 'boss')) as unknown as {
    status: { left: object; state: string; used: { turns: number } }
  }
  assert.deepEqual([status.state, status.used.turns, Object.keys(status.left)], ['idle', 3, ['maxTokens']])
  assert.match((await run('agent', 'list')).stdout, /^boss .*\nboss\/w /)
  assert.match((await run('agent', 'tree')).stdout, /^boss .*\n {2}w /)
  assert.match((await run('agent', 'messages', 'boss')).stdout, /Heard: again/)
  assert.equal((await place.run(['agent', 'status', 'nobody'])).code, 4)

  const asking = await run('agent', 'send', 'boss', 'ask', '--yes')
  assert.deepEqual([asking.code, asking.stdout], [0, 'Slept.\n'], asking.stderr)
  assert.match(asking.stderr, /→ sleep/)

  const before = model.requests.length
  const hanging = ended(place.start(['agent', 'send', 'boss', 'hang', '--request', 'h']))
  await model.waitForRequest(before + 1)
  assert.match((await run('agent', 'cancel', 'boss', 'h')).stdout, /^Cancelled/)
  assert.equal((await hanging).code, 130)
  const interrupted = place.start(['agent', 'send', 'boss', 'hang', '--request', 'h2'])
  const over = ended(interrupted)
  await model.waitForRequest(before + 2)
  interrupted.kill('SIGINT')
  assert.equal((await over).code, 130)
  assert.equal((await server.client.callAgent('boss', ['get_turn', { request_id: 'h2' }])).end, 'cancelled')

  assert.match((await run('agent', 'destroy', 'boss')).stdout, /^Ended: boss, w/)
  assert.match((await run('agent', 'list', '--ended')).stdout, /boss\/w {2}ended/)
  server.child.kill('SIGKILL')
  await ended(server.child)
  const alone = await place.run(['agent', 'list', '--ended'])
  assert.deepEqual([alone.code, alone.stderr.includes('The server')], [0, false], alone.stderr)
})

test('--port: list and create start a server where none runs; another program there is named', async (t) => {
  const { place, model } = await prepare(t, { script })
  const env = { OPENAI_API_KEY: 'sk-test-key' }
  const free = createServer((_request, response) => response.writeHead(401).end('no'))
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve))
  const { port } = free.address() as AddressInfo
  const at = ['--port', String(port)]
  const foreign = await place.run(['agent', 'list', ...at])
  assert.match(foreign.stderr, new RegExp(`Port ${port} has no server of Nexus, but another program`))
  await new Promise((resolve) => free.close(resolve))

  const absent = await place.run(['agent', 'status', 'a', ...at])
  assert.deepEqual([absent.code, absent.stderr.includes(`No server listens on port ${port}`)], [4, true])
  const untrusted = await place.run(['agent', 'list', ...at], { env })
  assert.match(untrusted.stderr, /did not start:[^]*untrusted/, 'why it did not start is said')
  const line = [
    'agent',
    'create',
    'a',
    ...at,
    ...['--max-cost', '0.25', '--max-tokens', '900'],
    '--trust',
    '--model',
    'openai-compatible/scripted',
    '--base-url',
    model.url,
  ]
  t.after(async () => {
    const key = await discoverKey({ port, environment: { HOME: place.root, NEXUS_HOME: place.home } })
    await createClient({ port, key })
      .shutdownServer()
      .catch(() => undefined)
  })
  const made = await place.run(line, { env })
  assert.deepEqual([made.code, /^a {2}preset sandboxed/.test(made.stdout)], [0, true], made.stderr)
  assert.match(made.stderr, new RegExp(`Started a server on port ${port}`))
  const limits = JSON.parse((await place.run(['agent', 'status', 'a', ...at, '--json'])).stdout) as {
    data: { status: { budget: object } }
  }
  assert.deepEqual(limits.data.status.budget, { maxTokens: 900, maxCost: 0.25 })
  const sent = await place.run(['agent', 'send', 'a', 'hi', ...at])
  assert.deepEqual([sent.code, sent.stdout], [0, 'Heard: hi\n'], sent.stderr)
  assert.match((await place.run(['agent', 'create', ...at, '--path', 'x', '--path', 'y'])).stderr, /one directory/)
  assert.match((await place.run(['shutdown', ...at])).stdout, /Server shutting down/)
  while ((await detectServer({ port, retries: 0 })) !== 'no_server') continue
})

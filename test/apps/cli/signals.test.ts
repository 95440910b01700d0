import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { type ModelScript, startModelServer } from '../../../src/testing/index.ts'
import { processesWith, RawClient, until } from '../mcp/client.ts'
import { ended, Place } from './nexus.ts'

const TOKEN = `nexus-signal-${process.pid}`

/** Flags for a model whose only answer is this command. */
async function commanding(t: { after: (fn: () => Promise<void>) => void }, command: string): Promise<string[]> {
  const script: ModelScript = [
    { type: 'tool-calls', calls: [{ name: 'run_command', arguments: { command, timeout_sec: 200 } }] },
  ]
  const server = await startModelServer({ script })
  t.after(() => server.close())
  return ['--model', 'openai-compatible/scripted', '--base-url', server.url]
}

test('a terminal that is closed cancels the turn as Ctrl-C does', async (t) => {
  const place = new Place(t)
  const mark = `${TOKEN}-hup`
  const child = place.start(['run', 'Wait', '--trust', '--yes', ...(await commanding(t, `exec -a ${mark} sleep 300`))])
  const result = ended(child)
  await until(() => processesWith(mark).length > 0)
  child.kill('SIGHUP')
  const { code, stderr } = await result
  assert.equal(code, 130, stderr)
  assert.deepEqual(processesWith(mark), [])
})

test('a second signal waits for the clean-up, and a third changes nothing', async (t) => {
  const place = new Place(t)
  const mark = `${TOKEN}-twice`
  // It ignores SIGTERM, so that ending it takes the grace time.
  const command = `trap '' TERM; (exec -a ${mark} sleep 300); sleep 300`
  const child = place.start(['run', 'Wait', '--trust', '--yes', ...(await commanding(t, command))])
  const gone = once(child, 'exit')
  await until(() => processesWith(mark).length > 0)
  for (let round = 0; round < 3; round++) {
    child.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.deepEqual(await gone, [130, null])
  assert.deepEqual(processesWith(mark), [])
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  test(`${signal} ends nexus mcp without a word while its standard input is open, idle and with a command`, async (t) => {
    const place = new Place(t)
    const mark = `${TOKEN}-mcp-${signal}`
    const [idle, busy] = [0, 1].map(() => new RawClient(t, place, { args: ['--trust'] })) as [RawClient, RawClient]
    await Promise.all([idle.initialize(), busy.initialize()])
    const command = `exec -a ${mark} sleep 300`
    busy.send({ id: 1, method: 'tools/call', params: { name: 'run_command', arguments: { command } } })
    await until(() => processesWith(mark).length > 0)
    let said = ''
    for (const { child } of [idle, busy]) {
      child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
      child.kill(signal)
      assert.deepEqual(await once(child, 'exit'), [0, null])
    }
    assert.doesNotMatch(said, /Cancelling/)
    await until(() => processesWith(mark).length === 0)
  })

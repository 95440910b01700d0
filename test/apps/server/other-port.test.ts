/** Agents that work for agents over the wire: at work below each other, and with the `port` of another server on the same store. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import type { JsonObject } from '../../../src/kernel/index.ts'
import type { Client } from '../../../src/public/client.ts'
import type { Reply } from '../../../src/testing/index.ts'
import { until } from '../mcp/client.ts'
import { prepare } from './serving.ts'

const call = (name: string, args: JsonObject): Reply => ({
  type: 'tool-calls',
  calls: [{ name, arguments: args }],
  usage: { inputTokens: 90, outputTokens: 10 },
})
/** The reply to a message with that text; `loop` never ends by itself. */
const ORDERS: Readonly<Record<string, Reply>> = {
  loop: call('sleep', { seconds: 0.01 }),
  delegate: call('nexus_create', { agent_id: 'deepest', message: 'sleep' }),
  sleep: call('sleep', { seconds: 600 }),
}

test('nexus_* tools reach another server of the store as their own agent, and no other port', async (t) => {
  let steps: readonly (readonly [string, JsonObject])[] = []
  const { start, model } = await prepare(t, {
    script: ({ messages }) => {
      const said = messages.findLast(({ role }) => role === 'user')?.text ?? ''
      if (said === 'hang') return { type: 'hang' }
      const order = ORDERS[said]
      if (order && (said === 'loop' || messages.at(-1)?.role === 'user')) return order
      if (said !== 'go') return { type: 'text', text: `Heard: ${said}` }
      const at = messages
        .slice(messages.findLastIndex(({ role }) => role === 'user'))
        .filter(({ role }) => role === 'tool').length
      const step = steps[at]
      return step
        ? { type: 'tool-calls', calls: [{ name: step[0], arguments: step[1] }] }
        : { type: 'text', text: 'Done.' }
    },
  })
  const [one, other] = [await start(['--port', '0']), await start(['--port', '0'])]
  await one.client.createAgent({ agent_id: 'boss', preset: 'trusted' })
  await one.client.createAgent({ agent_id: 'stranger' })
  const answers = async (...wanted: typeof steps): Promise<string[]> => {
    steps = wanted
    const { total } = await one.client.callAgent('boss', ['get_messages', {}])
    const settled = one.client.send('boss', 'go').then(() => true)
    // To end an agent is destructive, so a person is asked.
    while (!(await Promise.race([settled, new Promise<false>((done) => setTimeout(done, 50, false))])))
      for (const { approval_id } of (await one.client.call('approvals.list', {})).approvals)
        await one.client.call('approvals.respond', { approval_id, allow: true })
    const { messages } = await one.client.callAgent('boss', ['get_messages', { after: total }])
    return messages.filter(({ role }) => role === 'tool').map((message) => JSON.stringify(message))
  }

  const [runaway = ''] = await answers(['nexus_create', { agent_id: 'runaway', max_tokens: 250, message: 'loop' }])
  assert.match(runaway, /The budget of boss\/runaway is used up: 300 of 250 tokens/)
  const { used, left } = await one.client.callAgent('runaway', ['get_status', {}])
  assert.deepEqual([used.own.total_tokens, left['max_tokens']], [300, 0])
  assert.equal((await one.client.send('boss', 'hello')).content, 'Heard: hello', 'its parent goes on')

  steps = [['nexus_create', { agent_id: 'middle', preset: 'trusted', message: 'delegate' }]]
  await cancelBelow(one.client)

  const { port } = other
  const work = await answers(
    ['nexus_create', { agent_id: 'far', preset: 'sandboxed', max_tokens: 5000, port }],
    ['nexus_send', { agent_id: 'far', content: 'hello', port }],
    ['nexus_status', { agent_id: 'far', port }],
    ['nexus_cancel', { agent_id: 'far', request_id: 7, port }],
  )
  assert.match(work[0] ?? '', /agent_id.+far/)
  assert.match(work[1] ?? '', /<answer-[0-9a-f]{16}>\\*n?Heard: hello|Heard: hello/)
  assert.match(work[1] ?? '', /neither yours nor the user's words/, 'its text is in a boundary')
  assert.match(work[2] ?? '', /message_count.+idle/)
  assert.match(work[3] ?? '', /not_found_or_completed/)
  const far = (await other.client.listAgents()).find(({ agent_id }) => agent_id === 'far')
  assert.deepEqual([far?.parent_agent_id, far?.permission_level], ['boss', 'sandboxed'])

  let contacts = 0
  const foreign = createServer(() => (contacts += 1))
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
  t.after(() => foreign.close())
  const at = (foreign.address() as AddressInfo).port
  for (const [step, words] of [
    [['nexus_send', { agent_id: 'far', content: 'x', port: at }], /No server of this workspace listens on port/],
    [['nexus_send', { agent_id: 'stranger', content: 'x', port }], /Agent not found: stranger/],
    [['nexus_destroy', { agent_id: 'stranger', port }], /Agent not found: stranger/],
    [['nexus_create', { agent_id: 'up', preset: 'yolo', port }], /Invalid preset|exceeds permission ceiling/],
    [['nexus_shutdown', { port }], /denied|not allowed|disabled|No tool|PERMISSION_DENIED/i],
    [['nexus_destroy', { agent_id: 'far', port }], /success/],
  ] as const)
    assert.match((await answers(step as unknown as (typeof steps)[number]))[0] ?? '', words, JSON.stringify(step))
  assert.equal(contacts, 0, 'a port that the store does not name is not contacted')
  assert.ok((await other.client.listAgents()).every(({ agent_id }) => agent_id !== 'far'))

  await one.client.createAgent({ agent_id: 'slow', parent_agent_id: 'boss' })
  steps = [['nexus_send', { agent_id: 'slow', content: 'hang', port }]]
  const before = model.requests.length
  const sent = one.client.send('boss', 'go', { requestId: 'long' })
  await model.waitForRequest(before + 2)
  assert.equal((await one.client.cancel('boss', 'long')).cancelled, true)
  assert.equal((await sent).cancelled, true)
  const turns = async () => (await other.client.callAgent('slow', ['get_status', {}])).agent.state
  while ((await turns()) !== 'idle') continue
})

/** The agent `boss` waits for `middle`, and that for `deepest`, whose tool sleeps. */
async function cancelBelow(client: Client): Promise<void> {
  const delegated = client.send('boss', 'go', { requestId: 'deep' })
  const roles = async () => (await client.callAgent('deepest', ['get_messages', {}])).messages.map(({ role }) => role)
  await until(async () => (await client.listAgents()).some(({ agent_id: id }) => id === 'deepest'))
  await until(async () => (await roles()).includes('assistant'))
  const began = performance.now()
  assert.equal((await client.cancel('boss', 'deep')).cancelled, true)
  assert.equal((await delegated).cancelled, true)
  for (const id of ['deepest', 'middle', 'boss'])
    await until(async () => (await client.callAgent(id, ['get_status', {}])).agent.state === 'idle')
  assert.ok(performance.now() - began < 2_000, 'the sleeping tool of the grandchild stopped')
  assert.deepEqual((await roles()).slice(0, 3), ['user', 'assistant', 'tool'], 'its call has an answer')
}

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parsePolicy } from '../../../src/authorize/index.ts'
import { createAgent } from '../../../src/agents/turns/index.ts'
import { failed, newId } from '../../../src/kernel/index.ts'
import { createRuntime } from '../../../src/runtime/index.ts'
import { createMemoryStore } from '../../../src/store/index.ts'
import { type Reply, startModelServer } from '../../../src/testing/index.ts'
import { defineTool } from '../../../src/tools/index.ts'
import { isWhole, localModel, startRig } from './rig.ts'

const CALL: Reply = { type: 'tool-calls', calls: [{ name: 'work', arguments: {} }] }

it('a turn is cancelled by its request id while the model answers', async () => {
  await using rig = await startRig({ script: [{ type: 'hang', text: 'I think' }] })
  const turn = rig.agent.send('go', { requestId: 'r1' })
  await rig.server.waitForRequest(1)
  assert.equal(await rig.agent.cancel('r1'), true)
  assert.equal((await turn).end, 'cancelled')
  await rig.server.waitForAbort(1)
  assert.ok(isWhole(await rig.history()))
})

it('a turn is cancelled by its request id while the model is asked for a summary', async () => {
  const isSummary = (text: string | undefined): boolean => /You summarize/.test(text ?? '')
  await using rig = await startRig({
    script: ({ messages }) =>
      isSummary(messages[0]?.text) ? { type: 'hang', text: 'S' } : { type: 'text', text: 'fine' },
  })
  await rig.send('one')
  const turn = rig.agent.compact({ requestId: 'c1' })
  await rig.server.waitForRequest(2)
  assert.equal(await rig.agent.cancel('c1'), true)
  assert.equal((await turn).end, 'cancelled')
  assert.equal((await rig.history()).length, 2)
})

it('a turn is cancelled by its request id while a person is asked: the question closes, and nothing runs', async () => {
  await using server = await startModelServer({ script: [CALL] })
  const store = await createMemoryStore({ projectId: 'default' })
  let ran = 0
  const tool = defineTool({
    name: 'work',
    description: 'works',
    parameters: { type: 'object' },
    execute: () => `${++ran}`,
  })
  const runtime = await createRuntime({
    sources: [],
    facts: { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false },
    store,
    waitForAnswers: true,
    agents: [{ id: 'main', policy: parsePolicy({ ask: ['work'] }).rules }],
    registerTools: (registry) => registry.register('work', () => tool),
  })
  const agent = createAgent({
    agent: runtime.openAgent({ sessionId: newId() }),
    model: await localModel(server),
    store,
  })
  const asked = Promise.withResolvers<void>()
  const turn = agent.send('go', { requestId: 'r1', onEvent: ({ type }) => type === 'tool-asked' && asked.resolve() })
  await asked.promise
  assert.equal(await agent.cancel('r1'), true)
  assert.equal((await turn).end, 'cancelled')
  assert.deepEqual([ran, await store.approvals.list({ states: ['open'] })], [0, []])
  assert.ok(isWhole(await store.sessions.messages(agent.sessionId)))
  await runtime.close()
})

it('a broken tool is answered, and the turn goes on', async () => {
  const names = ['throws', 'rejects', 'nothing', 'fails'] as const
  const tools = {
    throws: () => {
      throw new Error('thrown')
    },
    rejects: () => Promise.reject(new TypeError('rejected')),
    nothing: () => undefined as never,
    fails: () => failed('EXECUTION_ERROR', 'failed'),
  }
  await using rig = await startRig({
    script: (_request, index) => {
      const name = names[index]
      return name ? { type: 'tool-calls', calls: [{ name, arguments: {} }] } : { type: 'text', text: 'I go on.' }
    },
    tools,
  })
  const { end, text } = await rig.send('go')
  assert.deepEqual([end, text], ['done', 'I go on.'])
  assert.deepEqual(
    rig.ofType('tool-result').map(({ outcome }) => outcome.type),
    ['failed', 'failed', 'failed', 'failed'],
  )
  assert.ok(isWhole(await rig.history()))
})

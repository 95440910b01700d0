import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/kernel/index.ts'
import { createMemoryStore, sessionLease } from '../../../src/store/index.ts'
import { startModelServer } from '../../../src/testing/index.ts'
import { localModel } from '../turns/rig.ts'
import { answersIn, brains, startPool, type Step } from './rig.ts'

const RUNAWAY: readonly Step[] = Array.from({ length: 40 }, () => ['status', {}] as const)

test('a budget ends a runaway child, says so with what would raise it, and its parent goes on', async (t) => {
  const { pool } = await startPool(t, {
    script: brains({ boss: [['nexus_send', { agent_id: 'w', content: 'Go.' }], 'I go on.'], worker: RUNAWAY }),
  })
  await pool.create({ id: 'boss', instructions: 'boss', budget: { maxTokens: 10_000 } })
  await pool.create({ id: 'w', parent: 'boss', instructions: 'worker', budget: { maxTokens: 500 } })
  assert.deepEqual((await pool.status('boss')).left, { maxTokens: 9_500 })
  const sent = await pool.send('boss', 'Go.')
  assert.equal(sent.type === 'answered' && sent.result.text, 'I go on.')
  const [told] = answersIn((await pool.messages('boss')).messages)
  assert.match(told!, /did not finish: The budget of boss\/w is used up: 500 of 500 tokens\./)
  assert.match(told!, /Only the user can raise it: agents\[\]\.budget\.maxTokens/)
  const status = await pool.status('boss')
  assert.deepEqual([status.used.own.totalTokens, status.used.subtree.totalTokens], [200, 700])
  assert.deepEqual(status.left, { maxTokens: 9_300 })
  await assert.rejects(pool.create({ parent: 'boss', budget: { maxTokens: 9_301 } }), {
    code: 'LIMIT_EXCEEDED',
    message: 'The budget asks for 9,301 tokens, and the parent has 9,300 left.',
  })
})

test('a child without a budget uses what its parent has, and one that ends gives back the rest', async (t) => {
  const { pool } = await startPool(t, { script: brains({ worker: RUNAWAY }) })
  await pool.create({ id: 'boss', budget: { maxTokens: 1_000, maxTurns: 3, maxChildren: 3, maxDepth: 1 } })
  await pool.create({ id: 'w', parent: 'boss', instructions: 'worker' })
  await pool.create({ id: 'aside', parent: 'boss', budget: { maxTokens: 600 } })
  assert.equal((await pool.status('w')).left.maxTokens, 400)
  const sent = await pool.send('w', 'Go.')
  assert.equal(sent.type === 'answered' && sent.result.end, 'stopped')
  assert.equal((await pool.status('w')).used.own.totalTokens, 400)
  assert.equal((await pool.status('boss')).left.maxTokens, 0)
  await pool.destroy('aside')
  assert.deepEqual((await pool.status('boss')).left, { maxTokens: 600, maxTurns: 2, maxChildren: 1, maxDepth: 1 })
  await assert.rejects(pool.create({ parent: 'w' }), { code: 'LIMIT_EXCEEDED', message: /no levels below it left/ })
  await pool.create({ parent: 'boss' })
  await assert.rejects(pool.create({ parent: 'boss' }), { code: 'LIMIT_EXCEEDED', message: /no agents below it left/ })
})

test('turns, time and money are counted too', async (t) => {
  const { pool } = await startPool(t, { script: brains({}) })
  await pool.create({ id: 'turns', budget: { maxTurns: 1 } })
  const ends = []
  for (const _ of [1, 2]) {
    const sent = await pool.send('turns', 'Go.')
    ends.push(sent.type === 'answered' && sent.result.end)
  }
  assert.deepEqual(ends, ['done', 'stopped'])
  const price = { input: 1_000_000, output: 0 }
  const server = await startModelServer({ script: brains({ worker: RUNAWAY }) })
  t.after(() => server.close())
  const openModel = async () => ({ ...(await localModel(server)), price })
  const { pool: priced } = await startPool(t, { pool: { openModel } })
  await priced.create({ id: 'rich', model: 'any/model', instructions: 'worker', budget: { maxCost: 200 } })
  const sent = await priced.send('rich', 'Go.')
  assert.match(
    String(sent.type === 'answered' && sent.result.error?.message),
    /^The budget of rich is used up: 270 of 200 money\.$/,
  )
})

test('time in which a person is asked, or nobody works, does not count', async (t) => {
  const { pool, runtime } = await startPool(t, {
    script: brains({ worker: [['run_command', { command: 'make' }], ['status', {}], 'Done.'] }),
  })
  await pool.create({ id: 'w', preset: 'trusted', instructions: 'worker', budget: { maxTimeMs: 60_000 } })
  const sent = pool.send('w', 'Go.')
  for (;;) {
    const [question] = await runtime.approvals.list()
    if (question) {
      await new Promise((resolve) => setTimeout(resolve, 300))
      assert.equal(question.agentPath, 'w')
      await runtime.approvals.answer(question.id, { isAllowed: false, by: 'ada', kind: 'person' })
      break
    }
    await new Promise(setImmediate)
  }
  await sent
  const { left } = await pool.status('w')
  assert.ok(left.maxTimeMs! < 60_000)
})

test('time in which the process of a turn was dead does not count, whatever became of the turn', async (t) => {
  const hour = 3_600_000
  let behind = 3 * hour
  const clock = { ...systemClock, now: () => Date.now() - behind }
  const store = await createMemoryStore({ projectId: 'default', clock })
  const { pool } = await startPool(t, { store, script: brains({ worker: ['Done.'] }) })
  await pool.create({ id: 'w', instructions: 'worker', budget: { maxTimeMs: hour / 2 } })
  const { sessionId, key: agentId } = (await store.agents.find('w'))!
  const killedIn = async (isIdempotent: boolean): Promise<void> => {
    const acquired = await store.leases.acquire(sessionLease(sessionId), { owner: 'killed', ttlMs: 10 })
    assert.ok(acquired.type === 'acquired')
    const { lease } = acquired
    const turn = await store.turns.enqueue({ sessionId, message: { role: 'user', content: 'Go.' }, lease })
    await store.turns.take(sessionId, lease, { id: turn.id })
    const about = { projectId: 'default', agentId, sessionId, turnId: turn.id, origin: 'model' } as const
    const call = { ...about, id: `c${isIdempotent}`, tool: 'status', arguments: {}, toolCallId: 'x' }
    const tokens = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    const content = [{ type: 'tool-call', toolCallId: 'x', toolName: 'status', input: {} }]
    const step = { message: { role: 'assistant', content }, tokens }
    const decision = { type: 'allow', rule: 'all', chain: [], limits: {} } as const
    await store.ledger.record({ call, decision, lease, isIdempotent, step })
  }
  await killedIn(false)
  behind -= hour
  await store.reclaim()
  await killedIn(true)
  behind -= hour
  await store.reclaim()
  const [waiting] = await store.turns.list({ sessionId, states: ['waiting'] })
  assert.ok(waiting)
  behind = 0
  const left = async (): Promise<number> => (await pool.status('w')).left.maxTimeMs ?? 0
  const isWhole = async (): Promise<boolean> => hour / 2 - (await left()) < 20_000
  assert.ok(await isWhole(), `${await left()} ms are left while it waits`)
  const [resumed] = await pool.resume('w')
  assert.equal(resumed?.end, 'done')
  assert.ok(await isWhole(), `${await left()} ms are left`)
})

test('only so many turns ask models at once, and one that waits for its child has no place', async (t) => {
  const open = { now: 0, most: 0 }
  const limits = { maxIterations: 50, toolTimeoutMs: 30_000, maxConcurrentTools: 10, maxRunning: 2 }
  const config = { agents: [], permissions: { presets: {}, destructiveTools: [] }, limits }
  const answer = brains({
    one: [['nexus_send', { agent_id: 'b', content: 'Go.' }], 'A.'],
    two: [['nexus_send', { agent_id: 'c', content: 'Go.' }], 'B.'],
    three: [['nexus_send', { agent_id: 'd', content: 'Go.' }], 'C.'],
  })
  const { pool } = await startPool(t, {
    script: async (request, index) => {
      open.most = Math.max(open.most, (open.now += 1))
      await new Promise((resolve) => setTimeout(resolve, 10))
      open.now -= 1
      return typeof answer === 'function' ? answer(request, index) : { type: 'text', text: '' }
    },
    pool: { config },
  })
  const ids = ['a', 'b', 'c', 'd']
  for (const [index, id] of ids.entries()) {
    const instructions = ['one', 'two', 'three', 'four'][index]!
    await pool.create({ id, preset: 'trusted', instructions, ...(index > 0 && { parent: ids[index - 1]! }) })
  }
  for (let number = 0; number < 6; number += 1) await pool.create({ id: `n${number}` })
  const others = Array.from({ length: 6 }, (_, number) => pool.send(`n${number}`, 'Go.'))
  const sent = await pool.send('a', 'Go.')
  assert.equal(sent.type === 'answered' && sent.result.text, 'A.')
  await Promise.all(others)
  assert.equal(open.most, 2)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPool } from './rig.ts'

test('agents are made, get messages, are listed as a tree, and end with their descendants', async (t) => {
  const { pool, store } = await startPool(t)
  const { agent: boss } = await pool.create({ id: 'boss' })
  assert.deepEqual([boss.path, boss.depth, boss.preset, boss.state], ['boss', 0, 'trusted', 'idle'])
  const { agent: worker } = await pool.create({ id: 'worker', parent: 'boss' })
  assert.deepEqual([worker.path, worker.parent, worker.depth, worker.preset], ['boss/worker', 'boss', 1, 'sandboxed'])
  const sent = await pool.send('worker', 'Hello')
  assert.equal(sent.type === 'answered' && sent.result.text, 'Hi.')
  assert.match(sent.requestId, /^[0-9a-f]{16}$/)
  const status = await pool.status('boss')
  assert.deepEqual([status.used.own.steps, status.used.subtree.steps, status.used.children], [0, 1, 1])
  const [tree] = await pool.tree()
  assert.deepEqual([tree?.id, tree?.children.map(({ id }) => id)], ['boss', ['worker']])
  assert.equal((await pool.messages('worker')).total, 2)
  assert.deepEqual(await pool.destroy('boss'), ['boss', 'worker'])
  assert.deepEqual(await pool.list(), [])
  await assert.rejects(pool.send('worker', 'More'), { code: 'AGENT_NOT_FOUND', message: 'Agent not found: worker' })
  assert.equal((await store.agents.list({ isLiving: false })).length, 2)
})

test('an agent reaches its descendants only, and gets the same answer for any other id', async (t) => {
  const { pool, store } = await startPool(t)
  await pool.create({ id: 'a' })
  await pool.create({ id: 'b', parent: 'a' })
  await pool.create({ id: 'c', parent: 'b' })
  await pool.create({ id: 'z' })
  const b = pool.as({ key: (await store.agents.find('b'))!.key, sessionId: undefined })
  assert.deepEqual(
    (await b.list()).map(({ id }) => id),
    ['c'],
  )
  for (const id of ['a', 'b', 'z', 'none', '../a', '__proto__'])
    for (const act of [() => b.destroy(id), () => b.cancel(id, 1), () => b.messages(id === 'b' ? 'z' : id)])
      await assert.rejects(act, (error: Error) => /^Agent not found: /.test(error.message))
  assert.equal((await b.status('b')).id, 'b')
  assert.deepEqual(await b.destroy('c'), ['c'])
  // Whatever parent it names, a child of an agent is its own.
  assert.equal((await b.create({ id: 'd', parent: 'z' })).agent.path, 'a/b/d')
})

test('a child gets no more than its parent, in the words of the contract', async (t) => {
  const { pool, root } = await startPool(t)
  const { agent } = await pool.create({ id: 'p', preset: 'sandboxed' })
  assert.equal(agent.level, 'sandboxed')
  await assert.rejects(pool.create({ parent: 'p', preset: 'trusted' }), {
    code: 'CALL_DENIED',
    message: "Requested preset 'trusted' exceeds parent ceiling",
  })
  await assert.rejects(pool.create({ parent: 'p', preset: 'wizard' }), {
    code: 'INVALID_ARGUMENT',
    message: 'Invalid preset: wizard. Valid: [yolo, trusted, sandboxed, worker]',
  })
  await assert.rejects(pool.create({ parent: 'p', permissions: { allowedPaths: ['/etc'] } }), {
    code: 'CALL_DENIED',
    message: /^Permission delta would exceed parent ceiling/,
  })
  await assert.rejects(pool.create({ parent: 'p', permissions: { enableTools: ['nexus_create'] } }), {
    code: 'CALL_DENIED',
  })
  await pool.create({ id: 'narrow', parent: 'p', permissions: { allowedPaths: ['sub'] } })
  const { clipped } = await pool.create({ id: 'n', parent: 'narrow' })
  assert.deepEqual(clipped, [`Paths: the preset has ${root}, the parent leaves ${root}/sub.`])
  await assert.rejects(pool.create({ parent: 'nobody' }), { message: 'Parent agent not found: nobody' })
})

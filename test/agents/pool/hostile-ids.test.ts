import assert from 'node:assert/strict'
import { test } from 'node:test'
import { narrowing } from '../../../src/agents/pool/opened.ts'
import { readSettings } from '../../../src/agents/pool/settings.ts'
import type { JsonValue } from '../../../src/kernel/index.ts'
import { brains, startPool } from './rig.ts'

// Rows 132 and 135 of the catalogue of attacks.
const ODD_IDS: readonly unknown[] = [
  ...['', ' ', '.', '..', '...', 'a/b', 'a\\b', '%2e', 'a\0b', 'a\r\nb', '*', '>', '$SYS', '--help', '-x', '@key'],
  ...['__proto__/x', '\u202egnp', '\u200ba', '\uff41', 'x'.repeat(64), 'x'.repeat(65_536), 'x'.repeat(100_000), "a'--"],
  ...[1, null, true, {}, [], ['a/b']],
]
/** In the form of the contract, and still never looked up on a prototype or split. */
const PLAIN_IDS = ['a.b', 'constructor', 'toString', 'hasOwnProperty', '0', 'x'.repeat(62)]
const SQL = `'; drop table agents; -- "\`$1 :projectId ? %_\\`

test('an id outside the contract is refused wherever it is given, and one inside it is only an id', async (t) => {
  const { pool, store } = await startPool(t)
  await pool.create({ id: 'boss' })
  for (const id of ODD_IDS) {
    await assert.rejects(
      pool.create({ id: id as string }),
      { code: 'INVALID_ARGUMENT' },
      JSON.stringify(id).slice(0, 80),
    )
    await assert.rejects(store.agents.create({ id: id as string, permissions: {}, ceiling: {} }))
    await assert.rejects(pool.create({ parent: String(id) }))
    const name = String(id)
    for (const act of [
      () => pool.status(name),
      () => pool.destroy(name),
      () => pool.send(name, 'x'),
      () => pool.cancel(name, 'x'),
    ])
      await assert.rejects(act, { code: 'AGENT_NOT_FOUND' })
  }
  assert.equal((await pool.list()).length, 1)
  for (const id of PLAIN_IDS) {
    await assert.rejects(pool.status(id), { code: 'AGENT_NOT_FOUND' })
    await pool.create({ id, parent: 'boss' })
    assert.equal((await pool.status(id)).path, `boss/${id}`)
  }
  await assert.rejects(pool.create({ id: 'boss' }), { code: 'CONFLICT' })
})

test('a model that gives odd ids gets a failure for each, and makes nothing', async (t) => {
  const steps = ODD_IDS.filter((id) => String(id).length < 100).map(
    (id) => ['nexus_create', { agent_id: id as JsonValue }] as const,
  )
  const { pool } = await startPool(t, { script: brains({ boss: steps }) })
  await pool.create({ id: 'boss', instructions: 'boss' })
  await pool.send('boss', 'Go.')
  assert.deepEqual(
    (await pool.list()).map(({ id }) => id),
    ['boss'],
  )
})

test('SQL in any text is stored as it is', async (t) => {
  const { pool, store } = await startPool(t)
  const { agent } = await pool.create({ id: 'a', instructions: SQL, title: SQL, permissions: { disableTools: [SQL] } })
  const row = (await store.agents.get(agent.key))!
  assert.equal(row.settings['instructions'], SQL)
  assert.equal((await store.sessions.get(row.sessionId))?.title, SQL)
  await pool.send('a', SQL, { requestId: SQL })
  assert.equal((await pool.messages('a')).messages[0]?.['content'], SQL)
  assert.equal(await pool.cancel('a', SQL), false)
  await assert.rejects(pool.status(SQL), { code: 'AGENT_NOT_FOUND' })
  await assert.rejects(pool.create({ preset: SQL }), { code: 'INVALID_ARGUMENT' })
  assert.equal((await pool.list()).length, 1)
})

test('a row that was widened in the database gains nothing', async (t) => {
  const { pool, store, runtime } = await startPool(t)
  await pool.create({ id: 'parent', preset: 'sandboxed', permissions: { disableTools: ['sleep'] } })
  const { agent } = await pool.create({ id: 'child', parent: 'parent' })
  const wide = (await pool.create({ id: 'wide' })).agent
  const from = (await store.agents.get(wide.key))!
  await store.agents.update(agent.key, { permissions: from.permissions, ceiling: from.ceiling })
  const row = (await store.agents.get(agent.key))!
  const handle = runtime.openAgent({ row, ...(await narrowing(runtime, row, readSettings(row))) })
  const { decision } = handle.explain({ tool: 'sleep', arguments: {}, origin: 'model' })
  assert.equal(decision.type, 'deny')
  assert.match(decision.chain.find(({ type }) => type === 'deny')!.layer, /^ceiling of parent$/)
  // One whose rights cannot be read, or whose configured agent is gone, does nothing.
  await store.agents.update(agent.key, { permissions: {} })
  await assert.rejects(pool.send('child', 'x'), { code: 'STORE_FAILED' })
  await store.agents.update(wide.key, { settings: { profile: 'gone' } })
  await assert.rejects(pool.send('wide', 'x'), { code: 'CALL_DENIED', message: /does not have now/ })
  assert.deepEqual((await pool.restore()).failed.map(({ id }) => id).sort(), ['child', 'wide'])
})

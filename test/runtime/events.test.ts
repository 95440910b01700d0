import assert from 'node:assert/strict'
import test from 'node:test'
import { systemClock } from '../../src/kernel/index.ts'
import { createRuntime } from '../../src/runtime/index.ts'
import { createMemoryStore } from '../../src/store/index.ts'

const DAY_MS = 24 * 3_600_000

test('events older than 30 days are removed when a process begins to write, the rows are kept', async () => {
  let now = 0
  const store = await createMemoryStore({ projectId: 'default', clock: { ...systemClock, now: () => now } })
  await store.sessions.create({ id: 'old', agentId: 'main', title: '' })
  now = 31 * DAY_MS
  await store.sessions.create({ id: 'new', agentId: 'main', title: '' })
  const facts = { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false } as const
  const runtime = await createRuntime({ sources: [], facts, store })
  await runtime.openAgent().call({ tool: 'status', arguments: {} })
  assert.deepEqual(
    (await store.events.after(0)).map(({ type, sessionId }) => [type, sessionId]),
    [
      ['session.created', 'new'],
      ['call.decided', undefined],
      ['call.started', undefined],
      ['call.done', undefined],
    ],
  )
  assert.equal((await store.sessions.list()).length, 2)
  await runtime.close()
})

test('the caller may bound events by age and number, each alone', async () => {
  const store = await createMemoryStore({ projectId: 'default', clock: systemClock })
  for (const id of ['one', 'two', 'three']) await store.sessions.create({ id, agentId: 'main', title: '' })
  const facts = { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false } as const
  const runtime = await createRuntime({ sources: [], facts, store, events: { maxRows: 1 } })
  await runtime.openAgent().lease()
  assert.deepEqual(
    (await store.events.after(0)).map(({ sessionId }) => sessionId),
    ['three'],
  )
  await runtime.close()
})

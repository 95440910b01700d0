import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type AgentEvent, createAgent } from '../../../src/agents/turns/index.ts'
import { isNexusError, NexusError, succeeded } from '../../../src/kernel/index.ts'
import { createMemoryStore, sessionLease, type Store } from '../../../src/store/index.ts'
import type { Reply } from '../../../src/testing/index.ts'
import { isWhole, localModel, openTestAgent, startRig } from './rig.ts'

const DONE: Reply = { type: 'text', text: 'Done.' }

/** Messages in the session `s1` whose process ends then. Returns their ids. */
async function leave(
  store: Store,
  contents: readonly string[],
  before: () => Promise<void> = async () => {},
): Promise<string[]> {
  const acquired = await store.leases.acquire('process:dead', { owner: 'dead', ttlMs: 60_000 })
  assert.ok(acquired.type === 'acquired')
  const { lease } = acquired
  const ids: string[] = []
  for (const content of contents)
    ids.push((await store.turns.enqueue({ sessionId: 's1', message: { role: 'user', content }, lease })).id)
  await before()
  await store.leases.release(lease)
  return ids
}

describe('a message of a process that is gone', () => {
  it('waits until somebody runs it', async () => {
    await using rig = await startRig({ script: [DONE, DONE], sessionId: 's1' })
    await rig.send('one')
    const [id = ''] = await leave(rig.store, ['two'])
    assert.equal((await rig.store.turns.get(id))?.isLeft, true)
    assert.equal((await rig.agent.resume(id)).end, 'done')
    assert.deepEqual((await rig.history()).at(-2), { role: 'user', content: 'two' })
    await assert.rejects(rig.agent.resume(id), (error) => isNexusError(error) && error.code === 'INVALID_ARGUMENT')
  })
})

describe('a message that waits for the turn of another process', () => {
  it('runs after that process was killed', { timeout: 20_000 }, async () => {
    await using rig = await startRig({ script: [DONE], sessionId: 's1' })
    const { leases, sessions, turns } = rig.store
    await sessions.create({ id: 's1', agentId: rig.agent.id, title: '' })
    const [id = ''] = await leave(rig.store, ['two'])
    const owner = await leases.acquire('process:killed', { owner: 'killed', ttlMs: 1_000 })
    assert.ok(owner.type === 'acquired')
    const under = await leases.acquire(sessionLease('s1'), { owner: 'killed', under: owner.lease })
    assert.ok(under.type === 'acquired')
    const one = { sessionId: 's1', message: { role: 'user', content: 'one' }, lease: owner.lease } as const
    const { id: running } = await turns.enqueue(one)
    await turns.take('s1', under.lease, { id: running })
    assert.equal((await rig.agent.resume(id)).end, 'done')
    assert.equal((await turns.get(running))?.state, 'interrupted')
  })
})

describe('whoever serves an agent', () => {
  const said = async (store: Store) =>
    (await store.sessions.messages('s1')).filter(({ role }) => role === 'user').map(({ content }) => content)

  it('runs what was left in order, before later messages, and each once when two serve it', async () => {
    await using rig = await startRig({ script: () => DONE, sessionId: 's1' })
    await rig.send('zero')
    await leave(rig.store, ['one', 'two', 'three'])
    const second = createAgent({
      agent: await openTestAgent({}, rig.store, 's1'),
      model: await localModel(rig.server),
      store: rig.store,
    })
    const serving = rig.agent.takeOver()
    while ((await rig.store.turns.list()).some(({ isLeft }) => isLeft)) await new Promise(setImmediate)
    const [results, others, sent] = await Promise.all([serving, second.takeOver(), second.send('four')])
    assert.deepEqual(
      [...results, ...others, sent].map(({ end }) => end),
      ['done', 'done', 'done', 'done'],
    )
    assert.deepEqual(await said(rig.store), ['zero', 'one', 'two', 'three', 'four'])
    assert.ok(isWhole(await rig.history()))
  })

  it('leaves what did not begin, when a run rejects: still in order, and no longer in the way', async () => {
    const store = await createMemoryStore({ projectId: 'default' })
    let failures = 0
    const take: Store['turns']['take'] = (sessionId, lease, which) =>
      failures-- > 0
        ? Promise.reject(new NexusError('STORE_FAILED', 'The disk is full.', {}))
        : store.turns.take(sessionId, lease, which)
    const failing = { ...store, turns: { ...store.turns, take } }
    await using rig = await startRig({ script: () => DONE, sessionId: 's1', store: failing })
    await rig.send('zero')
    const ids = await leave(store, ['one', 'two', 'three'])
    failures = 4
    await assert.rejects(rig.agent.takeOver(), (error) => isNexusError(error) && error.message.includes(ids[0] ?? ''))
    const left = await store.turns.list({ states: ['queued'] })
    assert.deepEqual([left.map(({ id }) => id), left.every(({ isLeft }) => isLeft)], [ids, true])
    assert.equal((await rig.send('between')).end, 'done')
    assert.equal((await rig.agent.takeOver()).length, 3)
    assert.deepEqual(await said(store), ['zero', 'between', 'one', 'two', 'three'])
  })

  it('leaves what did not begin, when its signal aborts', async () => {
    const stop = new AbortController()
    const script: Reply[] = [DONE, { type: 'tool-calls', calls: [{ name: 'stop', arguments: {} }] }]
    const tools = { stop: () => (stop.abort(), succeeded('stopped')) }
    await using rig = await startRig({ script, tools, sessionId: 's1' })
    await rig.send('zero')
    const [one, ...others] = await leave(rig.store, ['one', 'two', 'three'])
    const results = await rig.agent.takeOver({ signal: stop.signal })
    assert.deepEqual(
      results.map(({ turnId, end }) => [turnId, end]),
      [[one, 'cancelled']],
    )
    const left = await rig.store.turns.list({ states: ['queued'] })
    assert.deepEqual([left.map(({ id }) => id), left.every(({ isLeft }) => isLeft)], [others, true])
    assert.deepEqual(await rig.agent.takeOver({ signal: stop.signal }), [])
    assert.equal((await rig.store.turns.list({ states: ['queued'] })).length, 2)
  })

  it('goes on waiting for nobody, when its signal aborts while another process runs a turn', async () => {
    await using rig = await startRig({ script: [DONE], sessionId: 's1' })
    await rig.send('zero')
    const other = await rig.store.leases.acquire(sessionLease('s1'), { owner: 'other', ttlMs: 60_000 })
    assert.ok(other.type === 'acquired')
    const [id = ''] = await leave(rig.store, ['one'])
    const stop = new AbortController()
    const onEvent = (event: AgentEvent) => void (event.type === 'notice' && stop.abort())
    assert.deepEqual(await rig.agent.takeOver({ signal: stop.signal, onEvent }), [])
    const turn = await rig.store.turns.get(id)
    assert.deepEqual([turn?.state, turn?.isLeft], ['queued', true])
  })

  it('writes nothing where nothing was left, and takes nothing of another agent', async () => {
    await using rig = await startRig({ script: [DONE], sessionId: 's1' })
    await rig.send('zero')
    const before = await rig.store.events.last()
    assert.deepEqual(await rig.agent.takeOver(), [])
    assert.equal(await rig.store.events.last(), before)
    await rig.store.sessions.create({ id: 's2', agentId: 'other', title: '' })
    const thief = createAgent({
      agent: await openTestAgent({}, rig.store, 's2'),
      model: await localModel(rig.server),
      store: rig.store,
    })
    const refused = (error: unknown) => isNexusError(error) && error.code === 'CONFLICT'
    await assert.rejects(thief.takeOver(), refused)
    await assert.rejects(thief.cancel('r1'), refused)
  })
})

describe('a full queue that an ended process left', () => {
  it('stops no later message; send names what was left, with the commands that run and cancel it', async () => {
    await using rig = await startRig({ script: [DONE, DONE, DONE, DONE], sessionId: 's1' })
    await rig.send('one')
    const notices: string[] = []
    const onEvent = (event: AgentEvent) =>
      void (event.type === 'notice' && event.code === 'message-left' && notices.push(event.text))
    const contents = Array.from({ length: 32 }, (_, count) => String(count))
    const ids = await leave(rig.store, contents, async () => {
      await assert.rejects(rig.agent.send('two'), (error) => isNexusError(error) && error.code === 'CONFLICT')
    })
    assert.equal((await rig.agent.send('two', { onEvent })).end, 'done')
    const [first, second] = ids
    assert.deepEqual(notices.slice(0, 2), [
      `The process of message ${first} ended before the message ran. To run it: nexus sessions resume ${first}`,
      `To cancel it: nexus sessions cancel ${first}`,
    ])
    assert.deepEqual(notices.slice(6), ['Further such messages: 29. To list them: nexus sessions show s1'])
    assert.equal((await rig.agent.resume(first ?? '')).end, 'done')
    for (const id of ids.slice(3)) await rig.store.turns.cancel(id)
    notices.length = 0
    assert.equal((await rig.agent.resume(second ?? '', { onEvent })).end, 'done')
    assert.deepEqual(notices.length, 2, 'only the third one is left besides')
  })
})

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { succeeded } from '../../kernel/index.ts'
import { sessionLease } from '../../store/index.ts'
import { acquire, type Advance, ALLOW, call, hasCode, type Open, openSession } from './rig.ts'

export function sessionTests(open: Open, clock: Advance): void {
  it('keeps messages in order and counts them', async () => {
    const store = await open()
    const { sessions } = store
    const made = await sessions.create({ id: 's1', agentId: 'main', title: 'Make a report' })
    assert.deepEqual(await sessions.get('s1'), made)
    const lease = await acquire(store, sessionLease('s1'))
    const first = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [{ type: 'text', text: 'hi' }] },
    ]
    await sessions.append('s1', first, lease)
    await sessions.append('s1', [], lease)
    await sessions.append('s1', [{ role: 'user', content: '' }], lease)
    assert.deepEqual(await sessions.messages('s1'), [...first, { role: 'user', content: '' }])
    assert.equal((await sessions.get('s1'))?.messageCount, 3)
  })

  it('adds all messages of an append or none', async () => {
    const store = await open()
    const { sessions } = store
    const lease = await openSession(store)
    const bad = [{ role: 'user' }, { content: 'no role' } as unknown as { role: string }]
    await assert.rejects(sessions.append('s1', bad, lease), hasCode('INVALID_ARGUMENT'))
    assert.deepEqual(await sessions.messages('s1'), [])
  })

  it('refuses a used id and an unknown session', async () => {
    const store = await open()
    const { sessions } = store
    await sessions.create({ id: 's1', agentId: 'main', title: '' })
    const lease = await acquire(store, sessionLease('nope'))
    await assert.rejects(sessions.create({ id: 's1', agentId: 'main', title: '' }), hasCode('CONFLICT'))
    assert.equal(await sessions.get('nope'), undefined)
    await assert.rejects(sessions.messages('nope'), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(sessions.append('nope', [], lease), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(sessions.update('nope', {}, lease), hasCode('INVALID_ARGUMENT'))
  })

  it('removes a session with what belongs to it, but no call, and gives no number of a message again', async () => {
    const store = await open()
    const lease = await openSession(store, 's1')
    const numbers = async () => (await store.events.after(0)).map(({ references }) => references['lastMessage'])
    await store.sessions.append('s1', [{ role: 'user' }, { role: 'assistant' }], lease)
    const last = (await numbers()).at(-1)
    const { id } = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease })
    await store.turns.take('s1', lease)
    await store.ledger.record({ call: call(store, 'c1', { sessionId: 's1' }), decision: ALLOW, lease })
    await assert.rejects(store.sessions.remove('s1'), hasCode('CONFLICT', /runs or waits/))
    await store.ledger.close('c1', succeeded(''), { lease })
    await store.turns.finish(id, lease, { state: 'done' })
    const digest = '0'.repeat(64)
    await store.blobs.add({ id: 'b1', digest, bytes: 1, name: 'stdout', isCut: false, sessionId: 's1' })
    await store.sessions.remove('s1')
    assert.deepEqual(
      [await store.sessions.get('s1'), await store.turns.get(id), await store.blobs.count(digest)],
      [undefined, undefined, 0],
    )
    assert.equal((await store.ledger.get('c1'))?.state, 'done')
    await assert.rejects(store.sessions.remove('s1'), hasCode('INVALID_ARGUMENT'))
    await store.sessions.create({ id: 's1', agentId: 'main', title: '' })
    assert.deepEqual(await store.sessions.messages('s1'), [])
    await store.sessions.append('s1', [{ role: 'user' }], lease)
    assert.ok(Number((await numbers()).at(-1)) > Number(last))
  })

  it('keeps all sessions and calls but those beyond the limits, the oldest first', async () => {
    const store = await open()
    const lease = await acquire(store, 'process:one')
    const made: string[] = []
    for (let index = 0; index < 25; index++) {
      const id = `s${index}`
      made.push(id)
      await store.sessions.create({ id, agentId: 'main', title: '' })
      await store.ledger.record({ call: call(store, id, { sessionId: id }), decision: ALLOW, lease })
      await store.ledger.close(id, succeeded(''), { lease })
    }
    await store.turns.enqueue({ sessionId: 's0', message: { role: 'user' }, lease })
    await acquire(store, sessionLease('s1'))
    await store.ledger.record({ call: call(store, 'open'), decision: ALLOW, lease })
    await clock.advance(1_000)
    await store.sessions.create({ id: 'new', agentId: 'main', title: '' })
    const { id } = (await store.events.after(0))[3] ?? { id: 0 }
    assert.deepEqual(await store.retain({}), { sessions: 0, calls: 0, isMore: false })
    const sessions = { maxAgeMs: 999 }
    assert.deepEqual(await store.retain({ sessions: { maxAgeMs: 5_000, maxRows: 26 }, ledger: { maxRows: 26 } }), {
      sessions: 0,
      calls: 0,
      isMore: false,
    })
    assert.ok((await store.events.after(id)).length > 0, 'no event was removed')
    assert.deepEqual(await store.retain({ sessions }), { sessions: 23, calls: 0, isMore: false })
    const left = (await store.sessions.list()).map((session) => session.id)
    assert.deepEqual(left.toSorted(), ['new', 's0', 's1'], 'one waits, one has an owner')
    assert.equal((await store.retain({ ledger: { maxRows: 3 } })).calls, 23)
    const calls = async () => (await store.ledger.list()).map((entry) => entry.call.id)
    assert.deepEqual(await calls(), [...made.slice(23), 'open'])
    await assert.rejects(store.events.after(id), hasCode('CONFLICT', /were removed/))
    assert.equal((await store.retain({ ledger: { maxAgeMs: 0, maxRows: 0 } })).calls, 2)
    assert.deepEqual(await calls(), ['open'], 'a call that runs stays')
    assert.equal((await store.retain({ sessions: { maxRows: 1 } })).sessions, 0)
    await assert.rejects(store.retain({ ledger: { maxRows: -1 } }), hasCode('INVALID_ARGUMENT'))
  })

  it('gives lists in parts: rows that came meanwhile are in no later part', async () => {
    const store = await open()
    const lease = await acquire(store, 'process:one')
    const ids = ['s1', 's2', 's3', 's4', 's5']
    for (const id of ids) {
      await store.sessions.create({ id, agentId: 'main', title: '' })
      await store.ledger.record({ call: call(store, id), decision: ALLOW, lease })
      await store.turns.enqueue({ sessionId: 's1', requestId: id, message: { role: 'user' }, lease })
      if (id !== 's3') await clock.advance(1)
    }
    const first = await store.sessions.list({ limit: 2 })
    await store.sessions.create({ id: 'new', agentId: 'main', title: '' })
    const rest = await store.sessions.list({ after: first.at(-1) })
    assert.deepEqual(
      [...first, ...rest].map(({ id }) => id),
      ids.toReversed(),
    )
    const calls = await store.ledger.list({ limit: 2 })
    const earlier = await store.ledger.list({ before: calls[0]?.call.id })
    assert.deepEqual(
      [...earlier, ...calls].map((entry) => entry.call.id),
      ids,
    )
    const turns = await store.turns.list({ limit: 2 })
    assert.deepEqual(
      (await store.turns.list({ before: turns[0]?.id, limit: 2 })).map(({ requestId }) => requestId),
      ['s2', 's3'],
    )
    assert.deepEqual(await store.ledger.list({ before: 'gone' }), [])
    assert.deepEqual(await store.approvals.list({ before: 'gone' }), [])
  })

  it('lists the session used last first', async () => {
    const store = await open()
    const { sessions } = store
    for (const id of ['a', 'b', 'c']) await sessions.create({ id, agentId: 'main', title: id })
    const ids = async (limit?: number) =>
      (await sessions.list(limit === undefined ? {} : { limit })).map(({ id }) => id)
    assert.deepEqual(await ids(), ['c', 'b', 'a'])
    await clock.advance(10)
    await sessions.append('a', [{ role: 'user', content: 'again' }], await acquire(store, sessionLease('a')))
    assert.deepEqual(await ids(), ['a', 'c', 'b'])
    assert.deepEqual(await ids(1), ['a'])
  })

  it('lists those that were started in one scope', async () => {
    const { sessions } = await open()
    const scope = '/work/a "b"\u0000'
    const here = await sessions.create({ id: 'here', agentId: 'main', title: '', scope })
    await sessions.create({ id: 'there', agentId: 'main', title: '', scope: '/work' })
    await sessions.create({ id: 'before', agentId: 'main', title: '' })
    assert.deepEqual(await sessions.list({ scope }), [here])
    assert.equal(here.scope, scope)
    assert.equal((await sessions.get('before'))?.scope, undefined)
    assert.equal((await sessions.list()).length, 3)
    assert.deepEqual(await sessions.list({ scope: '/' }), [])
  })

  it('changes snapshot and loaded skills, each only when given', async () => {
    const store = await open()
    const { sessions } = store
    const lease = await openSession(store)
    const loaded = [{ address: 'local/pdf', name: 'pdf', baseDir: '/pdf', treeDigest: 'sha256:00' }]
    await sessions.update('s1', { snapshot: { skills: ['a'] } }, lease)
    await sessions.update('s1', { loaded }, lease)
    const kept = await sessions.update('s1', {}, lease)
    assert.deepEqual([kept.snapshot, kept.loaded], [{ skills: ['a'] }, loaded])
  })
}

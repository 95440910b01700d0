import assert from 'node:assert/strict'
import { it } from 'node:test'
import { succeeded } from '../../kernel/index.ts'
import { type Advance, ALLOW, call, hasCode, type Open, openSession, TTL_MS } from './rig.ts'

export function isolationTests(open: Open, clock: Advance): void {
  it('keeps two projects apart, also with the same ids', async () => {
    const [one, two] = [await open(), await open()]
    const [lease, other] = [await openSession(one, 's'), await openSession(two, 's')]
    for (const [store, its] of [
      [one, lease],
      [two, other],
    ] as const) {
      await store.sessions.append('s', [{ role: 'user', content: store.projectId }], its)
      await store.ledger.record({ call: call(store, 'c', { sessionId: 's' }), decision: ALLOW, lease: its })
    }
    await one.ledger.close('c', succeeded('one'), { lease })
    await one.sessions.update('s', { snapshot: { skills: [] } }, lease)
    assert.equal((await two.ledger.get('c'))?.state, 'started')
    assert.equal((await two.sessions.get('s'))?.snapshot, undefined)
    assert.deepEqual(await two.sessions.messages('s'), [{ role: 'user', content: two.projectId }])
    await one.sessions.create({ id: 'only-one', agentId: 'main', title: '' })
    await assert.rejects(two.sessions.messages('only-one'), hasCode('INVALID_ARGUMENT'))
    assert.equal((await two.ledger.list()).length, 1)
    assert.equal((await two.sessions.list()).length, 1)
    await clock.advance(TTL_MS)
    assert.equal((await one.reclaim()).calls, 0)
    assert.equal((await two.ledger.get('c'))?.state, 'started')
    assert.equal((await two.reclaim()).calls, 1)
  })
}

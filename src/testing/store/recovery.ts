import assert from 'node:assert/strict'
import { it } from 'node:test'
import { succeeded } from '../../kernel/index.ts'
import { ALLOW, call, hasCode, type Open } from './rig.ts'

const NOBODY_LIVES = (): boolean => false
const ALL_LIVE = (): boolean => true

export function recoveryTests(open: Open): void {
  it('closes the open calls of dead owners as interrupted and sets their sessions idle', async () => {
    const store = await open()
    await store.sessions.create({ id: 'dead', agentId: 'main', title: '' })
    await store.sessions.create({ id: 'alive', agentId: 'main', title: '' })
    await store.sessions.update('dead', { state: 'running', owner: 'gone' })
    await store.sessions.update('alive', { state: 'running', owner: 'here' })
    for (const sessionId of ['dead', 'alive']) {
      await store.ledger.open(call(store, `${sessionId}-open`, { sessionId }), ALLOW)
      await store.ledger.open(call(store, `${sessionId}-closed`, { sessionId }), ALLOW)
      await store.ledger.close(`${sessionId}-closed`, succeeded('done'))
    }
    assert.equal(await store.recover((owner) => owner === 'here'), 1)
    const cut = await store.ledger.get('dead-open')
    assert.equal(cut?.state, 'interrupted')
    assert.deepEqual(cut?.outcome, { type: 'failed', code: 'INTERRUPTED', message: 'interrupted: outcome unknown' })
    assert.equal((await store.ledger.get('alive-open'))?.state, 'started')
    assert.equal((await store.ledger.get('dead-closed'))?.state, 'done')
    assert.equal((await store.sessions.get('dead'))?.state, 'idle')
    assert.equal((await store.sessions.get('dead'))?.owner, undefined)
    assert.equal((await store.sessions.get('alive'))?.state, 'running')
    assert.equal(await store.recover((owner) => owner === 'here'), 0)
  })

  it('judges a call outside a running turn by the process that opened it', async () => {
    const store = await open()
    await store.ledger.open(call(store, 'c1'), ALLOW)
    assert.equal(await store.recover(ALL_LIVE), 0)
    assert.equal(await store.recover(NOBODY_LIVES), 1)
    assert.equal((await store.ledger.get('c1'))?.state, 'interrupted')
  })

  it('never takes an interrupted call back', async () => {
    const store = await open()
    await store.ledger.open(call(store, 'c1'), ALLOW)
    await store.recover(NOBODY_LIVES)
    assert.equal((await store.ledger.close('c1', succeeded('late'))).state, 'interrupted')
  })
}

export function isolationTests(open: Open): void {
  it('keeps two projects apart, also with the same ids', async () => {
    const [one, two] = [await open(), await open()]
    for (const store of [one, two]) {
      await store.sessions.create({ id: 's', agentId: 'main', title: store.projectId })
      await store.sessions.append('s', [{ role: 'user', content: store.projectId }])
      await store.ledger.open(call(store, 'c', { sessionId: 's' }), ALLOW)
    }
    await one.ledger.close('c', succeeded('one'))
    await one.sessions.update('s', { state: 'running', owner: 'x' })
    assert.equal((await two.ledger.get('c'))?.state, 'started')
    assert.equal((await two.sessions.get('s'))?.state, 'idle')
    assert.equal((await two.sessions.get('s'))?.title, two.projectId)
    assert.deepEqual(await two.sessions.messages('s'), [{ role: 'user', content: two.projectId }])
    await one.sessions.create({ id: 'only-one', agentId: 'main', title: '' })
    await assert.rejects(two.sessions.messages('only-one'), hasCode('INVALID_ARGUMENT'))
    assert.equal(await one.recover(NOBODY_LIVES), 0)
    assert.equal((await two.ledger.get('c'))?.state, 'started')
    assert.equal((await two.ledger.list()).length, 1)
    assert.equal((await two.sessions.list()).length, 1)
  })
}

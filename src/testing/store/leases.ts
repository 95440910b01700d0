import assert from 'node:assert/strict'
import { it } from 'node:test'
import { succeeded } from '../../kernel/index.ts'
import { type Lease, sessionLease } from '../../store/index.ts'
import { acquire, type Advance, ALLOW, ASK, call, hasCode, type Open, openSession, TTL_MS } from './rig.ts'

const APPROVAL = { command: 'ls', ttlMs: 60_000 }

export function leaseTests(open: Open, clock: Advance): void {
  it('gives a lease to one owner until it is released or its time is over', async () => {
    const { leases } = await open()
    const first = await leases.acquire('x', { owner: 'one', ttlMs: TTL_MS })
    assert.ok(first.type === 'acquired')
    assert.equal(first.lease.owner, 'one')
    const taken = await leases.acquire('x', { owner: 'two', ttlMs: TTL_MS })
    assert.deepEqual(taken, { type: 'taken', by: first.lease })
    assert.equal((await leases.acquire('x', { owner: 'one', ttlMs: TTL_MS })).type, 'taken')
    await leases.release(first.lease)
    assert.equal(await leases.get('x'), undefined)
    const second = await leases.acquire('x', { owner: 'two', ttlMs: TTL_MS })
    assert.ok(second.type === 'acquired')
    await clock.advance(TTL_MS - 1)
    assert.equal((await leases.acquire('x', { owner: 'three', ttlMs: TTL_MS })).type, 'taken')
    await clock.advance(1)
    assert.equal((await leases.acquire('x', { owner: 'three', ttlMs: TTL_MS })).type, 'acquired')
  })

  it('numbers acquisitions upwards, also after a release', async () => {
    const store = await open()
    const fences: number[] = []
    for (let round = 0; round < 4; round++) {
      const lease = await acquire(store, 'x')
      fences.push(lease.fence)
      if (round % 2) await store.leases.release(lease)
      else await clock.advance(TTL_MS)
    }
    assert.deepEqual(
      fences,
      [...new Set(fences)].toSorted((a, b) => a - b),
    )
  })

  it('lets a heartbeat go on, also after the time when no other acquired it', async () => {
    const store = await open()
    const lease = await acquire(store, 'x')
    await clock.advance(TTL_MS - 1)
    const renewed = await store.leases.renew(lease, TTL_MS)
    assert.equal(renewed.fence, lease.fence)
    assert.ok(renewed.expiresAt > lease.expiresAt)
    await clock.advance(TTL_MS - 1)
    assert.equal((await store.leases.acquire('x', { owner: 'two', ttlMs: TTL_MS })).type, 'taken')
    await clock.advance(TTL_MS)
    await store.leases.renew(lease, TTL_MS)
    assert.equal((await store.leases.acquire('x', { owner: 'two', ttlMs: TTL_MS })).type, 'taken')
  })

  it('keeps a lease under that of a process while that has its heartbeat, and ends both together', async () => {
    const store = await open()
    const under = await acquire(store, 'process:one')
    const take = (name: string, owner: string) => store.leases.acquire(name, { owner, under })
    const held = await take(sessionLease('s1'), 'one')
    assert.ok(held.type === 'acquired')
    await store.sessions.create({ id: 's1', agentId: 'main', title: '' })
    await clock.advance(TTL_MS - 1)
    const renewed = await store.leases.renew(under, TTL_MS)
    await clock.advance(TTL_MS - 1)
    assert.equal((await store.leases.get(sessionLease('s1')))?.expiresAt, renewed.expiresAt)
    assert.equal((await store.leases.acquire(sessionLease('s1'), { owner: 'two', ttlMs: TTL_MS })).type, 'taken')
    await store.sessions.append('s1', [{ role: 'user' }], held.lease)
    await clock.advance(1)
    const before = await store.events.last()
    await store.reclaim()
    assert.deepEqual(
      (await store.events.after(before)).map(({ type, sessionId }) => [type, sessionId]),
      [['session.released', 's1']],
    )
    await assert.rejects(store.sessions.append('s1', [], held.lease), hasCode('LEASE_LOST'))
    await assert.rejects(take('more', 'one'), hasCode('LEASE_LOST'))
    const again = await acquire(store, 'process:one')
    const other = await store.leases.acquire('x', { owner: 'one', under: again })
    await store.leases.release(again)
    assert.ok(other.type === 'acquired')
    assert.equal(await store.leases.get('x'), undefined)
  })

  it('refuses every write of a stale owner, and names the present one', async () => {
    const store = await open()
    const stale = await openSession(store)
    await store.ledger.record({ call: call(store, 'c1'), decision: ALLOW, lease: stale })
    const process = await acquire(store, 'process:one')
    const { id } = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease: process })
    await clock.advance(TTL_MS)
    const present = await acquire(store, sessionLease('s1'), 'two')
    const writes: Record<string, (lease: Lease) => Promise<unknown>> = {
      append: (lease) => store.sessions.append('s1', [{ role: 'user', content: 'late' }], lease),
      appendNothing: (lease) => store.sessions.append('s1', [], lease),
      update: (lease) => store.sessions.update('s1', { loaded: [] }, lease),
      record: (lease) => store.ledger.record({ call: call(store, 'c2'), decision: ALLOW, lease }),
      ask: (lease) => store.ledger.record({ call: call(store, 'c3'), decision: ASK, approval: APPROVAL, lease }),
      start: (lease) => store.ledger.start('c1', ALLOW, lease),
      close: (lease) => store.ledger.close('c1', succeeded('late'), { lease }),
      take: (lease) => store.turns.take('s1', lease),
      finish: (lease) => store.turns.finish(id, lease, { state: 'done' }),
      enqueue: (lease) => store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease }),
      renew: (lease) => store.leases.renew(lease, TTL_MS),
    }
    const before = await store.events.last()
    for (const [name, write] of Object.entries(writes))
      await assert.rejects(write(stale), hasCode('LEASE_LOST', /two owns it now/), name)
    await store.leases.release(stale)
    assert.deepEqual(await store.leases.get(sessionLease('s1')), present)
    assert.equal(await store.events.last(), before, 'a refused write left an event')
    assert.deepEqual(await store.sessions.messages('s1'), [])
    assert.deepEqual(await store.approvals.list(), [])
    const cut = await store.ledger.get('c1')
    const unknown = { type: 'failed', code: 'INTERRUPTED', message: 'interrupted: outcome unknown' }
    assert.deepEqual([cut?.state, cut?.outcome], ['interrupted', unknown])
    assert.equal(await store.ledger.get('c2'), undefined)
    await store.sessions.append('s1', [{ role: 'user', content: 'now' }], present)
  })

  it('refuses the lease of another session', async () => {
    const store = await open()
    await openSession(store, 's1')
    const other = await openSession(store, 's2')
    await assert.rejects(store.sessions.append('s1', [], other), hasCode('INVALID_ARGUMENT', /session:s1/))
    await assert.rejects(store.turns.take('s1', other), hasCode('INVALID_ARGUMENT', /session:s1/))
  })

  it('lets one owner close neither the call nor the turn of another', async () => {
    const store = await open()
    const [one, two] = [await acquire(store, 'process:one'), await acquire(store, 'process:two', 'two')]
    await store.ledger.record({ call: call(store, 'c1'), decision: ALLOW, lease: one })
    await assert.rejects(store.ledger.close('c1', succeeded('x'), { lease: two }), hasCode('CONFLICT', /another lease/))
    assert.equal((await store.ledger.get('c1'))?.state, 'started')
    assert.equal((await store.ledger.close('c1', succeeded('x'), { lease: one })).state, 'done')
    const session = await openSession(store)
    const { id } = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease: one })
    await store.turns.take('s1', session)
    await assert.rejects(store.turns.finish(id, one, { state: 'done' }), hasCode('CONFLICT', /another lease/))
  })

  it('closes what an owner left when its time is over, and only that', async () => {
    const store = await open()
    const gone = await openSession(store, 's1')
    const message = { role: 'user' }
    const running = await store.turns.enqueue({ sessionId: 's1', message, lease: gone })
    const waiting = await store.turns.enqueue({ sessionId: 's1', message, lease: gone })
    await store.turns.take('s1', gone)
    await store.ledger.record({ call: call(store, 'started', { sessionId: 's1' }), decision: ALLOW, lease: gone })
    await store.ledger.record({ call: call(store, 'asked'), decision: ASK, approval: APPROVAL, lease: gone })
    const nothing = { calls: 0, turns: 0, approvals: 0 }
    assert.deepEqual(await store.reclaim(), nothing)
    await clock.advance(TTL_MS)
    const living = await store.leases.acquire('process:two', { owner: 'two', ttlMs: TTL_MS })
    assert.ok(living.type === 'acquired')
    await store.ledger.record({ call: call(store, 'living'), decision: ALLOW, lease: living.lease })
    assert.deepEqual(await store.reclaim(), nothing, 'acquire has closed them')
    assert.deepEqual(
      (await store.ledger.list()).map(({ call: { id }, state, outcome }) => [id, state, outcome?.type]),
      [
        ['started', 'interrupted', 'failed'],
        ['asked', 'not run', 'failed'],
        ['living', 'started', undefined],
      ],
    )
    assert.deepEqual(
      (await store.turns.list()).map(({ id, state, isLeft }) => [id, state, isLeft]),
      [
        [running.id, 'interrupted', false],
        [waiting.id, 'queued', true],
      ],
    )
    assert.equal((await store.approvals.list())[0]?.state, 'not run')
    await clock.advance(TTL_MS)
    assert.deepEqual(await store.reclaim(), { ...nothing, calls: 1 })
  })
}

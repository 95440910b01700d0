import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { succeeded } from '../../kernel/index.ts'
import { sessionLease, type StoredEvent } from '../../store/index.ts'
import { acquire, type Advance, ALLOW, ASK, call, hasCode, type Open, openSession } from './rig.ts'

const APPROVAL = { id: 'a1', command: 'ls', canRemember: true, ttlMs: 60_000 }
const words = (events: readonly StoredEvent[]) => events.map(({ type }) => type)

export function eventTests(open: Open, clock: Advance): void {
  it('writes an event for every change, with references to its rows', async () => {
    const store = await open()
    const live: StoredEvent[] = []
    const stop = await store.events.follow((event) => event && live.push(event))
    await store.sessions.create({ id: 's1', agentId: 'main', title: '' })
    const lease = await acquire(store, sessionLease('s1'))
    const { id: turnId } = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease })
    await store.turns.take('s1', lease)
    await store.sessions.append('s1', [{ role: 'user', content: 'secret' }], lease)
    const about = { sessionId: 's1', turnId }
    await store.ledger.record({ call: call(store, 'c1', about), decision: ASK, approval: APPROVAL, lease })
    await store.approvals.answer('a1', { isAllowed: true, by: 'ann', kind: 'person', remember: 'exact' })
    await store.ledger.start('c1', ALLOW, lease)
    await store.ledger.close('c1', succeeded('secret'), { lease })
    await store.sessions.update('s1', { loaded: [] }, lease)
    await store.turns.cancel(turnId)
    await store.turns.finish(turnId, lease, { state: 'cancelled' })
    const events = await store.events.after(0)
    assert.deepEqual(words(events), [
      'session.created',
      'turn.queued',
      'turn.running',
      'session.messages',
      'call.decided',
      'call.asked',
      'approval.open',
      'approval.allowed',
      'call.answered',
      'approval.remembered',
      'call.decided',
      'call.started',
      'call.done',
      'session.updated',
      'turn.cancel-requested',
      'turn.cancelled',
    ])
    for (let looks = 0; live.length < events.length && looks < 1_000; looks++) await delay(5)
    assert.deepEqual(live, events)
    for (const { type, agentId, sessionId } of events)
      assert.deepEqual(
        [agentId, sessionId],
        type === 'approval.remembered' ? [undefined, undefined] : ['main', 's1'],
        type,
      )
    stop()
    assert.deepEqual(events[4]?.references, { callId: 'c1', turnId, verdict: 'ask', rule: ASK.rule })
    const asked = events[5]
    assert.deepEqual(asked, {
      id: asked?.id,
      projectId: store.projectId,
      at: asked?.at,
      type: 'call.asked',
      agentId: 'main',
      sessionId: 's1',
      references: { callId: 'c1', turnId },
    })
    assert.ok(!JSON.stringify(events).includes('secret'))
    await store.sessions.create({ id: 's2', agentId: 'main', title: '' })
    assert.equal(live.length, events.length)
  })

  it('names each skill that a session loads, and that it sees others, once', async () => {
    const store = await open()
    const lease = await openSession(store)
    const before = await store.events.last()
    const pdf = { address: 'local/pdf', name: 'pdf', baseDir: '/pdf', treeDigest: 'sha256:00' }
    const csv = { ...pdf, address: 'local/csv', name: 'csv' }
    await store.sessions.update('s1', { loaded: [pdf], snapshot: { version: 'one' } }, lease)
    await store.sessions.update('s1', { loaded: [pdf, csv], snapshot: { version: 'two' } }, lease)
    await store.sessions.update('s1', { snapshot: { version: 'two' } }, lease)
    assert.deepEqual(
      (await store.events.after(before)).map(({ type, references }) => [type, references]),
      [
        ['skill.loaded', { skill: 'local/pdf', treeDigest: 'sha256:00' }],
        ['session.updated', {}],
        ['skill.loaded', { skill: 'local/csv', treeDigest: 'sha256:00' }],
        ['skills.changed', { version: 'two' }],
        ['session.updated', {}],
        ['session.updated', {}],
      ],
    )
  })

  it('replays after an id, by session and with a limit', async () => {
    const store = await open()
    for (const id of ['s1', 's2', 's3']) await store.sessions.create({ id, agentId: 'main', title: '' })
    const all = await store.events.after(0)
    assert.deepEqual(await store.events.after(all[0]?.id ?? 0), all.slice(1))
    assert.deepEqual(await store.events.after(0, { limit: 2 }), all.slice(0, 2))
    assert.deepEqual(await store.events.after(0, { sessionId: 's2' }), [all[1]])
    assert.equal(await store.events.last(), all[2]?.id)
    assert.deepEqual(await store.events.after(await store.events.last()), [])
  })

  it('takes events of other rooms and refuses a type that is none', async () => {
    const store = await open()
    const event = await store.events.append({ type: 'skill.changed', references: { skill: 'pdf \u0000' } })
    assert.deepEqual(await store.events.after(0), [event])
    await assert.rejects(store.events.append({ type: 'Changed!' }), hasCode('INVALID_ARGUMENT', /Changed!/))
  })

  it('shows a reader every event once, in order, while many write', async () => {
    const store = await open()
    const seen: StoredEvent[] = []
    let isWriting = true
    const reader = (async () => {
      for (let isLast = false; !isLast;) {
        isLast = !isWriting
        seen.push(...(await store.events.after(seen.at(-1)?.id ?? 0, { limit: 7 })))
        if (isLast && seen.length < 60) isLast = false
        await new Promise(setImmediate)
      }
    })()
    const write = (index: number) => store.sessions.create({ id: `s${index}`, agentId: 'main', title: '' })
    await Promise.all(Array.from({ length: 60 }, (_, index) => write(index)))
    isWriting = false
    await reader
    assert.equal(new Set(seen.map(({ id }) => id)).size, 60)
    assert.deepEqual(seen, await store.events.after(0))
  })

  it('is bounded by age and size, and never gives an id twice', async () => {
    const store = await open()
    for (const id of ['s1', 's2']) await store.sessions.create({ id, agentId: 'main', title: '' })
    await clock.advance(100)
    for (const id of ['s3', 's4', 's5']) await store.sessions.create({ id, agentId: 'main', title: '' })
    const before = await store.events.after(0)
    assert.equal(await store.events.trim({ maxAgeMs: 99 }), 2)
    assert.equal(await store.events.trim({ maxRows: 2 }), 1)
    assert.deepEqual(await store.events.after(0), before.slice(3))
    await clock.advance(100)
    assert.equal(await store.events.trim({ maxAgeMs: 0, maxRows: 0 }), 1)
    assert.deepEqual(await store.events.after(0), before.slice(4), 'the newest stays')
    const [first, last] = [before[0]?.id ?? 0, before[3]?.id ?? 0]
    await assert.rejects(store.events.after(first), hasCode('CONFLICT', new RegExp(`up to ${last} were removed`)))
    assert.deepEqual(await store.events.after(last), before.slice(4), 'nothing after it was removed')
    await store.sessions.create({ id: 's6', agentId: 'main', title: '' })
    const [, next] = await store.events.after(0)
    assert.ok((next?.id ?? 0) > (before.at(-1)?.id ?? 0))
    await assert.rejects(store.events.trim({ maxRows: -1 }), hasCode('INVALID_ARGUMENT'))
  })
}

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { succeeded } from '../../kernel/index.ts'
import { type Lease, sessionLease, type Store } from '../../store/index.ts'
import { acquire, type Advance, ALLOW, ASK, call, hasCode, type Open, openSession, TTL_MS } from './rig.ts'

const TOKENS = { inputTokens: 5, outputTokens: 2, totalTokens: 7 }
const APPROVAL = { command: 'make', ttlMs: TTL_MS * 10, waitingTtlMs: TTL_MS * 50 }

export function waitingTests(open: Open, clock: Advance): void {
  /** A turn of `s1` that asked about a call, whose owner is gone. */
  const leaveAsking = async (store: Store, more: readonly string[] = []): Promise<{ turnId: string; gone: Lease }> => {
    const gone = await openSession(store)
    const { id: turnId } = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease: gone })
    await store.turns.take('s1', gone)
    const message = { role: 'assistant', content: 'calls' }
    await store.turns.step(turnId, gone, { message, tokens: TOKENS, hiddenCalls: ['h'] })
    const about = { sessionId: 's1', turnId, origin: 'model' as const }
    await store.ledger.record({ call: call(store, 'c1', about), decision: ASK, approval: APPROVAL, lease: gone })
    for (const id of more) await store.ledger.record({ call: call(store, id, about), decision: ALLOW, lease: gone })
    await clock.advance(TTL_MS)
    return { turnId, gone }
  }

  it('keeps the questions of a turn whose owner is gone; the next owner goes on with its calls, once', async () => {
    const store = await open()
    const { turnId, gone } = await leaveAsking(store)
    assert.deepEqual(await store.reclaim(), { calls: 0, turns: 1, approvals: 0 })
    const waiting = await store.turns.get(turnId)
    assert.deepEqual([waiting?.state, waiting?.endedAt, waiting?.isLeft], ['waiting', undefined, false])
    assert.deepEqual([waiting?.use, waiting?.hiddenCalls], [{ steps: 1, ...TOKENS }, ['h']])
    const [question] = await store.approvals.list({ sessionId: 's1', states: ['open'] })
    assert.ok(question)
    // It has its longer time from now on.
    await clock.advance(TTL_MS * 20)
    assert.equal(await store.approvals.expire(), 0)
    const answer = { isAllowed: true, by: 'ada', kind: 'key' } as const
    const answers = await Promise.all([
      store.approvals.answer(question.id, answer),
      store.approvals.answer(question.id, answer),
    ])
    assert.deepEqual(answers.map(({ isApplied }) => isApplied).sort(), [false, true])
    assert.deepEqual([answers[0]?.approval.answeredBy, answers[0]?.approval.answeredKind], ['ada', 'key'])
    assert.equal((await store.turns.get(turnId))?.state, 'waiting', 'nothing runs by the answer alone')
    const owner = await acquire(store, sessionLease('s1'), 'two')
    const other = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease: owner })
    assert.equal(await store.turns.take('s1', owner, { id: other.id }), undefined, 'it has its place')
    assert.equal(await store.turns.take('s1', owner), undefined)
    assert.equal((await store.turns.take('s1', owner, { id: turnId }))?.state, 'running')
    await assert.rejects(store.ledger.start('c1', ALLOW, gone), hasCode('LEASE_LOST'))
    assert.equal((await store.ledger.start('c1', ALLOW, owner)).state, 'started')
    assert.equal((await store.ledger.close('c1', succeeded('ok'), { lease: owner })).state, 'done')
    const message = { role: 'assistant', content: 'again' }
    const { use } = await store.turns.step(turnId, owner, { message, tokens: TOKENS })
    assert.deepEqual(use, { steps: 2, inputTokens: 10, outputTokens: 4, totalTokens: 14 })
    await assert.rejects(store.turns.step(turnId, gone, { message, tokens: TOKENS }), hasCode('LEASE_LOST'))
    assert.equal((await store.turns.finish(turnId, owner, { state: 'done' })).state, 'done')
    assert.equal((await store.turns.take('s1', owner))?.id, other.id)
  })

  it('interrupts a turn whose call had begun, and one that nobody was asked about', async () => {
    const store = await open()
    const { turnId } = await leaveAsking(store, ['c2'])
    assert.deepEqual(await store.reclaim(), { calls: 2, turns: 1, approvals: 1 })
    const { state, away, startedAt = 0, endedAt = 0 } = (await store.turns.get(turnId)) ?? {}
    assert.equal(state, 'interrupted')
    assert.deepEqual([away, endedAt - startedAt >= TTL_MS], [[[startedAt]], true], 'when it ended is not known')
    const states = (await store.ledger.list({ turnId })).map(({ call: { id }, state }) => `${id} ${state}`)
    assert.deepEqual(states, ['c1 not run', 'c2 interrupted'])
  })

  it('lets a turn wait whose call can be made again, and the next owner closes it; cancelled, it takes along what the call sent', async () => {
    const store = await open()
    const { turnId } = await leaveAsking(store)
    const lease = await acquire(store, sessionLease('s1'), 'two')
    assert.equal((await store.turns.take('s1', lease, { id: turnId }))?.state, 'running')
    const about = { sessionId: 's1', turnId, origin: 'model' as const }
    const made = { call: call(store, 'again', about), decision: ALLOW, isIdempotent: true }
    assert.equal((await store.ledger.record({ ...made, lease })).state, 'started')
    await clock.advance(TTL_MS)
    assert.deepEqual(await store.reclaim(), { calls: 0, turns: 1, approvals: 0 })
    assert.equal((await store.ledger.get('again'))?.state, 'started')
    const owner = await acquire(store, sessionLease('s1'), 'three')
    assert.equal((await store.turns.take('s1', owner, { id: turnId }))?.state, 'running')
    const closed = await store.ledger.close('again', succeeded('ok'), { lease: owner })
    assert.equal(closed.state, 'done')
    // Another one, with the message that it sent.
    await store.ledger.record({ ...made, call: call(store, 'later', about), lease: owner })
    await store.sessions.create({ id: 'below', agentId: 'main', title: '' })
    const message = { role: 'user' }
    const sent = await store.turns.enqueue({ sessionId: 'below', message, lease: owner, requestId: 'later' })
    await clock.advance(TTL_MS)
    await store.reclaim()
    const { state, away = [], startedAt = 0 } = await store.turns.cancel(turnId)
    assert.equal(state, 'cancelled')
    // From what each owner wrote last until the next one took it.
    const times = away.map((each) => each.map((at = 0) => Math.round((at - startedAt) / TTL_MS)))
    assert.deepEqual(times, [[0, 1], [1, 2], [2]])
    assert.equal((await store.ledger.get('later'))?.state, 'interrupted')
    assert.equal((await store.turns.get(sent.id))?.state, 'cancelled')
  })

  it('cancels a turn that waits, with its questions', async () => {
    const store = await open()
    const { turnId } = await leaveAsking(store)
    await store.reclaim()
    assert.equal((await store.turns.cancel(turnId)).state, 'cancelled')
    assert.equal((await store.ledger.get('c1'))?.state, 'not run')
    assert.deepEqual(
      (await store.approvals.list()).map(({ state }) => state),
      ['not run'],
    )
  })

  it('writes nothing where nothing is due', async () => {
    const store = await open()
    await leaveAsking(store)
    await store.reclaim()
    const before = await store.events.last()
    for (let count = 0; count < 3; count++)
      assert.deepEqual(await store.reclaim(), { calls: 0, turns: 0, approvals: 0 })
    assert.equal(await store.events.last(), before)
  })
}

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Lease, sessionLease, type Store, type TurnRecord } from '../../store/index.ts'
import { acquire, type Advance, ALLOW, ASK, call, DENY, hasCode, type Open, openSession, TTL_MS } from './rig.ts'
import { failed, succeeded } from '../../kernel/index.ts'

const NO_USE = { steps: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 }
const TOKENS = { inputTokens: 5, outputTokens: 2, totalTokens: 7 }
const APPROVAL = { command: 'make', ttlMs: TTL_MS * 10, waitingTtlMs: TTL_MS * 50 }

const idAndState = (turns: readonly TurnRecord[]) => turns.map(({ id, state }) => `${id} ${state}`)

export function turnTests(open: Open, clock: Advance): void {
  it('keeps a queued message, gives it out in order, and ends it once', async () => {
    const store = await open()
    const lease = await openSession(store)
    const message = { role: 'user', content: 'naïve \u0000 \ud800 🎉' }
    const queued = await store.turns.enqueue({ sessionId: 's1', requestId: 'r1', message, lease })
    const { id } = queued
    assert.match(id, /^[0-9a-f]{32}$/)
    assert.deepEqual(queued, {
      id,
      sessionId: 's1',
      requestId: 'r1',
      message,
      state: 'queued',
      isLeft: false,
      isCancelRequested: false,
      createdAt: queued.createdAt,
      use: NO_USE,
      hiddenCalls: [],
    })
    const other = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user', content: 'b' }, lease })
    assert.equal(other.requestId, undefined)
    assert.equal((await store.turns.take('s1', lease))?.id, id)
    await assert.rejects(store.turns.take('s1', lease), hasCode('CONFLICT', new RegExp(`running turn ${id}`)))
    const done = await store.turns.finish(id, lease, { state: 'done', result: { text: 'ok' } })
    assert.deepEqual([done.state, done.requestId, done.result], ['done', 'r1', { text: 'ok' }])
    assert.deepEqual(await store.turns.finish(id, lease, { state: 'cancelled' }), done)
    assert.equal((await store.turns.take('s1', lease))?.id, other.id)
    await store.turns.finish(other.id, lease, { state: 'cancelled' })
    assert.equal(await store.turns.take('s1', lease), undefined)
    assert.deepEqual(idAndState(await store.turns.list({ sessionId: 's1', states: ['done'] })), [`${id} done`])
    assert.deepEqual(idAndState(await store.turns.list({ limit: 1 })), [`${other.id} cancelled`])
    assert.deepEqual(await store.turns.list({ states: [] }), [])
  })

  it('takes the same message again as one, and refuses its request id for another of the session', async () => {
    const store = await open()
    const [lease, its] = [await openSession(store), await openSession(store, 's2')]
    const turn = { sessionId: 's1', requestId: 'req-1', message: { role: 'user', content: 'a' }, lease }
    const first = await store.turns.enqueue(turn)
    assert.deepEqual(await store.turns.enqueue(turn), first)
    const other = { ...turn, message: { role: 'user', content: 'b' } }
    await assert.rejects(store.turns.enqueue(other), hasCode('CONFLICT', /s1 has another message .*req-1/))
    assert.equal((await store.turns.list()).length, 1)
    const elsewhere = await store.turns.enqueue({ ...other, sessionId: 's2', lease: its })
    assert.deepEqual([elsewhere.sessionId, elsewhere.requestId], ['s2', 'req-1'])
    assert.notEqual(elsewhere.id, first.id)
  })

  it('refuses a message only when the queue is full', async () => {
    const store = await open()
    const lease = await openSession(store)
    const turn = { sessionId: 's1', message: { role: 'user' }, lease, limit: 2 }
    await store.turns.enqueue({ ...turn, requestId: 'a' })
    const { id } = await store.turns.enqueue({ ...turn, requestId: 'b' })
    await assert.rejects(store.turns.enqueue({ ...turn, requestId: 'c' }), hasCode('CONFLICT', /2 waiting/))
    assert.equal((await store.turns.enqueue({ ...turn, requestId: 'b' })).id, id)
    await store.turns.take('s1', lease)
    await store.turns.enqueue({ ...turn, requestId: 'c' })
    await assert.rejects(store.turns.enqueue({ ...turn, sessionId: 'nope' }), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(store.turns.enqueue({ ...turn, requestId: '' }), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(store.turns.enqueue({ ...turn, requestId: 'a\0b' }), hasCode('INVALID_ARGUMENT'))
  })

  it('takes messages although a full queue of an ended process was left, and keeps those', async () => {
    const store = await open()
    const dead = await acquire(store, 'process:dead')
    await store.sessions.create({ id: 's1', agentId: 'main', title: '' })
    const turn = { sessionId: 's1', message: { role: 'user' }, limit: 2 }
    for (let count = 0; count < 2; count++) await store.turns.enqueue({ ...turn, lease: dead })
    await clock.advance(TTL_MS)
    const lease = await acquire(store, 'process:one')
    for (let count = 0; count < 2; count++) await store.turns.enqueue({ ...turn, lease })
    await assert.rejects(store.turns.enqueue({ ...turn, lease }), hasCode('CONFLICT', /2 waiting/))
    assert.deepEqual(
      (await store.turns.list()).map(({ isLeft }) => isLeft),
      [true, true, false, false],
    )
  })

  it('cancels and drops a queued message, and asks the owner of a running one to stop', async () => {
    const store = await open()
    const lease = await openSession(store)
    const queue = async (): Promise<string> =>
      (await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease })).id
    const [a, b, c] = [await queue(), await queue(), await queue()]
    await store.turns.take('s1', lease)
    assert.equal((await store.turns.cancel(b)).state, 'cancelled')
    assert.equal((await store.turns.drop(c)).state, 'dropped')
    const asked = await store.turns.cancel(a)
    assert.deepEqual([asked.state, asked.isCancelRequested], ['running', true])
    assert.equal((await store.turns.drop(a)).state, 'running')
    assert.equal((await store.turns.drop(b)).state, 'cancelled')
    await store.turns.finish(a, lease, { state: 'cancelled' })
    assert.equal(await store.turns.take('s1', lease), undefined)
    await assert.rejects(store.turns.cancel('nope'), hasCode('INVALID_ARGUMENT'))
  })

  it('gives a process its own message when none of a living process came before', async () => {
    const store = await open()
    const [dead, one, two] = [
      await acquire(store, 'process:dead'),
      await acquire(store, 'process:one'),
      await acquire(store, 'process:two', 'two'),
    ]
    const lease = await openSession(store)
    const queue = async (from: Lease): Promise<string> =>
      (await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease: from })).id
    const [left, first, second] = [await queue(dead), await queue(one), await queue(two)]
    assert.equal(await store.turns.take('s1', lease, { id: first }), undefined, 'left is not left yet')
    await clock.advance(TTL_MS - 1)
    for (const from of [one, two, lease]) await store.leases.renew(from, TTL_MS)
    await clock.advance(1)
    assert.deepEqual(
      (await store.turns.list()).map(({ isLeft }) => isLeft),
      [true, false, false],
    )
    assert.equal(await store.turns.take('s1', lease, { id: second }), undefined)
    assert.equal((await store.turns.take('s1', lease, { id: first }))?.id, first)
    await store.turns.finish(first, lease, { state: 'done' })
    assert.equal((await store.turns.take('s1', lease))?.id, left, 'without an id the oldest is next')
  })

  it('keeps loaded skills with their revision', async () => {
    const store = await open()
    const lease = await openSession(store)
    const loaded = [{ address: 'local/pdf', name: 'pdf', baseDir: '/skills/pdf', treeDigest: 'sha256:00' }]
    const changed = await store.sessions.update('s1', { loaded }, lease)
    assert.deepEqual(changed.loaded, loaded)
    await store.sessions.update('s1', { snapshot: { skills: [] } }, lease)
    assert.deepEqual((await store.sessions.get('s1'))?.loaded, loaded)
  })

  it('adds messages to the history in the change that takes a turn, ends it, or ends a call, or not at all', async () => {
    const store = await open()
    const lease = await openSession(store)
    const said = (text: string) => [{ role: 'user', content: text }]
    const history = async () => (await store.sessions.messages('s1')).map(({ content }) => content)
    const { id } = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease })
    assert.equal((await store.turns.take('s1', lease, { messages: said('taken') }))?.id, id)
    const refused = failed('PERMISSION_DENIED', 'no')
    const [message] = said('refused')
    await store.ledger.record({
      call: call(store, 'c0', { sessionId: 's1' }),
      decision: DENY,
      lease,
      outcome: refused,
      message,
    })
    await store.ledger.record({ call: call(store, 'c1', { sessionId: 's1' }), decision: ALLOW, lease })
    const [answer] = said('answered')
    await store.ledger.close('c1', succeeded(''), { lease, message: answer })
    await store.ledger.close('c1', succeeded(''), { lease, message: answer })
    await store.turns.finish(id, lease, { state: 'done', messages: said('finished') })
    await store.turns.finish(id, lease, { state: 'done', messages: said('again') })
    assert.deepEqual(await history(), ['taken', 'refused', 'answered', 'finished'])
    const homeless = store.ledger.record({
      call: call(store, 'c2'),
      decision: DENY,
      lease,
      outcome: refused,
      message,
    })
    await assert.rejects(homeless, hasCode('INVALID_ARGUMENT', /no session/))
    assert.equal(await store.ledger.get('c2'), undefined)
  })

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
    const { use } = await store.turns.step(turnId, owner, { tokens: TOKENS })
    assert.deepEqual(use, { steps: 2, inputTokens: 10, outputTokens: 4, totalTokens: 14 })
    await assert.rejects(store.turns.step(turnId, gone, { tokens: TOKENS }), hasCode('LEASE_LOST'))
    assert.equal((await store.turns.finish(turnId, owner, { state: 'done' })).state, 'done')
    assert.equal((await store.turns.take('s1', owner))?.id, other.id)
  })

  it('interrupts a turn whose call had begun, and one that nobody was asked about', async () => {
    const store = await open()
    const { turnId } = await leaveAsking(store, ['c2'])
    assert.deepEqual(await store.reclaim(), { calls: 2, turns: 1, approvals: 1 })
    assert.equal((await store.turns.get(turnId))?.state, 'interrupted')
    const states = (await store.ledger.list({ turnId })).map(({ call: { id }, state }) => `${id} ${state}`)
    assert.deepEqual(states, ['c1 not run', 'c2 interrupted'])
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

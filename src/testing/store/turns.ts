import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Lease, sessionLease, type TurnRecord } from '../../store/index.ts'
import { acquire, type Advance, ALLOW, call, DENY, hasCode, type Open, openSession, TTL_MS } from './rig.ts'
import { failed, succeeded } from '../../kernel/index.ts'

const NO_USE = { steps: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 }

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
    assert.deepEqual([done.state, done.requestId, done.result, done.use], ['done', 'r1', { text: 'ok' }, NO_USE])
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

  it('lets whoever serves a session adopt what was left, once, in order and before later messages', async () => {
    const store = await open()
    const dead = await acquire(store, 'process:dead')
    await store.sessions.create({ id: 's1', agentId: 'main', title: '' })
    await store.sessions.create({ id: 's2', agentId: 'main', title: '' })
    const queue = async (lease: Lease, sessionId = 's1'): Promise<string> =>
      (await store.turns.enqueue({ sessionId, message: { role: 'user' }, lease })).id
    const left = [await queue(dead), await queue(dead), await queue(dead)]
    const elsewhere = await queue(dead, 's2')
    await store.turns.cancel(left[1] ?? '')
    await clock.advance(TTL_MS)
    const [one, two] = [await acquire(store, 'process:one'), await acquire(store, 'process:two', 'two')]
    const later = await queue(one)
    const ids = async (lease: Lease) => (await store.turns.adopt('s1', lease)).map(({ id }) => id)
    const both = await Promise.all([ids(one), ids(two)])
    assert.deepEqual(both.flat(), [left[0], left[2]])
    assert.ok(both.some((adopted) => adopted.length === 0))
    assert.deepEqual(await ids(two), [])
    await assert.rejects(store.turns.adopt('s1', dead), hasCode('LEASE_LOST'))
    assert.equal((await store.turns.get(elsewhere))?.isLeft, true)
    const lease = await acquire(store, sessionLease('s1'))
    assert.equal(await store.turns.take('s1', lease, { id: later }), undefined, 'an adopted one comes before')
    for (const id of [left[0], left[2], later]) {
      assert.equal((await store.turns.take('s1', lease))?.id, id)
      await store.turns.finish(id ?? '', lease, { state: 'done' })
    }
  })

  it('leaves adopted messages again when their lease ends, in their place, and says so', async () => {
    const store = await open()
    const [dead, process] = [await acquire(store, 'process:dead'), await acquire(store, 'process:one')]
    await store.sessions.create({ id: 's1', agentId: 'main', title: '' })
    const queue = async (from: Lease): Promise<string> =>
      (await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease: from })).id
    const left = [await queue(dead), await queue(dead)]
    await store.leases.release(dead)
    const acquired = await store.leases.acquire('serving:one', { owner: 'one', under: process })
    assert.ok(acquired.type === 'acquired')
    await store.turns.adopt('s1', acquired.lease)
    const isLeft = async () => (await store.turns.list()).map((turn) => turn.isLeft)
    assert.deepEqual(await isLeft(), [false, false])
    await queue(process)
    const last = await store.events.last()
    await store.leases.release(acquired.lease)
    assert.deepEqual(await isLeft(), [true, true, false])
    assert.deepEqual(
      (await store.events.after(last)).map(({ type, references }) => `${type} ${references['turnId']}`),
      left.map((id) => `turn.left ${id}`),
    )
    const again = await store.leases.acquire('serving:two', { owner: 'one', under: process })
    assert.ok(again.type === 'acquired')
    await store.turns.adopt('s1', again.lease)
    await store.leases.release(process)
    assert.deepEqual(await isLeft(), [true, true, true], 'with the lease above it')
  })

  it("finds and cancels a turn by the caller's own id of its message", async () => {
    const store = await open()
    const [lease, its] = [await openSession(store), await openSession(store, 's2')]
    const turn = { requestId: `r'; --`, message: { role: 'user' } }
    const { id } = await store.turns.enqueue({ ...turn, sessionId: 's1', lease })
    const other = await store.turns.enqueue({ ...turn, sessionId: 's2', lease: its })
    const name = { sessionId: 's1', requestId: turn.requestId }
    assert.equal((await store.turns.get(name))?.id, id)
    const cancelled = await store.turns.cancel(name)
    assert.deepEqual([cancelled.id, cancelled.state], [id, 'cancelled'])
    assert.equal((await store.turns.get(other.id))?.state, 'queued')
    assert.equal(await store.turns.get({ ...name, requestId: 'nope' }), undefined)
    await assert.rejects(store.turns.cancel({ ...name, requestId: 'nope' }), hasCode('INVALID_ARGUMENT', /nope/))
  })

  it('counts each answer of the model with the change that keeps it', async () => {
    const store = await open()
    const lease = await openSession(store)
    await openSession(store, 's2')
    const { id } = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease })
    await store.turns.take('s1', lease)
    const tokens = { inputTokens: 5, outputTokens: 2, totalTokens: 7 }
    const message = { role: 'assistant', content: 'a' }
    const bad = [
      { ...tokens, totalTokens: -1 },
      { ...tokens, inputTokens: Number.NaN },
      { ...tokens, estimatedTokens: -1 },
    ]
    for (const each of bad) {
      await assert.rejects(store.turns.step(id, lease, { message, tokens: each }), hasCode('INVALID_ARGUMENT'))
      await assert.rejects(store.turns.finish(id, lease, { state: 'done', tokens: each }), hasCode('INVALID_ARGUMENT'))
    }
    const unkept = { content: 'no role' } as unknown as { role: string }
    await assert.rejects(store.turns.step(id, lease, { message: unkept, tokens }), hasCode('INVALID_ARGUMENT'))
    assert.deepEqual([(await store.turns.get(id))?.use, await store.sessions.messages('s1')], [NO_USE, []])
    await store.turns.step(id, lease, { message, tokens })
    const end = { state: 'done', messages: [message], tokens } as const
    for (const { use } of [await store.turns.finish(id, lease, end), await store.turns.finish(id, lease, end)])
      assert.deepEqual(use, { steps: 2, inputTokens: 10, outputTokens: 4, totalTokens: 14 })
    assert.equal((await store.sessions.messages('s1')).length, 2)
    const steps = (await store.events.after(0)).filter(({ type }) => type === 'turn.step')
    assert.deepEqual(
      steps.map(({ references }) => references),
      [1, 2].map((step) => ({ turnId: id, step, ...tokens })),
    )
    const use = await store.turns.use(['s1', 's2', 'nope'])
    assert.deepEqual([...use], [['s1', { steps: 2, inputTokens: 10, outputTokens: 4, totalTokens: 14 }]])
  })

  it('says how many tokens are estimated or cached, what they cost, and how long turns took', async () => {
    const store = await open()
    const lease = await openSession(store)
    const message = { role: 'assistant', content: 'a' }
    const tokens = { inputTokens: 5, outputTokens: 2, totalTokens: 7 }
    for (const estimatedTokens of [2, 0]) {
      const { id } = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease })
      await store.turns.take('s1', lease)
      const used = { ...tokens, estimatedTokens, cachedTokens: 3, cost: 0.000000007 }
      await store.turns.step(id, lease, { message, tokens: used, activeMs: 30 })
      const { use } = await store.turns.finish(id, lease, { state: 'done', activeMs: 12 })
      const counted = { steps: 1, ...tokens, cachedTokens: 3, cost: 7e-9, activeMs: 42 }
      assert.deepEqual(use, estimatedTokens === 0 ? counted : { ...counted, estimatedTokens })
    }
    const counts = { steps: 2, inputTokens: 10, outputTokens: 4, totalTokens: 14, estimatedTokens: 2, activeMs: 84 }
    const sum = { ...counts, cachedTokens: 6, cost: 14e-9 }
    assert.deepEqual([...(await store.turns.use(['s1'])).values()], [sum])
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
    const homeless = store.ledger.record({ call: call(store, 'c2'), decision: DENY, lease, outcome: refused, message })
    await assert.rejects(homeless, hasCode('INVALID_ARGUMENT', /no session/))
    assert.equal(await store.ledger.get('c2'), undefined)
  })
}

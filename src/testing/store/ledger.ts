import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Call, succeeded } from '../../kernel/index.ts'
import type { Store } from '../../store/index.ts'
import { acquire, ALLOW, type Advance, call, hasCode, idsOf, type Open, openSession } from './rig.ts'

export function ledgerTests(open: Open, clock: Advance): void {
  it('keeps a recorded call as it was given, and its skill', async () => {
    const store = await open()
    const { ledger, projectId } = store
    const lease = await acquire(store, 'process:one')
    const odd = { text: 'naïve \u0000 \ud800 🎉', list: [1, null, { deep: true }] }
    const given = call({ projectId } as Store, 'c1', { sessionId: 's1', turnId: 't1', arguments: odd })
    const skill = { name: 'csv-report', treeDigest: 'sha256:00' }
    const entry = await ledger.record({ call: given, decision: ALLOW, lease, skill })
    assert.deepEqual(entry, {
      call: given,
      decision: ALLOW,
      state: 'started',
      openedAt: 1_001,
      startedAt: 1_001,
      skill,
    })
    assert.deepEqual(await ledger.get('c1'), entry)
    assert.equal(await ledger.get('c2'), undefined)
  })

  it('closes an entry once; a second close changes nothing', async () => {
    const store = await open()
    const lease = await acquire(store, 'process:one')
    await store.ledger.record({ call: call(store, 'c1'), decision: ALLOW, lease })
    const closed = await store.ledger.close('c1', succeeded('first', { n: 1 }), { lease })
    assert.equal(closed.state, 'done')
    assert.deepEqual(closed.outcome, succeeded('first', { n: 1 }))
    await clock.advance(5)
    assert.deepEqual(await store.ledger.close('c1', succeeded('second'), { lease }), closed)
    assert.deepEqual(await store.ledger.get('c1'), closed)
  })

  it('refuses an unknown call, a used id, another project and a value that is not JSON', async () => {
    const store = await open()
    const lease = await acquire(store, 'process:one')
    await store.ledger.record({ call: call(store, 'c1'), decision: ALLOW, lease })
    await assert.rejects(store.ledger.close('nope', succeeded(''), { lease }), hasCode('INVALID_ARGUMENT'))
    const record = (id: string, more: Partial<Call> = {}) =>
      store.ledger.record({ call: call(store, id, more), decision: ALLOW, lease })
    await assert.rejects(record('c1', { tool: 'other' }), hasCode('CONFLICT', /another call c1/))
    await assert.rejects(record(''), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(record('c2', { projectId: 'x' }), hasCode('INVALID_ARGUMENT'))
    for (const bad of ['', 'x'.repeat(513), '\ud800'])
      for (const id of ['id', 'sessionId', 'turnId'])
        await assert.rejects(record('c2', { [id]: bad }), hasCode('INVALID_ARGUMENT'))
    const circular: { self?: unknown } = {}
    circular.self = circular
    const unwritable = { ...succeeded(''), data: circular } as unknown as ReturnType<typeof succeeded>
    await assert.rejects(store.ledger.close('c1', unwritable, { lease }), hasCode('INVALID_ARGUMENT'))
    assert.equal((await store.ledger.get('c1'))?.state, 'started')
  })

  it('gives the entry of a call that is recorded again, and writes nothing', async () => {
    const store = await open()
    const lease = await acquire(store, 'process:one')
    const again = () => store.ledger.record({ call: call(store, 'c1'), decision: ALLOW, lease })
    const first = await again()
    assert.equal(first.isRepeated, undefined)
    const before = await store.events.last()
    assert.deepEqual(await again(), { ...first, isRepeated: true })
    assert.equal(await store.events.last(), before)
    const closed = await store.ledger.close('c1', succeeded('once'), { lease })
    assert.deepEqual(await again(), { ...closed, isRepeated: true })
  })

  it('keeps the answer of the model in the change that records its call, or neither', async () => {
    const store = await open()
    const lease = await openSession(store)
    const { id } = await store.turns.enqueue({ sessionId: 's1', message: { role: 'user' }, lease })
    await store.turns.take('s1', lease)
    const tokens = { inputTokens: 5, outputTokens: 2, totalTokens: 7 }
    const step = { message: { role: 'assistant', content: 'a' }, tokens, activeMs: 3, hiddenCalls: ['h'] }
    const record = (callId: string, turnId: string | undefined, more: object = {}) =>
      store.ledger.record({
        call: call(store, callId, { sessionId: 's1', turnId }),
        decision: ALLOW,
        lease,
        step,
        ...more,
      })
    for (const turnId of [undefined, 'nope'])
      await assert.rejects(record('c1', turnId), hasCode('INVALID_ARGUMENT', /turn|no message nope/))
    await assert.rejects(record('c1', id, { step: { ...step, tokens: { ...tokens, totalTokens: -1 } } }))
    const before = await store.events.last()
    assert.deepEqual([await store.ledger.get('c1'), await store.sessions.messages('s1')], [undefined, []])
    await record('c1', id)
    assert.equal((await record('c1', id)).isRepeated, true, 'and counts once')
    const answer = { role: 'tool', content: 'no' }
    await record('c2', id, { outcome: succeeded('no'), message: answer })
    const turn = await store.turns.get(id)
    const use = { steps: 2, inputTokens: 10, outputTokens: 4, totalTokens: 14, activeMs: 6 }
    assert.deepEqual([turn?.use, turn?.hiddenCalls], [use, ['h']])
    assert.deepEqual(await store.sessions.messages('s1'), [step.message, step.message, answer])
    const types = (await store.events.after(before)).map(({ type }) => type)
    const kept = ['session.messages', 'turn.step', 'call.decided']
    assert.deepEqual(types, [...kept, 'call.started', ...kept, 'call.done', 'session.messages'])
  })

  it('lists entries oldest first, by session and turn, and with a limit the newest', async () => {
    const store = await open()
    const lease = await acquire(store, 'process:one')
    for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) {
      const about = { sessionId: `s${index % 2}`, turnId: id < 'c' ? 't1' : 't2' }
      await store.ledger.record({ call: call(store, id, about), decision: ALLOW, lease })
    }
    assert.deepEqual(idsOf(await store.ledger.list()), ['a', 'b', 'c', 'd'])
    assert.deepEqual(idsOf(await store.ledger.list({ sessionId: 's0' })), ['a', 'c'])
    assert.deepEqual(idsOf(await store.ledger.list({ turnId: 't2' })), ['c', 'd'])
    assert.deepEqual(idsOf(await store.ledger.list({ sessionId: 's0', turnId: 't2' })), ['c'])
    assert.deepEqual(idsOf(await store.ledger.list({ limit: 2 })), ['c', 'd'])
    assert.deepEqual(await store.ledger.list({ limit: 0 }), [])
    await assert.rejects(store.ledger.list({ limit: -1 }), hasCode('INVALID_ARGUMENT'))
  })

  it('lists the calls of one agent or origin, and none that only contains its name', async () => {
    const store = await open()
    const lease = await acquire(store, 'process:one')
    const record = (id: string, more: Partial<Call>) =>
      store.ledger.record({ call: call(store, id, more), decision: ALLOW, lease })
    await record('a', { origin: 'mcp', arguments: { origin: 'cli' } })
    await record('b', { origin: 'cli', agentId: 'other', arguments: { call: '"origin":"mcp"', origin: 'mcp' } })
    await record('c', { origin: 'mcp', agentId: 'other' })
    assert.deepEqual(idsOf(await store.ledger.list({ origin: 'mcp' })), ['a', 'c'])
    assert.deepEqual(idsOf(await store.ledger.list({ origin: 'mcp', limit: 1 })), ['c'])
    assert.deepEqual(idsOf(await store.ledger.list({ agentId: 'other' })), ['b', 'c'])
    assert.deepEqual(idsOf(await store.ledger.list({ agentId: 'other', origin: 'mcp' })), ['c'])
    assert.deepEqual(await store.ledger.list({ origin: 'rpc' }), [])
  })

  it('lists the calls about which a shadow differs, and none that only contains such a text', async () => {
    const store = await open()
    const lease = await acquire(store, 'process:one')
    const shadow = { agent: 'strict', type: 'deny', rule: 'deny exec', own: 'allow', scope: '/w' } as const
    const tricky = { ...ALLOW, rule: '"shadow":{"agent":"strict"}' }
    await store.ledger.record({ call: call(store, 'a'), decision: { ...ALLOW, shadow }, lease })
    await store.ledger.record({ call: call(store, 'b'), decision: tricky, lease })
    await store.ledger.record({ call: call(store, 'c'), decision: ALLOW, lease })
    assert.deepEqual(idsOf(await store.ledger.list({ isShadowed: true })), ['a'])
  })

  it('changing what was passed in, or what was read where that can be changed, changes nothing', async () => {
    const store = await open()
    const lease = await acquire(store, 'process:one')
    const given = { nested: { value: 1 } }
    await store.ledger.record({ call: call(store, 'c1', { arguments: given }), decision: ALLOW, lease })
    given.nested.value = 2
    const read = await store.ledger.get('c1')
    assert.deepEqual(read?.call.arguments, { nested: { value: 1 } })
    // Entries may be frozen; then this is refused.
    Reflect.set(read.call.arguments, 'nested', 'changed')
    assert.deepEqual((await store.ledger.get('c1'))?.call.arguments, { nested: { value: 1 } })
  })
}

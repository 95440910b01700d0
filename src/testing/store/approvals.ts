import assert from 'node:assert/strict'
import { it } from 'node:test'
import { failed, succeeded } from '../../kernel/index.ts'
import type { Answer, Lease, NewApproval, Store } from '../../store/index.ts'
import { acquire, type Advance, ALLOW, ASK, call, DENY, hasCode, type Open, TTL_MS } from './rig.ts'

const ASKED: NewApproval = {
  id: 'a1',
  command: 'git push \u0000',
  prefix: 'git',
  scope: '/work',
  canRemember: true,
  ttlMs: 500,
}
const REFUSED = failed('PERMISSION_DENIED', 'A person said no.')
const YES: Answer = { isAllowed: true, by: 'ann', kind: 'person' }
const NO: Answer = { isAllowed: false, by: 'bob', kind: 'person' }

async function ask(store: Store, id = 'c1', approval = ASKED): Promise<Lease> {
  const lease = await acquire(store, `process:${id}`)
  const skill = { name: 'git', treeDigest: 'sha256:00' }
  await store.ledger.record({ call: call(store, id), decision: ASK, lease, approval, skill })
  return lease
}

export function approvalTests(open: Open, clock: Advance): void {
  it('records an asked call with its question before anyone is asked', async () => {
    const store = await open()
    await ask(store)
    assert.equal((await store.ledger.get('c1'))?.state, 'asked')
    const [approval] = await store.approvals.list({ states: ['open'] })
    assert.ok(approval)
    const { createdAt, expiresAt, ...rest } = approval
    assert.equal(expiresAt - createdAt, 500)
    assert.deepEqual(rest, {
      id: 'a1',
      callId: 'c1',
      agentId: 'main',
      agentPath: 'main',
      tool: 'echo',
      command: 'git push \u0000',
      prefix: 'git',
      scope: '/work',
      canRemember: true,
      skillDigest: 'sha256:00',
      state: 'open',
    })
    const lease = await acquire(store, 'process:two')
    const record = store.ledger.record({ call: call(store, 'c2'), decision: ASK, lease })
    await assert.rejects(record, hasCode('INVALID_ARGUMENT', /approval/))
    assert.equal(await store.ledger.get('c2'), undefined)
  })

  it('starts a call only after it was allowed', async () => {
    const store = await open()
    const lease = await ask(store)
    await assert.rejects(store.ledger.start('c1', ALLOW, lease), hasCode('CONFLICT', /asked/))
    const answered = await store.approvals.answer('a1', YES)
    assert.deepEqual(
      [answered.isApplied, answered.approval.state, answered.approval.answeredBy],
      [true, 'allowed', 'ann'],
    )
    assert.equal((await store.ledger.get('c1'))?.state, 'answered')
    const started = await store.ledger.start('c1', ALLOW, lease)
    assert.deepEqual([started.state, started.decision], ['started', ALLOW])
    assert.equal((await store.ledger.close('c1', succeeded('ok'), { lease })).state, 'done')
  })

  it('never starts a denied call', async () => {
    const store = await open()
    const lease = await ask(store)
    await store.approvals.answer('a1', NO)
    await assert.rejects(store.ledger.start('c1', ALLOW, lease), hasCode('CONFLICT'))
    const closed = await store.ledger.close('c1', REFUSED, { lease, decision: DENY })
    assert.deepEqual([closed.state, closed.decision], ['denied', DENY])
  })

  it('changes nothing by a second answer, and says so', async () => {
    const store = await open()
    await ask(store)
    const first = await store.approvals.answer('a1', NO)
    const second = await store.approvals.answer('a1', { ...YES, remember: 'exact' })
    assert.deepEqual(second, { isApplied: false, approval: first.approval })
    assert.deepEqual(await store.approvals.remembered(), [])
    const both = await Promise.all([YES, NO].map((answer) => store.approvals.answer('a1', answer)))
    assert.deepEqual(
      both.map(({ isApplied }) => isApplied),
      [false, false],
    )
    await assert.rejects(store.approvals.answer('nope', YES), hasCode('INVALID_ARGUMENT'))
  })

  it('applies one of many answers that arrive together', async () => {
    const store = await open()
    await ask(store)
    const answers = Array.from({ length: 8 }, (_, index): Answer => ({
      isAllowed: index % 2 === 0,
      by: `p${index}`,
      kind: 'person',
    }))
    const results = await Promise.all(answers.map((answer) => store.approvals.answer('a1', answer)))
    const applied = results.filter(({ isApplied }) => isApplied)
    assert.equal(applied.length, 1)
    for (const { approval } of results) assert.equal(approval.answeredBy, applied[0]?.approval.answeredBy)
  })

  it('expires an approval, after which no answer applies', async () => {
    const store = await open()
    await ask(store)
    await clock.advance(500)
    const late = await store.approvals.answer('a1', YES)
    assert.deepEqual([late.isApplied, late.approval.state], [false, 'expired'])
    assert.equal((await store.ledger.get('c1'))?.state, 'asked', 'its owner closes it')
    assert.equal(await store.approvals.expire(), 0)
    await clock.advance(TTL_MS)
    await store.reclaim()
    await ask(store, 'c2', { ...ASKED, id: 'a2' })
    await clock.advance(500)
    assert.equal(await store.approvals.expire(), 1)
  })

  it('ends the question of a call that was closed', async () => {
    const store = await open()
    const lease = await ask(store)
    const closed = await store.ledger.close('c1', failed('CANCELLED', 'cancelled'), { lease })
    assert.equal(closed.state, 'not run')
    const answered = await store.approvals.answer('a1', YES)
    assert.deepEqual([answered.isApplied, answered.approval.state], [false, 'not run'])
  })

  it('remembers an allowed answer for agent, tool, command and skill revision', async () => {
    const store = await open()
    await ask(store)
    await store.approvals.answer('a1', { ...YES, remember: 'exact' })
    const later = { ...ASKED, id: 'a2' }
    await ask(store, 'c2', later)
    await store.approvals.answer('a2', { ...YES, remember: 'prefix' })
    await ask(store, 'c3', { ...later, id: 'a3' })
    await store.approvals.answer('a3', { ...YES, remember: 'prefix' })
    const about = { agentId: 'main', tool: 'echo', scope: '/work', skillDigest: 'sha256:00' }
    const found = await store.approvals.remembered(about)
    assert.deepEqual(
      found.map(({ match, text, scope, answeredBy }) => [match, text, scope, answeredBy]),
      [
        ['exact', 'git push \u0000', '/work', 'ann'],
        ['prefix', 'git', '/work', 'ann'],
      ],
    )
    for (const other of [
      { agentId: 'other' },
      { tool: 'run' },
      { scope: '/other' },
      { scope: '' },
      { skillDigest: 'sha256:01' },
    ])
      assert.deepEqual(await store.approvals.remembered({ ...about, ...other }), [])
    assert.deepEqual(await store.approvals.remembered({ agentId: 'main', tool: 'echo', scope: '/work' }), [])
    assert.equal(await store.approvals.forget(found[0]?.id ?? ''), true)
    assert.equal(await store.approvals.forget(found[0]?.id ?? ''), false)
    assert.equal((await store.approvals.remembered()).length, 1)
  })

  it('remembers an answer once for each scope', async () => {
    const store = await open()
    const about = { agentId: 'main', tool: 'echo', skillDigest: 'sha256:00' }
    for (const [id, scope] of [
      ['1', '/one'],
      ['2', '/two'],
      ['3', '/one'],
    ] as const) {
      await ask(store, `c${id}`, { ...ASKED, id: `a${id}`, scope })
      await store.approvals.answer(`a${id}`, { ...YES, remember: 'exact' })
    }
    assert.deepEqual(
      (await store.approvals.remembered()).map(({ scope }) => scope),
      ['/one', '/two'],
    )
    assert.equal((await store.approvals.remembered({ ...about, scope: '/two' })).length, 1)
  })

  it('refuses to remember the answer to a question that is asked each time, and leaves it open', async () => {
    const store = await open()
    const { canRemember: _canRemember, scope: _scope, ...each } = ASKED
    await ask(store, 'c1', each)
    for (const remember of ['exact', 'prefix'] as const)
      await assert.rejects(
        store.approvals.answer('a1', { ...YES, remember }),
        hasCode('INVALID_ARGUMENT', /may be remembered/),
      )
    const open1 = await store.approvals.get('a1')
    assert.deepEqual([open1?.state, open1?.scope, open1?.canRemember], ['open', '', false])
    assert.equal((await store.approvals.answer('a1', YES)).isApplied, true)
    assert.deepEqual(await store.approvals.remembered(), [])
  })

  it('remembers nothing that was not shown', async () => {
    const store = await open()
    const { prefix: _prefix, ...whole } = ASKED
    await ask(store, 'c1', whole)
    const answer = store.approvals.answer('a1', { ...YES, remember: 'prefix' })
    await assert.rejects(answer, hasCode('INVALID_ARGUMENT', /prefix/))
    assert.equal((await store.approvals.get('a1'))?.state, 'open')
  })

  it('records a refused call with its end in one write', async () => {
    const store = await open()
    const lease = await acquire(store, 'process:one')
    const entry = await store.ledger.record({ call: call(store, 'c1'), decision: DENY, lease, outcome: REFUSED })
    assert.deepEqual([entry.state, entry.outcome], ['denied', REFUSED])
    assert.deepEqual(await store.ledger.list({ states: ['denied'] }), [entry])
    assert.deepEqual(await store.ledger.list({ states: ['started', 'asked'] }), [])
  })
}

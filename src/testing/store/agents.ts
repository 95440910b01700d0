import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type AgentRecord, type Lease, type NewAgent, sessionLease, type Store } from '../../store/index.ts'
import { failed } from '../../kernel/index.ts'
import { acquire, type Advance, ALLOW, ASK, call, DENY, hasCode, type Open, TTL_MS } from './rig.ts'

const RULES = { permissions: { allowedPaths: [], 'a "b"': '\u0000\ud800' }, ceiling: { ceilings: [null] } }
const TOKENS = { inputTokens: 5, outputTokens: 2, totalTokens: 7 }
const ASKED = { command: 'make', canRemember: true, ttlMs: TTL_MS * 10 }

const make = (store: Store, more: Partial<NewAgent> = {}): Promise<AgentRecord> =>
  store.agents.create({ ...RULES, ...more })

const idsOf = (agents: readonly AgentRecord[]): string[] => agents.map(({ id }) => id)

const enqueue = (store: Store, { sessionId }: AgentRecord, lease: Lease) =>
  store.turns.enqueue({ sessionId, message: { role: 'user' }, lease })

/** A call of the agent that a person is asked about. */
async function ask(store: Store, agent: AgentRecord, id: string, turnId?: string): Promise<Lease> {
  const { sessionId, key: agentId } = agent
  const present = await store.leases.get(sessionLease(sessionId))
  const lease = present ?? (await acquire(store, sessionLease(sessionId)))
  const approval = { ...ASKED, id: `a-${id}` }
  await store.ledger.record({ call: call(store, id, { sessionId, agentId, turnId }), decision: ASK, lease, approval })
  return lease
}

export function agentTests(open: Open, clock: Advance): void {
  it('keeps an agent with its session as it was made', async () => {
    const store = await open()
    const settings = { model: `x'); drop table agents; --` }
    const agent = await make(store, { id: 'lead', settings, title: 'Lead', scope: '/w' })
    const { key, sessionId, createdAt, ...rest } = agent
    assert.match(key, /^@[0-9a-f]{32}$/)
    const place = { id: 'lead', path: 'lead', depth: 0, isTemporary: false, epoch: 0 }
    assert.deepEqual(rest, { ...place, settings, ...RULES })
    assert.ok(createdAt > 0)
    for (const found of [await store.agents.get(key), await store.agents.find('lead')]) assert.deepEqual(found, agent)
    const session = await store.sessions.get(sessionId)
    assert.deepEqual([session?.agentId, session?.title, session?.scope], [key, 'Lead', '/w'])
    const [made] = await store.events.after(0)
    assert.deepEqual([made?.type, made?.agentId], ['session.created', key])
    const other = await open()
    assert.deepEqual([await other.agents.get(key), await other.agents.find('lead')], [undefined, undefined])
    assert.equal((await make(other, { id: 'lead' })).path, 'lead')
  })

  it('puts it below its parent, at most 5 deep; an agent of the configuration is a root', async () => {
    const store = await open()
    const child = await make(store, { id: 'a', parent: 'main' })
    assert.deepEqual([child.path, child.depth, child.parent], ['main/a', 1, 'main'])
    let last = child
    for (const id of ['b', 'c', 'd', 'e']) last = await make(store, { id, parent: last.key })
    assert.deepEqual([last.path, last.depth], ['main/a/b/c/d/e', 5])
    await assert.rejects(make(store, { parent: last.key }), hasCode('INVALID_ARGUMENT', /depth \(5\) exceeded/))
    assert.deepEqual(idsOf(await store.agents.chain(last.key)), ['a', 'b', 'c', 'd', 'e'])
    assert.deepEqual(idsOf(await store.agents.list({ parent: child.key })), ['b'])
    assert.deepEqual(await store.agents.chain('@nope'), [])
    await assert.rejects(make(store, { parent: '@nope' }), hasCode('INVALID_ARGUMENT', /@nope/))
  })

  it('refuses an id of another form, and that of a living agent', async () => {
    const store = await open()
    const bad = [
      '',
      '.',
      '..',
      'a/b',
      '..a',
      '%2e',
      'a\u0000',
      'a\r\n',
      '*',
      '@a',
      '__proto__',
      '--help',
      'x'.repeat(64),
      'ａ',
      'a\u202e',
    ]
    for (const id of bad) await assert.rejects(make(store, { id }), hasCode('INVALID_ARGUMENT'), JSON.stringify(id))
    for (const id of ['a.b', `.${'x'.repeat(62)}`]) await make(store, { id })
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => make(store, { id: 'one' })))
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1)
    await assert.rejects(make(store, { id: 'one' }), hasCode('CONFLICT', /living agent/))
    assert.equal((await store.sessions.list()).length, 3, 'an agent that was refused left no session')
  })

  it('gives temporary agents the lowest free number, and never a key again', async () => {
    const store = await open()
    const made = await Promise.all(Array.from({ length: 4 }, () => make(store)))
    assert.deepEqual(idsOf(made).sort(), ['.1', '.2', '.3', '.4'])
    assert.ok(made.every(({ isTemporary }) => isTemporary))
    const second = made.find(({ id }) => id === '.2')
    assert.ok(second)
    await store.agents.end(second.key)
    const next = await make(store)
    assert.equal(next.id, '.2')
    assert.notEqual(next.key, second.key)
    assert.notEqual(next.sessionId, second.sessionId)
    assert.deepEqual(await store.agents.find('.2'), next)
    assert.equal((await store.agents.get(second.key))?.id, '.2')
    assert.deepEqual([(await store.agents.list({ id: '.2' })).length, (await store.agents.list()).length], [2, 5])
    assert.deepEqual(idsOf(await store.agents.list({ id: '.2', isLiving: false })), ['.2'])
  })

  it('shows a question with the path of its agent; nothing that was remembered of it applies to a later one', async () => {
    const store = await open()
    const old = await make(store, { id: '.1', parent: 'main' })
    await ask(store, old, 'c1')
    const { approval } = await store.approvals.answer('a-c1', {
      isAllowed: true,
      by: 'ada',
      kind: 'person',
      remember: 'exact',
    })
    assert.deepEqual([approval.agentId, approval.agentPath], [old.key, 'main/.1'])
    const about = (agentId: string) => store.approvals.remembered({ agentId, tool: 'echo' })
    assert.deepEqual(
      (await about(old.key)).map(({ agentPath }) => agentPath),
      ['main/.1'],
    )
    await store.agents.end(old.key)
    const next = await make(store, { id: '.1', parent: 'main' })
    for (const agentId of [next.key, old.key, '.1', 'main/.1', 'main']) assert.deepEqual(await about(agentId), [])
    assert.deepEqual(await store.approvals.remembered(), [])
    assert.equal((await store.approvals.get('a-c1'))?.agentPath, 'main/.1')
  })

  it('ends an agent with its descendants: their messages and questions too, and no other', async () => {
    const store = await open()
    const lead = await make(store, { id: 'lead' })
    const waiting = await make(store, { id: 'waits', parent: lead.key })
    const running = await make(store, { id: 'runs', parent: waiting.key })
    const other = await make(store, { id: 'other' })
    const living = await acquire(store, 'process:one')
    // The owner of one turn is gone while a person is asked.
    const gone = await acquire(store, sessionLease(waiting.sessionId))
    const { id: turnId } = await enqueue(store, waiting, living)
    await store.turns.take(waiting.sessionId, gone)
    await ask(store, waiting, 'c1', turnId)
    await clock.advance(TTL_MS / 2)
    const kept = await store.leases.renew(living, TTL_MS)
    await clock.advance(TTL_MS / 2)
    await store.reclaim()
    const owner = await acquire(store, sessionLease(running.sessionId))
    const [now, later, its] = [
      await enqueue(store, running, kept),
      await enqueue(store, running, kept),
      await enqueue(store, other, kept),
    ]
    await store.turns.take(running.sessionId, owner)
    const ended = await store.agents.end(lead.key)
    assert.deepEqual(idsOf(ended).sort(), ['lead', 'runs', 'waits'])
    assert.ok(ended.every(({ endedAt }) => endedAt !== undefined))
    const states = await Promise.all([turnId, now.id, later.id, its.id].map((id) => store.turns.get(id)))
    assert.deepEqual(
      states.map((turn) => [turn?.state, turn?.isCancelRequested]),
      [
        ['cancelled', false],
        ['running', true],
        ['cancelled', false],
        ['queued', false],
      ],
    )
    assert.equal((await store.approvals.get('a-c1'))?.state, 'not run')
    for (const agent of [lead, waiting, running])
      await assert.rejects(enqueue(store, agent, kept), hasCode('CONFLICT', /has ended/))
    await assert.rejects(make(store, { parent: running.key }), hasCode('CONFLICT', /lead\/waits\/runs has ended/))
    assert.equal((await store.turns.finish(now.id, owner, { state: 'cancelled' })).state, 'cancelled')
    assert.deepEqual(await store.agents.end(lead.key), [])
    assert.deepEqual(idsOf(await store.agents.list({ isLiving: true })), ['other'])
    assert.equal((await store.sessions.list()).length, 4, 'histories stay')
    await assert.rejects(store.agents.end('@nope'), hasCode('INVALID_ARGUMENT'))
  })

  it('begins no call of an agent that ended, also one that was allowed', async () => {
    const store = await open()
    const agent = await make(store)
    const lease = await ask(store, agent, 'c1')
    assert.ok((await store.approvals.answer('a-c1', { isAllowed: true, by: 'ada', kind: 'person' })).isApplied)
    await store.agents.end(agent.key)
    await assert.rejects(store.ledger.start('c1', ALLOW, lease), hasCode('CONFLICT', /\.1 has ended/))
    assert.equal((await store.ledger.get('c1'))?.state, 'answered', 'its owner closes it')
    const next = call(store, 'c2', { agentId: agent.key, sessionId: agent.sessionId })
    await assert.rejects(store.ledger.record({ call: next, decision: ALLOW, lease }), hasCode('CONFLICT'))
    const refused = { decision: DENY, outcome: failed('PERMISSION_DENIED', 'no') }
    assert.equal((await store.ledger.record({ call: next, lease, ...refused })).state, 'denied')
  })

  it('replaces rules and settings of a living agent, and lists agents in parts', async () => {
    const store = await open()
    const agent = await make(store, { id: 'a', settings: { model: 'small' } })
    const settings = { model: `large'); --`, budget: { maxTokens: 5 } }
    const changed = await store.agents.update(agent.key, { settings })
    assert.deepEqual(changed, { ...agent, settings })
    const rules = { permissions: { allow: [] }, ceiling: { ceilings: [] } }
    assert.deepEqual(await store.agents.update(agent.key, rules), { ...agent, settings, ...rules })
    assert.deepEqual(await store.agents.get(agent.key), { ...agent, settings, ...rules })
    const [b, c] = [await make(store, { id: 'b' }), await make(store, { id: 'c' })]
    assert.deepEqual(idsOf(await store.agents.list({ limit: 2 })), ['b', 'c'])
    assert.deepEqual(idsOf(await store.agents.list({ limit: 2, before: c.key })), ['a', 'b'])
    assert.deepEqual(await store.agents.list({ before: '@nope' }), [])
    await store.agents.end(b.key)
    await assert.rejects(store.agents.update(b.key, { settings }), hasCode('CONFLICT', /b has ended/))
    await assert.rejects(store.agents.update('@nope', { settings }), hasCode('INVALID_ARGUMENT'))
    const bad = { settings: { at: 1n as unknown as number } }
    await assert.rejects(store.agents.update(agent.key, bad), hasCode('INVALID_ARGUMENT'))
  })

  it('keeps the session of an agent while it or an ancestor lives; its row goes with it, and no call of it begins', async () => {
    const store = await open()
    const lead = await make(store, { id: 'lead' })
    const middle = await make(store, { parent: lead.key })
    const child = await make(store, { parent: middle.key })
    await store.agents.end(middle.key)
    await clock.advance(1)
    const keep = { sessions: { maxAgeMs: 0 } }
    assert.equal((await store.retain(keep)).sessions, 0, 'what they used counts against the budget of lead')
    for (const { sessionId } of [lead, middle, child])
      await assert.rejects(store.sessions.remove(sessionId), hasCode('CONFLICT', /living agent/))
    await store.agents.end(lead.key)
    await store.sessions.remove(child.sessionId)
    assert.deepEqual(idsOf(await store.agents.list()), ['lead', '.1'])
    assert.equal((await store.retain(keep)).sessions, 2)
    assert.deepEqual(await store.agents.list(), [])
    const lease = await acquire(store, 'process:stale')
    const late = call(store, 'late', { agentId: child.key })
    await assert.rejects(store.ledger.record({ call: late, decision: ALLOW, lease }), hasCode('CONFLICT', /has ended/))
  })

  it('counts what a subtree used, and begins a new epoch of tokens', async () => {
    const store = await open()
    const lead = await make(store, { id: 'lead' })
    const child = await make(store, { parent: lead.key })
    for (const agent of [lead, child, child]) {
      const name = sessionLease(agent.sessionId)
      const lease = (await store.leases.get(name)) ?? (await acquire(store, name))
      const { id } = await enqueue(store, agent, lease)
      await store.turns.take(agent.sessionId, lease)
      await store.turns.finish(id, lease, { state: 'done', tokens: TOKENS })
    }
    await store.agents.end(child.key)
    assert.deepEqual(await store.agents.use(child.key), { steps: 2, inputTokens: 10, outputTokens: 4, totalTokens: 14 })
    assert.deepEqual(await store.agents.use(lead.key), { steps: 3, inputTokens: 15, outputTokens: 6, totalTokens: 21 })
    assert.equal((await store.agents.use('@nope')).totalTokens, 0)
    assert.equal((await store.agents.revoke(lead.key)).epoch, 1)
    assert.equal((await store.agents.get(lead.key))?.epoch, 1)
    await assert.rejects(store.agents.revoke('@nope'), hasCode('INVALID_ARGUMENT'))
  })
}

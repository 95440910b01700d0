import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Call, type Clock, type Decision, isNexusError, type LedgerEntry, succeeded } from '../kernel/index.ts'
import type { Store } from '../store/index.ts'
import { createFakeClock } from './fake-clock.ts'

/** Opens stores over one place, such as one file; every project gets its own store. */
export type MakeStore = (options: { readonly projectId: string; readonly clock: Clock }) => Promise<Store>

const ALLOW: Decision = { type: 'allow', rule: 'profile:full' }
const NOBODY_LIVES = (): boolean => false
const ALL_LIVE = (): boolean => true

/** Registers the tests that every store must pass. `make` is called with a fresh project id for each test. */
export function storeContract(name: string, make: MakeStore): void {
  describe(`store contract: ${name}`, () => {
    const clock = createFakeClock(1_000)
    const opened: Store[] = []
    let projects = 0
    const open = async (projectId = `project-${++projects}`): Promise<Store> => {
      const store = await make({ projectId, clock })
      opened.push(store)
      return store
    }
    before(() => clock.advance(1))
    after(() => Promise.all(opened.map((store) => store.close())))
    ledgerTests(open, clock)
    sessionTests(open, clock)
    recoveryTests(open)
    isolationTests(open)
  })
}

type Open = (projectId?: string) => Promise<Store>
type Advance = { advance(ms: number): Promise<void> }

function call(store: Store, id: string, more: Partial<Call> = {}): Call {
  return {
    id,
    projectId: store.projectId,
    agentId: 'main',
    origin: 'library',
    tool: 'echo',
    arguments: { id },
    ...more,
  }
}

function hasCode(code: string): (error: unknown) => boolean {
  return (error) => isNexusError(error) && error.code === code
}

const idsOf = (entries: readonly LedgerEntry[]): string[] => entries.map((entry) => entry.call.id)

function ledgerTests(open: Open, clock: Advance): void {
  it('keeps an opened call as it was given, and its skill', async () => {
    const { ledger, projectId } = await open()
    const odd = { text: 'naïve \u0000 \ud800 🎉', list: [1, null, { deep: true }] }
    const given = call({ projectId } as Store, 'c1', { sessionId: 's1', turnId: 't1', arguments: odd })
    const skill = { name: 'csv-report', treeDigest: 'sha256:00' }
    const entry = await ledger.open(given, ALLOW, skill)
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
    await store.ledger.open(call(store, 'c1'), ALLOW)
    const closed = await store.ledger.close('c1', succeeded('first', { n: 1 }))
    assert.equal(closed.state, 'done')
    assert.deepEqual(closed.outcome, succeeded('first', { n: 1 }))
    await clock.advance(5)
    assert.deepEqual(await store.ledger.close('c1', succeeded('second')), closed)
    assert.deepEqual(await store.ledger.get('c1'), closed)
  })

  it('refuses an unknown call, a used id, another project and a value that is not JSON', async () => {
    const store = await open()
    await store.ledger.open(call(store, 'c1'), ALLOW)
    await assert.rejects(store.ledger.close('nope', succeeded('')), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(store.ledger.open(call(store, 'c1'), ALLOW), hasCode('CONFLICT'))
    await assert.rejects(store.ledger.open(call(store, ''), ALLOW), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(store.ledger.open(call(store, 'c2', { projectId: 'x' }), ALLOW), hasCode('INVALID_ARGUMENT'))
    for (const bad of ['', 'x'.repeat(513), '\ud800'])
      for (const id of ['id', 'sessionId', 'turnId'])
        await assert.rejects(store.ledger.open(call(store, 'c2', { [id]: bad }), ALLOW), hasCode('INVALID_ARGUMENT'))
    const circular: { self?: unknown } = {}
    circular.self = circular
    const unwritable = { ...succeeded(''), data: circular } as unknown as ReturnType<typeof succeeded>
    await assert.rejects(store.ledger.close('c1', unwritable), hasCode('INVALID_ARGUMENT'))
    assert.equal((await store.ledger.get('c1'))?.state, 'started')
  })

  it('lists entries oldest first, by session and turn, and with a limit the newest', async () => {
    const store = await open()
    for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) {
      await store.ledger.open(call(store, id, { sessionId: `s${index % 2}`, turnId: id < 'c' ? 't1' : 't2' }), ALLOW)
    }
    assert.deepEqual(idsOf(await store.ledger.list()), ['a', 'b', 'c', 'd'])
    assert.deepEqual(idsOf(await store.ledger.list({ sessionId: 's0' })), ['a', 'c'])
    assert.deepEqual(idsOf(await store.ledger.list({ turnId: 't2' })), ['c', 'd'])
    assert.deepEqual(idsOf(await store.ledger.list({ sessionId: 's0', turnId: 't2' })), ['c'])
    assert.deepEqual(idsOf(await store.ledger.list({ limit: 2 })), ['c', 'd'])
    assert.deepEqual(await store.ledger.list({ limit: 0 }), [])
    await assert.rejects(store.ledger.list({ limit: -1 }), hasCode('INVALID_ARGUMENT'))
  })

  it('gives out copies: changing what was read or passed in changes nothing', async () => {
    const store = await open()
    const given = { nested: { value: 1 } }
    await store.ledger.open(call(store, 'c1', { arguments: given }), ALLOW)
    given.nested.value = 2
    const read = await store.ledger.get('c1')
    assert.deepEqual(read?.call.arguments, { nested: { value: 1 } })
    Object.assign(read.call.arguments, { nested: 'changed' })
    assert.deepEqual((await store.ledger.get('c1'))?.call.arguments, { nested: { value: 1 } })
  })
}

function sessionTests(open: Open, clock: Advance): void {
  it('keeps messages in order and counts them', async () => {
    const { sessions } = await open()
    const made = await sessions.create({ id: 's1', agentId: 'main', title: 'Make a report' })
    assert.deepEqual(await sessions.get('s1'), made)
    assert.equal(made.state, 'idle')
    const first = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [{ type: 'text', text: 'hi' }] },
    ]
    await sessions.append('s1', first)
    await sessions.append('s1', [])
    await sessions.append('s1', [{ role: 'user', content: '' }])
    assert.deepEqual(await sessions.messages('s1'), [...first, { role: 'user', content: '' }])
    assert.equal((await sessions.get('s1'))?.messageCount, 3)
  })

  it('adds all messages of an append or none', async () => {
    const { sessions } = await open()
    await sessions.create({ id: 's1', agentId: 'main', title: '' })
    const bad = [{ role: 'user' }, { content: 'no role' } as unknown as { role: string }]
    await assert.rejects(sessions.append('s1', bad), hasCode('INVALID_ARGUMENT'))
    assert.deepEqual(await sessions.messages('s1'), [])
  })

  it('refuses a used id and an unknown session', async () => {
    const { sessions } = await open()
    await sessions.create({ id: 's1', agentId: 'main', title: '' })
    await assert.rejects(sessions.create({ id: 's1', agentId: 'main', title: '' }), hasCode('CONFLICT'))
    assert.equal(await sessions.get('nope'), undefined)
    await assert.rejects(sessions.messages('nope'), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(sessions.append('nope', []), hasCode('INVALID_ARGUMENT'))
    await assert.rejects(sessions.update('nope', {}), hasCode('INVALID_ARGUMENT'))
  })

  it('lists the session used last first', async () => {
    const { sessions } = await open()
    for (const id of ['a', 'b', 'c']) await sessions.create({ id, agentId: 'main', title: id })
    const ids = async (limit?: number) =>
      (await sessions.list(limit === undefined ? {} : { limit })).map(({ id }) => id)
    assert.deepEqual(await ids(), ['c', 'b', 'a'])
    await clock.advance(10)
    await sessions.append('a', [{ role: 'user', content: 'again' }])
    assert.deepEqual(await ids(), ['a', 'c', 'b'])
    assert.deepEqual(await ids(1), ['a'])
  })

  it('changes state, owner and snapshot, each only when given', async () => {
    const { sessions } = await open()
    await sessions.create({ id: 's1', agentId: 'main', title: '' })
    await sessions.update('s1', { state: 'running', owner: 'process-1', snapshot: { skills: ['a'] } })
    const kept = await sessions.update('s1', {})
    assert.deepEqual([kept.state, kept.owner, kept.snapshot], ['running', 'process-1', { skills: ['a'] }])
    const idle = await sessions.update('s1', { state: 'idle', owner: null })
    assert.equal('owner' in idle, false)
    assert.deepEqual(idle.snapshot, { skills: ['a'] })
  })

  it('lets only one of two start a turn in an idle session', async () => {
    const { sessions } = await open()
    await sessions.create({ id: 's1', agentId: 'main', title: '' })
    await sessions.update('s1', { state: 'running', owner: 'one', expectedState: 'idle' })
    await assert.rejects(
      sessions.update('s1', { state: 'running', owner: 'two', expectedState: 'idle' }),
      hasCode('CONFLICT'),
    )
    assert.equal((await sessions.get('s1'))?.owner, 'one')
  })
}

function recoveryTests(open: Open): void {
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

function isolationTests(open: Open): void {
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

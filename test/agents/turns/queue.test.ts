import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type AgentEvent, createAgent } from '../../../src/agents/turns/index.ts'
import { isNexusError, NexusError, succeeded } from '../../../src/kernel/index.ts'
import { createMemoryStore, type Lease, sessionLease, type Store } from '../../../src/store/index.ts'
import type { Reply } from '../../../src/testing/index.ts'
import { isWhole, localModel, openTestAgent, startRig, type TestTool } from './rig.ts'

const WAIT: Reply = { type: 'tool-calls', calls: [{ name: 'wait', arguments: {} }] }
const DONE: Reply = { type: 'text', text: 'Done.' }

/** A tool that runs until it is told to end, and says when it began. */
function gate() {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const wait: TestTool = async (_args, { signal }) => {
    begun.resolve()
    signal.addEventListener('abort', () => end.resolve())
    await end.promise
    return succeeded('waited')
  }
  return { wait, begun: begun.promise, open: () => end.resolve() }
}

/** A session with a turn that runs, and a second agent of the same session as another terminal has it. */
async function twoTerminals(script: readonly Reply[]) {
  const { wait, begun, open } = gate()
  const rig = await startRig({ script, tools: { wait }, sessionId: 's1' })
  const events: AgentEvent[] = []
  const second = createAgent({
    agent: await openTestAgent({ tools: { wait } }, rig.store, 's1'),
    model: await localModel(rig.server),
    store: rig.store,
  })
  const running = rig.agent.send('one', { requestId: 'r1' })
  await begun
  return { rig, second, events, running, open, onEvent: (event: AgentEvent) => void events.push(event) }
}

describe('two messages to one session', () => {
  it('both run when neither found the session', async () => {
    await using rig = await startRig({ script: [DONE, DONE] })
    const results = await Promise.all([rig.send('one'), rig.send('two')])
    assert.deepEqual(
      results.map(({ end }) => end),
      ['done', 'done'],
    )
    assert.ok(isWhole(await rig.history()))
  })

  it('run one after the other, in the order they came, and the history is whole', async () => {
    const { rig, second, running, open, events, onEvent } = await twoTerminals([WAIT, DONE, DONE])
    await using _closing = rig
    const waiting = second.send('two', { requestId: 'r2', onEvent })
    while (!events.some(({ type }) => type === 'notice')) await new Promise(setImmediate)
    const [queued] = await rig.store.turns.list({ states: ['queued'] })
    assert.equal(queued?.requestId, 'r2')
    open()
    assert.deepEqual([(await running).end, (await waiting).end], ['done', 'done'])
    const history = await rig.history()
    assert.deepEqual(
      history.filter(({ role }) => role === 'user').map(({ content }) => content),
      ['one', 'two'],
    )
    assert.ok(isWhole(history))
    assert.deepEqual(events.map((event) => (event.type === 'notice' ? event.code : event.type)).slice(0, 3), [
      'turn-queued',
      'turn-waits',
      'turn-start',
    ])
  })

  it('can be cancelled by id while they wait, and then reach no model', async () => {
    const { rig, second, running, open } = await twoTerminals([WAIT, DONE])
    await using _closing = rig
    let queued = ''
    const waiting = second.send('two', { onEvent: (event) => event.type === 'turn-queued' && (queued = event.turnId) })
    while (queued === '') await new Promise(setImmediate)
    await rig.store.turns.cancel(queued)
    assert.equal((await waiting).end, 'cancelled')
    open()
    assert.equal((await running).end, 'done')
    assert.doesNotMatch(JSON.stringify(await rig.history()), /two/)
  })

  it('can be cancelled by id while they run: the tool is stopped and the history closed', async () => {
    const { rig, running } = await twoTerminals([WAIT])
    await using _closing = rig
    const [turn] = await rig.store.turns.list({ states: ['running'] })
    await rig.store.turns.cancel(turn?.id ?? '')
    const result = await running
    assert.equal(result.end, 'cancelled')
    assert.ok(isWhole(await rig.history()))
    assert.equal((await rig.store.turns.get(result.turnId))?.state, 'cancelled')
  })
})

it('a message is queued although its process lost its lease since, as a suspended machine does', async () => {
  const store = await createMemoryStore({ projectId: 'default' })
  const leases: Lease[] = []
  const acquire: Store['leases']['acquire'] = async (name, request) => {
    const acquired = await store.leases.acquire(name, request)
    if (acquired.type === 'acquired') leases.push(acquired.lease)
    return acquired
  }
  await using rig = await startRig({ script: () => DONE, store: { ...store, leases: { ...store.leases, acquire } } })
  assert.equal((await rig.send('one')).end, 'done')
  for (const lease of leases) await store.leases.release(lease)
  assert.equal((await rig.send('two')).end, 'done')
  assert.equal((await store.turns.list({ states: ['done'] })).length, 2)
})

describe('the same message with the same request id', () => {
  it('gets the stored result of a turn that is done, and no turn-start', async () => {
    await using rig = await startRig({ script: [DONE], sessionId: 's1' })
    const first = await rig.agent.send('one', { requestId: 'r1' })
    const events: AgentEvent[] = []
    const again = await rig.agent.send('one', { requestId: 'r1', onEvent: (event) => events.push(event) })
    assert.equal(first.text, 'Done.')
    assert.deepEqual(again, first)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['turn-queued', 'turn-end'],
    )
  })

  it('gets the error of a turn that failed', async () => {
    await using rig = await startRig({ script: [{ type: 'status', status: 401 }], sessionId: 's1' })
    const first = await rig.agent.send('one', { requestId: 'r1' })
    const again = await rig.agent.send('one', { requestId: 'r1' })
    assert.equal(first.end, 'failed')
    assert.deepEqual(
      [again.end, again.error?.code, again.error?.message],
      [first.end, first.error?.code, first.error?.message],
    )
  })

  it('waits for the turn while another caller runs it', async () => {
    const { rig, second, open } = await twoTerminals([WAIT, DONE, DONE])
    await using _closing = rig
    const events: AgentEvent[] = []
    const again = second.send('one', { requestId: 'r1', onEvent: (event) => events.push(event) })
    while (!events.some(({ type }) => type === 'notice')) await new Promise(setImmediate)
    open()
    const { end, text } = await again
    assert.deepEqual([end, text], ['done', 'Done.'])
    assert.ok(events.every(({ type }) => type !== 'turn-start'))
  })

  it('cancels the turn that another caller runs, when its signal aborts', async () => {
    const { rig, second, running } = await twoTerminals([WAIT])
    await using _closing = rig
    const again = await second.send('one', { requestId: 'r1', signal: AbortSignal.abort() })
    assert.deepEqual([(await running).end, again.end], ['cancelled', 'cancelled'])
  })

  it('is reported as failed when the process that ran it died', async () => {
    const { rig, second, running, open } = await twoTerminals([WAIT, DONE])
    await using _closing = rig
    const lease = await rig.store.leases.get(sessionLease('s1'))
    assert.ok(lease)
    await rig.store.leases.release(lease)
    const again = await second.send('one', { requestId: 'r1' })
    assert.deepEqual([again.end, again.error?.code], ['failed', 'LEASE_LOST'])
    assert.match(again.error?.fix ?? '', /sessions show s1/)
    open()
    await running
  })
})

/** A store whose leases of sessions cannot be acquired the first few times. */
async function failingStore(times: number): Promise<Store> {
  const store = await createMemoryStore({ projectId: 'default' })
  let left = times
  const acquire: Store['leases']['acquire'] = async (name, options) => {
    if (name.startsWith('session:') && left-- > 0) throw new NexusError('STORE_FAILED', 'The state file is in use.')
    return store.leases.acquire(name, options)
  }
  return { ...store, leases: { ...store.leases, acquire } }
}

describe('a store that fails when a turn has ended', () => {
  it('does not undo the end: the result is the stored one', async () => {
    const store = await createMemoryStore({ projectId: 'default' })
    const release = () => Promise.reject(new NexusError('STORE_FAILED', 'The state file is in use.'))
    await using rig = await startRig({
      script: [DONE],
      sessionId: 's1',
      store: { ...store, leases: { ...store.leases, release } },
    })
    const { end, turnId, error } = await rig.send('one')
    assert.deepEqual([end, error], ['done', undefined])
    assert.equal((await store.turns.get(turnId))?.state, 'done')
  })
})

describe('a store that fails when a turn is taken', () => {
  it('is tried again, and the turn runs', async () => {
    await using rig = await startRig({ script: [DONE], sessionId: 's1', store: await failingStore(2) })
    assert.equal((await rig.agent.send('one', { requestId: 'r1' })).end, 'done')
  })

  it('has the turn cancelled when it keeps failing; the error names the turn, and the next one runs', async () => {
    await using rig = await startRig({ script: [DONE], sessionId: 's1', store: await failingStore(4) })
    await assert.rejects(
      rig.agent.send('one', { requestId: 'r1' }),
      (error) =>
        isNexusError(error) &&
        error.code === 'STORE_FAILED' &&
        /^The message [0-9a-f]{32} was cancelled/.test(error.message),
    )
    assert.equal((await rig.store.turns.list())[0]?.state, 'cancelled')
    assert.equal((await rig.agent.send('two', { requestId: 'r2' })).end, 'done')
  })
})

describe('cancel by session and request id', () => {
  it('stops the turn that runs and one that waits, and no other; says false for one that is over', async () => {
    const { rig, second, running, onEvent, events } = await twoTerminals([WAIT, DONE])
    await using _closing = rig
    const waiting = second.send('two', { requestId: 'r2', onEvent })
    while (!events.some(({ type }) => type === 'notice')) await new Promise(setImmediate)
    assert.equal(await second.cancel('nope'), false)
    assert.equal(await rig.agent.cancel('r2'), true)
    assert.equal((await waiting).end, 'cancelled')
    assert.equal(await second.cancel('r1'), true)
    assert.equal((await running).end, 'cancelled')
    assert.deepEqual([await second.cancel('r1'), await second.cancel('r2')], [false, false])
  })
})

describe('a session that another process took over', () => {
  it('is not written any more: the turn ends with LEASE_LOST at its next write', async () => {
    const { rig, running, open } = await twoTerminals([WAIT, DONE])
    await using _closing = rig
    const lease = await rig.store.leases.get(sessionLease('s1'))
    assert.ok(lease)
    await rig.store.leases.release(lease)
    open()
    const result = await running
    assert.deepEqual([result.end, result.error?.code], ['failed', 'LEASE_LOST'])
  })
})

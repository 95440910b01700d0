import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { type Layer, parsePolicy } from '../../src/authorize/index.ts'
import { isNexusError, type JsonObject } from '../../src/kernel/index.ts'
import type { ApprovalAnswer, CallResult, Parts, Runtime } from '../../src/runtime/index.ts'
import { type Approval, createMemoryStore, type Lease, type Store } from '../../src/store/index.ts'
import { createScriptedSandbox } from '../../src/testing/index.ts'
import { callOf, codeOf, wordsOf, workshop } from './rig.ts'

/** A runtime whose agent must ask before run_command, and what it ran. */
async function open(t: TestContext, more: Partial<Parts> = {}) {
  const shop = workshop(t)
  const store = await createMemoryStore({ projectId: 'default' })
  const sandbox = createScriptedSandbox({})
  const agents = [{ id: 'main', policy: parsePolicy({ ask: ['run_command'] }).rules }]
  const runtime = await shop.open({ store, sandbox, workspace: shop.root, agents, waitForAnswers: true, ...more })
  return { runtime, store, ran: () => sandbox.requests.map(({ command }) => command) }
}

const YES = { isAllowed: true, by: 'ada', kind: 'person' } as const
const NO = { ...YES, isAllowed: false } as const
const run = (runtime: Runtime, command: string, more: JsonObject = {}): Promise<CallResult> =>
  callOf(runtime, { tool: 'run_command', arguments: { command, ...more } })
const make = { tool: 'run_command', arguments: { command: 'make all' } }

/** The next open question. */
async function question(runtime: Runtime): Promise<Approval> {
  for (;;) {
    const [approval] = await runtime.approvals.list()
    if (approval) return approval
    await new Promise(setImmediate)
  }
}

test('a call is on record as asked, with what would run, before anybody answers; then it runs once', async (t) => {
  const { runtime, store, ran } = await open(t)
  const calling = run(runtime, 'git status')
  const approval = await question(runtime)
  assert.deepEqual([approval.tool, approval.command, approval.prefix], ['run_command', 'git status', 'git status'])
  const entry = await store.ledger.get(approval.callId)
  assert.deepEqual([entry?.state, entry?.decision.type, ran()], ['asked', 'ask', []])
  assert.ok((await runtime.approvals.answer(approval.id, YES)).isApplied)
  const { outcome, decision } = await calling
  assert.deepEqual(
    [codeOf(outcome), decision.rule, ran()],
    ['success', 'ask run_command, approved by ada', ['git status']],
  )
  assert.ok(!(await runtime.approvals.answer(approval.id, { isAllowed: false, by: 'bob', kind: 'person' })).isApplied)
})

test('nobody is asked about a call whose arguments do not fit, or whose path its tool refuses', async (t) => {
  const agents = [{ id: 'main', policy: parsePolicy({ ask: ['run_command', 'read_file'] }).rules }]
  const { runtime, store, ran } = await open(t, { agents })
  for (const [tool, args, code] of [
    ['run_command', { command: 7 }, 'INVALID_PARAM'],
    ['run_command', {}, 'INVALID_PARAM'],
    ['run_command', { command: 'ls', cwd: '../..' }, 'ACCESS_DENIED'],
    ['read_file', { path: '../../outside.txt' }, 'ACCESS_DENIED'],
  ] as readonly [string, JsonObject, string][]) {
    const { outcome, entry } = await callOf(runtime, { tool, arguments: args })
    assert.deepEqual([codeOf(outcome), entry.state], [code, 'failed'])
  }
  assert.deepEqual([await store.approvals.list(), ran()], [[], []])
})

test('a no is a denial, and nothing runs', async (t) => {
  const { runtime, store, ran } = await open(t)
  const calling = run(runtime, 'ls')
  await runtime.approvals.answer((await question(runtime)).id, NO)
  const { outcome, entry } = await calling
  assert.match(wordsOf(outcome), /A person said no/)
  assert.equal(outcome.type === 'failed' && outcome.fix, 'The call runs only if the user asks for it again.')
  assert.deepEqual([entry.state, ran(), (await store.approvals.list())[0]?.state], ['denied', [], 'denied'])
})

test('a no stays a no when a rule would allow the call by then', async (t) => {
  let type: 'ask' | 'allow' = 'ask'
  const layer: Layer = { name: 'grants', decide: () => ({ type, rule: 'grants' }) }
  const agents = [{ id: 'main', policy: parsePolicy({}).rules, layers: [layer] }]
  const { runtime, ran } = await open(t, { agents })
  const calling = run(runtime, 'ls')
  const { id } = await question(runtime)
  type = 'allow'
  await runtime.approvals.answer(id, NO)
  const { outcome, entry } = await calling
  assert.match(wordsOf(outcome), /A person said no/)
  assert.deepEqual([entry.state, ran()], ['denied', []])
})

test('a process that lost its lease, as a suspended machine does, takes a new one with its next write', async (t) => {
  const store = await createMemoryStore({ projectId: 'default' })
  const leases: Lease[] = []
  const acquire: typeof store.leases.acquire = async (name, request) => {
    const acquired = await store.leases.acquire(name, request)
    if (acquired.type === 'acquired') leases.push(acquired.lease)
    return acquired
  }
  const agents = [{ id: 'main', policy: parsePolicy({}).rules }]
  const { runtime } = await open(t, { agents, store: { ...store, leases: { ...store.leases, acquire } } })
  assert.equal(codeOf((await run(runtime, 'ls')).outcome), 'success')
  for (const lease of leases) await store.leases.release(lease)
  assert.equal(codeOf((await run(runtime, 'ls')).outcome), 'success')
  assert.equal(leases.length, 2)
})

test('an agent may not answer a question, whatever name it gives', async (t) => {
  const { runtime } = await open(t)
  const calling = run(runtime, 'ls')
  const { id } = await question(runtime)
  for (const by of ['main', 'ada'])
    await assert.rejects(
      runtime.approvals.answer(id, { isAllowed: true, by, kind: 'agent' }),
      (error) => isNexusError(error) && error.code === 'CALL_DENIED',
    )
  await runtime.approvals.answer(id, NO)
  await calling
})

test('a remembered answer covers the same command, and no other agent, deny or confirmation', async (t) => {
  const layer = (type: 'allow' | 'deny', limits = {}): Layer => ({
    name: 'ceiling',
    decide: () => ({ type, rule: 'ceiling', reason: 'not here', limits }),
  })
  const { runtime, ran } = await open(t)
  const calling = run(runtime, 'make all')
  await runtime.approvals.answer((await question(runtime)).id, { ...YES, remember: 'exact' })
  await calling
  assert.equal((await run(runtime, 'make all')).decision.rule, 'ask run_command, remembered')
  const denied = runtime.openAgent({ layers: [layer('deny')] }).call(make)
  assert.equal((await denied).decision.type, 'deny')
  const policy = parsePolicy({ ask: ['run_command'] }).rules
  for (const spec of [{ id: 'other', policy }, { layers: [layer('allow', { confirmation: true })] }]) {
    const asking = runtime.openAgent(spec).call(make)
    await runtime.approvals.answer((await question(runtime)).id, NO)
    assert.equal((await asking).decision.type, 'deny')
  }
  assert.deepEqual(ran(), ['make all', 'make all'])
  const [remembered] = await runtime.approvals.remembered()
  assert.ok(await runtime.approvals.forget(remembered?.id ?? ''))
})

test('a remembered answer covers no call of another scope: each workspace of a store is asked by itself', async (t) => {
  const store = await createMemoryStore({ projectId: 'default' })
  const [one, two] = [await open(t, { store, scope: '/one' }), await open(t, { store, scope: '/two' })]
  const calling = run(one.runtime, 'make all')
  const approval = await question(one.runtime)
  assert.deepEqual([approval.scope, approval.canRemember], ['/one', true])
  await one.runtime.approvals.answer(approval.id, { ...YES, remember: 'exact' })
  await calling
  const asking = run(two.runtime, 'make all')
  await two.runtime.approvals.answer((await question(two.runtime)).id, NO)
  assert.equal((await asking).decision.type, 'deny')
  assert.equal((await run(one.runtime, 'make all')).decision.rule, 'ask run_command, remembered')
  assert.deepEqual([one.ran(), two.ran()], [['make all', 'make all'], []])
})

test('an answer to a call that must be confirmed each time cannot be remembered', async (t) => {
  const { runtime } = await open(t)
  const confirmed: Layer = {
    name: 'ceiling',
    decide: () => ({ type: 'allow', rule: 'ceiling', limits: { confirmation: true } }),
  }
  const asking = runtime.openAgent({ layers: [confirmed] }).call(make)
  const { id, canRemember } = await question(runtime)
  assert.equal(canRemember, false)
  await assert.rejects(
    runtime.approvals.answer(id, { ...YES, remember: 'exact' }),
    (error) => isNexusError(error) && error.code === 'INVALID_ARGUMENT' && /may be remembered/.test(error.message),
  )
  await runtime.approvals.answer(id, NO)
  await asking
  assert.deepEqual(await runtime.approvals.remembered(), [])
})

test('a remembered prefix covers plain commands that go on, never a chained one or one with other arguments', async (t) => {
  const { runtime, ran } = await open(t)
  const calling = run(runtime, 'git status')
  await runtime.approvals.answer((await question(runtime)).id, { ...YES, remember: 'prefix' })
  await calling
  assert.equal((await run(runtime, 'git status --short src')).decision.type, 'allow')
  for (const [command, more] of [
    ['git status; id', {}],
    ['git status $(id)', {}],
    ['git statusx', {}],
    ['git status\nid', {}],
    ['git status', { cwd: '.' }],
  ] as const) {
    const asking = run(runtime, command, more)
    await runtime.approvals.answer((await question(runtime)).id, NO)
    assert.equal((await asking).decision.type, 'deny', command)
  }
  assert.deepEqual(ran(), ['git status', 'git status --short src'])
})

test('the first answer counts: a question that is answered elsewhere is withdrawn here', async (t) => {
  let withdrawn: AbortSignal | undefined
  const { runtime } = await open(t, {
    approve: (_call, _question, signal) =>
      new Promise((resolve) => {
        withdrawn = signal
        signal.addEventListener('abort', () => resolve(false))
      }),
  })
  const calling = run(runtime, 'ls')
  await runtime.approvals.answer((await question(runtime)).id, { ...YES, by: 'another terminal' })
  assert.equal((await calling).decision.rule, 'ask run_command, approved by another terminal')
  assert.equal(withdrawn?.aborted, true)
})

test('what is no answer is not a no: the question is closed, nothing runs, and the denial says how to go on', async (t) => {
  for (const said of [undefined, null, {}, { isAllowed: 'yes' }, 'yes']) {
    const { runtime, store, ran } = await open(t, { approve: () => Promise.resolve(said as ApprovalAnswer) })
    const { outcome, entry } = await run(runtime, 'ls')
    assert.match(wordsOf(outcome), /The question was closed without an answer\./)
    assert.match(outcome.type === 'failed' ? (outcome.fix ?? '') : '', /repeat the call when the user can answer/)
    const [approval] = await store.approvals.list()
    assert.deepEqual([entry.state, approval?.state, approval?.answeredBy, ran()], ['denied', 'not run', undefined, []])
  }
})

test('a question that fails is not answered by anybody', async (t) => {
  const { runtime, store } = await open(t, { approve: () => Promise.reject(new Error('the screen is gone')) })
  assert.match(wordsOf((await run(runtime, 'ls')).outcome), /The question failed: the screen is gone/)
  assert.deepEqual([(await store.approvals.list())[0]?.state], ['not run'])
})

test('an answer from elsewhere counts although the callback never settles', async (t) => {
  const { runtime } = await open(t, { approve: () => new Promise(() => undefined) })
  const calling = run(runtime, 'ls')
  await runtime.approvals.answer((await question(runtime)).id, YES)
  assert.equal(codeOf((await calling).outcome), 'success')
})

test('a cancelled call withdraws its question: not run', async (t) => {
  const { runtime, store, ran } = await open(t)
  const stop = new AbortController()
  const calling = callOf(runtime, { tool: 'run_command', arguments: { command: 'ls' } }, { signal: stop.signal })
  const { id } = await question(runtime)
  stop.abort()
  assert.equal(codeOf((await calling).outcome), 'CANCELLED')
  assert.deepEqual([(await store.approvals.get(id))?.state, ran()], ['not run', []])
})

test('policy that changed while a person was asked counts: it is decided again', async (t) => {
  let isDenied = false
  const layers: Layer[] = [
    { name: 'ceiling', decide: () => (isDenied ? { type: 'deny', rule: 'ceiling', reason: 'taken away' } : undefined) },
  ]
  const { runtime, ran } = await open(t)
  const asking = runtime.openAgent({ layers }).call({ tool: 'run_command', arguments: { command: 'ls' } })
  const { id } = await question(runtime)
  isDenied = true
  await runtime.approvals.answer(id, YES)
  assert.match(wordsOf((await asking).outcome), /taken away/)
  assert.deepEqual(ran(), [])
})

test('a call of an agent is recorded as that agent, with the revision of its skill', async (t) => {
  const shop = workshop(t)
  shop.write('one')
  const runtime = await shop.open()
  const forged = { tool: 'load_skill', arguments: { skill_name: 'one' }, agentId: 'other', sessionId: 'theirs' }
  const { entry } = await runtime.openAgent({ sessionId: 's1' }).call(forged)
  assert.deepEqual([entry.call.agentId, entry.call.sessionId], ['main', 's1'])
  assert.match(entry.skill?.treeDigest ?? '', /^sha256:[0-9a-f]{64}$/)
})

test('a callback that answers after the cancel answers nothing, and nothing is remembered', async (t) => {
  const memory = await createMemoryStore({ projectId: 'default' })
  const stop = new AbortController()
  const said = Promise.withResolvers<void>()
  /** The question of the cancelled call is still open when the callback answers. */
  const close: Store['ledger']['close'] = async (...args) => {
    await said.promise
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    return memory.ledger.close(...args)
  }
  const { runtime, ran } = await open(t, {
    store: { ...memory, ledger: { ...memory.ledger, close } },
    approve: async (_call, _question, signal) => {
      stop.abort()
      await new Promise(setImmediate)
      assert.equal(signal.aborted, true)
      said.resolve()
      return { ...YES, remember: 'exact' }
    },
  })
  const request = { tool: 'run_command', arguments: { command: 'make' } }
  const { outcome } = await callOf(runtime, request, { signal: stop.signal })
  assert.deepEqual([codeOf(outcome), ran()], ['CANCELLED', []])
  assert.deepEqual(
    (await memory.approvals.list()).map(({ state }) => state),
    ['not run'],
  )
  assert.deepEqual(await runtime.approvals.remembered(), [])
})

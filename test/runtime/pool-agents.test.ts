import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createAgent } from '../../src/agents/turns/index.ts'
import { type AgentRules, parsePolicy, presetPermissions, saveRules } from '../../src/authorize/index.ts'
import type { Approval, AgentRecord } from '../../src/store/index.ts'
import type { Runtime } from '../../src/runtime/index.ts'
import { createMemoryStore } from '../../src/store/index.ts'
import { createScriptedSandbox, startModelServer } from '../../src/testing/index.ts'
import { localModel } from '../agents/turns/rig.ts'
import { codeOf, wordsOf, workshop } from './rig.ts'

/** A runtime over a store, and rules of agents that must ask before run_command. */
async function open(t: TestContext) {
  const shop = workshop(t)
  const store = await createMemoryStore({ projectId: 'default' })
  const sandbox = createScriptedSandbox({})
  const runtime = await shop.open({ store, sandbox, workspace: shop.root, waitForAnswers: true })
  const policy = parsePolicy({ ask: ['run_command'] }).rules
  const permissions = presetPermissions('trusted', { presets: {}, workspace: shop.root })
  assert.ok('level' in permissions)
  const rules: AgentRules = { policy, permissions, ceilings: [{ of: 'main', policy, permissions }] }
  return { runtime, store, rules, ran: () => sandbox.requests.map(({ command }) => command) }
}

const make = (runtime: Runtime, row: AgentRecord) =>
  runtime.openAgent({ row }).call({ tool: 'run_command', arguments: { command: 'make' } })

async function question(runtime: Runtime): Promise<Approval> {
  for (;;) {
    const [approval] = await runtime.approvals.list()
    if (approval) return approval
    await new Promise(setImmediate)
  }
}

test('an id that is used again makes a new agent, to which no "always allow" of the old one applies', async (t) => {
  const { runtime, store, rules, ran } = await open(t)
  const first = await store.agents.create({ parent: 'main', ...saveRules(rules) })
  const calling = make(runtime, first)
  const asked = await question(runtime)
  assert.deepEqual([asked.agentId, asked.agentPath], [first.key, 'main/.1'])
  await runtime.approvals.answer(asked.id, { isAllowed: true, by: 'ada', kind: 'person', remember: 'exact' })
  assert.equal(codeOf((await calling).outcome), 'success')
  const { decision, entry } = await make(runtime, first)
  assert.equal(decision.rule, 'ask run_command, remembered')
  assert.deepEqual([entry.call.agentId, entry.call.sessionId], [first.key, first.sessionId])

  await store.agents.end(first.key)
  const second = await store.agents.create({ parent: 'main', ...saveRules(rules) })
  assert.deepEqual([second.id, second.path], [first.id, first.path])
  const again = make(runtime, second)
  await runtime.approvals.answer((await question(runtime)).id, { isAllowed: false, by: 'ada', kind: 'person' })
  assert.match(wordsOf((await again).outcome), /A person said no/)
  assert.deepEqual(ran(), ['make', 'make'])
  // Not to its parent either.
  const named = runtime.openAgent({ id: 'main', policy: rules.policy })
  const asking = named.call({ tool: 'run_command', arguments: { command: 'make' } })
  await runtime.approvals.answer((await question(runtime)).id, { isAllowed: false, by: 'ada', kind: 'person' })
  assert.equal((await asking).decision.type, 'deny')
})

test('an agent of the pool has the rules of its row, and may do nothing when they cannot be read or it ended', async (t) => {
  const { runtime, store, rules } = await open(t)
  const narrow = parsePolicy({ deny: ['sleep'] }).rules
  const ceilings = [{ of: 'main', policy: narrow, permissions: rules.permissions }]
  const row = await store.agents.create({ id: 'a', ...saveRules({ ...rules, ceilings }) })
  const { decision } = await runtime.openAgent({ row }).call({ tool: 'sleep', arguments: { seconds: 0 } })
  assert.match(decision.rule, /sleep/)
  assert.equal(decision.type, 'deny')
  for (const part of ['permissions', 'ceiling'] as const)
    assert.throws(() => runtime.openAgent({ row: { ...row, [part]: {} } }), {
      code: 'STORE_FAILED',
      message: /agent a /,
    })
  const [ended] = await store.agents.end(row.key)
  assert.throws(() => runtime.openAgent({ row: ended }), { code: 'CONFLICT', message: /has ended/ })
})

test('the turns of an agent of the pool are in its one session, which is of no later agent', async (t) => {
  const { runtime, store, rules } = await open(t)
  const server = await startModelServer({ script: [{ type: 'text', text: 'Hi.' }] })
  t.after(() => server.close())
  const row = await store.agents.create({ id: 'a', ...saveRules(rules) })
  const model = await localModel(server)
  const agent = createAgent({ agent: runtime.openAgent({ row }), model, store })
  assert.equal((await agent.send('Hello')).text, 'Hi.')
  assert.equal((await store.agents.use(row.key)).steps, 1)
  await store.agents.end(row.key)
  await assert.rejects(agent.send('More'), { code: 'CONFLICT', message: /has ended/ })
  const next = await store.agents.create({ id: 'a', ...saveRules(rules) })
  const theirs = { ...next, sessionId: row.sessionId }
  const thief = createAgent({ agent: runtime.openAgent({ row: theirs }), model, store })
  await assert.rejects(thief.send('More'), { code: 'CONFLICT', message: /belongs/ })
})

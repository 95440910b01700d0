import assert from 'node:assert/strict'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  createFolderSource,
  createRuntime,
  defineTool,
  type Parts,
  parsePolicy,
  type Runtime,
  type TargetFacts,
} from '../../src/public/index.ts'
import { failed, type JsonObject, succeeded } from '../../src/kernel/index.ts'
import { createMemoryStore } from '../../src/store/index.ts'
import { callOf } from './rig.ts'

const SKILLS = fileURLToPath(new URL('../fixtures/runtime/skills', import.meta.url))
const FACTS: TargetFacts = { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false }

const policyOf = (input: Parameters<typeof parsePolicy>[0]) => parsePolicy(input).rules

function source(trusted = true) {
  return createFolderSource({ id: 'fixture', tier: 'workspace', rank: 0, path: SKILLS, trusted })
}

async function open(t: { after: (fn: () => Promise<void>) => void }, more: Partial<Parts> = {}): Promise<Runtime> {
  const runtime = await createRuntime({ sources: [source()], facts: FACTS, ...more })
  t.after(() => runtime.close())
  return runtime
}

/** A tool that counts its runs. */
function counting(name: string, runs: string[]) {
  return defineTool({
    name,
    description: 'Counts.',
    parameters: { type: 'object', properties: { text: { type: 'string' } } },
    execute: async (args) => {
      runs.push(String(args['text'] ?? ''))
      return succeeded(`said ${String(args['text'])}`, { text: String(args['text'] ?? '') })
    },
  })
}

test('a skill that can run here is ready, and one that cannot is held with every reason', async (t) => {
  const catalog = (await open(t)).openAgent().catalog()
  assert.deepEqual(
    catalog.skills.map((skill) => skill.name),
    ['alpha'],
  )
  assert.deepEqual(
    catalog.held.map((held) => held.reasons.map((reason) => reason.text)),
    [['missing binary: moon-lander', 'missing env: MOON_KEY']],
  )
})

test('a runtime serves the project of its store, and without one the default project', async (t) => {
  const runs: string[] = []
  const registerTools: NonNullable<Parts['registerTools']> = (registry) =>
    registry.register('say', () => counting('say', runs))
  const store = await createMemoryStore({ projectId: 'tenant-7' })
  for (const [runtime, projectId] of [
    [await open(t, { store, registerTools }), 'tenant-7'],
    [await open(t, { registerTools }), 'default'],
  ] as const) {
    const { entry } = await callOf(runtime, { tool: 'say', arguments: { text: projectId } })
    assert.deepEqual([runtime.projectId, entry.call.projectId, entry.state], [projectId, projectId, 'done'])
  }
  assert.deepEqual(runs, ['tenant-7', 'default'])
})

test('a loaded skill has its arguments filled in', async (t) => {
  const runtime = await open(t)
  const { outcome, decision } = await callOf(runtime, { tool: 'Skill', arguments: { name: 'alpha', args: 'omega' } })
  assert.equal(decision.type, 'allow')
  assert.match(outcome.type === 'failed' ? outcome.message : String(outcome.data['content']), /and omega\./)
})

test('a denied call is never run, and the ledger says which rule spoke', async (t) => {
  const runs: string[] = []
  const agents = [{ id: 'main', policy: policyOf({ profile: 'full', deny: ['count'] }) }]
  const store = await createMemoryStore({ projectId: 'default' })
  const { ledger } = store
  const runtime = await open(t, {
    agents,
    store,
    registerTools: (registry) => registry.register('count', () => counting('count', runs)),
  })
  const { outcome, entry } = await callOf(runtime, { tool: 'count', arguments: { text: 'x' } })
  assert.equal(outcome.type, 'failed')
  assert.deepEqual(runs, [])
  assert.equal(entry.decision.type, 'deny')
  assert.match(entry.decision.rule, /count/)
  assert.deepEqual(await ledger.list(), [entry])
})

test('a tool that policy denies is not shown to the model', async (t) => {
  const agents = [{ id: 'main', policy: policyOf({ profile: 'full', deny: ['read_skill_file'] }) }]
  const names = (await open(t, { agents }))
    .openAgent()
    .definitions()
    .map((tool) => tool.name)
  assert.deepEqual(names, ['load_skill', 'sleep'])
})

test('a call that wants confirmation is denied when nobody is there to ask', async (t) => {
  const runs: string[] = []
  const agents = [{ id: 'main', policy: policyOf({ profile: 'full', ask: ['count'] }) }]
  const registerTools: Parts['registerTools'] = (registry) => registry.register('count', () => counting('count', runs))
  const { decision } = await callOf(await open(t, { agents, registerTools }), { tool: 'count', arguments: {} })
  assert.equal(decision.type, 'deny')
  assert.deepEqual(runs, [])
})

test('a call that a person approves runs, and the ledger says so', async (t) => {
  const runs: string[] = []
  const agents = [{ id: 'main', policy: policyOf({ profile: 'full', ask: ['count'] }) }]
  const registerTools: Parts['registerTools'] = (registry) => registry.register('count', () => counting('count', runs))
  const runtime = await open(t, { agents, registerTools, approve: async (call) => call.tool === 'count' })
  const { decision } = await callOf(runtime, { tool: 'count', arguments: { text: 'yes' } })
  assert.equal(decision.type, 'allow')
  assert.deepEqual(runs, ['yes'])
})

test('the entry is in the ledger before the tool runs', async (t) => {
  const store = await createMemoryStore({ projectId: 'default' })
  const { ledger } = store
  const seen: string[] = []
  const spy = defineTool({
    name: 'spy',
    description: 'Looks at the ledger.',
    parameters: { type: 'object' },
    execute: async (_args, context) => {
      seen.push((await ledger.get(context.callId))?.state ?? 'absent')
      return failed('EXECUTION_ERROR', 'done looking')
    },
  })
  const runtime = await open(t, { store, registerTools: (registry) => registry.register('spy', () => spy) })
  const { entry } = await callOf(runtime, { tool: 'spy', arguments: {} })
  assert.deepEqual(seen, ['started'])
  assert.equal(entry.state, 'failed')
})

test('a secret is in neither the ledger nor the outcome', async (t) => {
  const runs: string[] = []
  const store = await createMemoryStore({ projectId: 'default' })
  const { ledger } = store
  const registerTools: Parts['registerTools'] = (registry) => registry.register('count', () => counting('count', runs))
  const runtime = await open(t, { store, registerTools, secrets: ['hunter2-hunter2'] })
  const { outcome } = await callOf(runtime, { tool: 'count', arguments: { text: 'key hunter2-hunter2' } })
  assert.deepEqual(runs, ['key hunter2-hunter2'])
  assert.doesNotMatch(JSON.stringify([outcome, await ledger.list()]), /hunter2/)
})

test('a skill of an untrusted source is held, and loading it is refused', async (t) => {
  const runtime = await open(t, { sources: [source(false)] })
  assert.deepEqual(runtime.openAgent().catalog().skills, [])
  const { outcome } = await callOf(runtime, { tool: 'load_skill', arguments: { skill_name: 'alpha' } })
  assert.equal(outcome.type, 'failed')
})

test('an agent sees only the skills on its list', async (t) => {
  const agents = [
    { id: 'main', policy: policyOf({ profile: 'full' }) },
    { id: 'bare', policy: policyOf({ profile: 'full' }), skills: [] },
  ]
  const runtime = await open(t, { agents })
  assert.equal(runtime.openAgent({ id: 'main' }).catalog().skills.length, 1)
  assert.equal(runtime.openAgent({ id: 'bare' }).catalog().skills.length, 0)
  assert.equal(runtime.openAgent({ id: 'bare' }).instructions(), '')
})

test('a source that fails is reported, and the others still load', async (t) => {
  const broken = {
    id: 'broken',
    tier: 'extra',
    rank: 0,
    trusted: true,
    discover: () => Promise.reject(new Error('no such disk')),
  } as const
  const runtime = await open(t, { sources: [broken, source()] })
  assert.equal(runtime.openAgent().catalog().skills.length, 1)
  assert.ok(runtime.diagnostics.some((diagnostic) => diagnostic.message.includes('no such disk')))
})

test('an unknown tool and an unknown agent are answered with the nearest name or the known ones', async (t) => {
  const runtime = await open(t)
  const { outcome } = await callOf(runtime, { tool: 'load_skil', arguments: {} })
  assert.match(outcome.type === 'failed' ? outcome.message : '', /load_skill/)
  await assert.rejects(callOf(runtime, { tool: 'load_skill', agentId: 'nobody', arguments: {} }), {
    code: 'INVALID_ARGUMENT',
  })
})

test('a runtime without sandbox and facts is refused with the fix', async () => {
  await assert.rejects(createRuntime({ sources: [source()] }), { code: 'INVALID_ARGUMENT' })
})

test('live output holds no secret, also when it is cut between two chunks', async (t) => {
  const shown: string[] = []
  const loud = defineTool({
    name: 'loud',
    description: 'Prints.',
    parameters: { type: 'object' },
    execute: async (_args, context) => {
      for (const text of ['key hunter2-', 'hunter2 and', ' more']) context.onOutput?.({ stream: 'stdout', text })
      return succeeded('printed')
    },
  })
  const runtime = await open(t, {
    secrets: ['hunter2-hunter2'],
    registerTools: (registry) => registry.register('loud', () => loud),
  })
  await callOf(runtime, { tool: 'loud', arguments: {} }, { onOutput: ({ text }) => shown.push(text) })
  assert.equal(shown.join(''), 'key [redacted] and more')
})

test('a question that fails or is cancelled is recorded as a refusal, and nothing runs', async (t) => {
  const runs: string[] = []
  const agents = [{ id: 'main', policy: policyOf({ profile: 'full', ask: ['count'] }) }]
  const registerTools: Parts['registerTools'] = (registry) => registry.register('count', () => counting('count', runs))
  const approve = () => Promise.reject(new Error('the terminal is gone'))
  const runtime = await open(t, { agents, registerTools, approve })
  const { entry, outcome } = await callOf(runtime, { tool: 'count', arguments: {} })
  assert.match(entry.decision.type === 'deny' ? entry.decision.reason : '', /the terminal is gone/)
  assert.equal(outcome.type === 'failed' && outcome.error, 'CALL_DENIED')
  const silent = await open(t, { agents, registerTools, approve: () => Promise.reject(undefined) })
  const { decision } = (await callOf(silent, { tool: 'count', arguments: {} })).entry
  assert.match(decision.type === 'deny' ? decision.reason : '', /The question failed: undefined/)
  const stopped = await callOf(runtime, { tool: 'count', arguments: {} }, { signal: AbortSignal.abort() })
  assert.equal(stopped.outcome.type === 'failed' && stopped.outcome.code, 'CANCELLED')
  assert.deepEqual(runs, [])
})

test('arguments that are no object or nested too deeply are answered and recorded, not thrown', async (t) => {
  const runs: string[] = []
  const registerTools: Parts['registerTools'] = (registry) => registry.register('count', () => counting('count', runs))
  const runtime = await open(t, { registerTools, secrets: ['hunter2-hunter2'] })
  let deep: JsonObject = {}
  for (let level = 0; level < 50_000; level++) deep = { deep }
  for (const bad of [null, [], 'x', deep] as JsonObject[]) {
    const { outcome, entry } = await callOf(runtime, { tool: 'count', arguments: bad })
    assert.equal(outcome.type === 'failed' && outcome.code, 'INVALID_PARAM')
    assert.equal(entry.state, 'failed')
  }
  assert.deepEqual(runs, [])
})

test('the id of an agent is none that could be the key of an agent of the pool', async (t) => {
  const runtime = await open(t)
  const policy = parsePolicy({}).rules
  for (const id of ['', 'main/worker-1', 'a b', `@${'0'.repeat(32)}`]) {
    const refused = { code: 'INVALID_ARGUMENT', message: /cannot be the id/ }
    assert.throws(() => runtime.openAgent({ id, policy }), refused, id)
    await assert.rejects(open(t, { agents: [{ id, policy }] }), refused, id)
  }
})

/** A person is asked about hosts while a command runs: what is recorded, and for how long a yes counts. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { parsePolicy } from '../../src/authorize/index.ts'
import type { AskedCall, Parts, Runtime } from '../../src/runtime/index.ts'
import { createMemoryStore, type Store } from '../../src/store/index.ts'
import { createScriptedSandbox } from '../../src/testing/index.ts'
import { workshop } from './rig.ts'

type Remember = 'exact' | 'session' | undefined

/** Each command asks for the host that it names, unless it may reach it already. */
async function open(
  t: TestContext,
  more: Partial<Parts> & { readonly says?: () => boolean | { isAllowed: boolean; remember?: Remember } } = {},
) {
  const { says = () => true, ...parts } = more
  const shop = workshop(t)
  const asked: AskedCall[] = []
  const sandbox = () =>
    createScriptedSandbox({
      script: async ({ command, network }) => {
        const [, host = ''] = command.split(' ')
        const allowed = network?.allowed ?? []
        const known = allowed.some((rule) => rule.host === host && rule.port === 443)
        const yes = known || (await network?.ask?.({ host, port: 443 }, new AbortController().signal)) === true
        return { stdout: yes ? 'reached' : 'refused' }
      },
    })
  const store = more.store ?? (await createMemoryStore({ projectId: 'default' }))
  const openRuntime = (): Promise<Runtime> =>
    shop.open({
      ...{ store, sandbox: sandbox(), workspace: shop.root, scope: 'here', ...parts },
      approve: async (call, question) => {
        asked.push(call)
        assert.match(question, /reach .* port 443/)
        return says()
      },
    })
  return { shop, store, asked, openRuntime, runtime: await openRuntime() }
}

async function reach(runtime: Runtime, host: string, sessionId?: string, agentId?: string): Promise<string> {
  const agent = runtime.openAgent({ sessionId, id: agentId })
  const { outcome } = await agent.call({ tool: 'run_command', arguments: { command: `get ${host}` } })
  return String(outcome.data?.['stdout'])
}

const connects = async (store: Store) =>
  (await store.ledger.list()).filter(({ call }) => call.tool === 'network.connect')

test('each question is a call of its own in the ledger, below that of the command', async (t) => {
  let yes = true
  const { runtime, store, asked } = await open(t, { says: () => yes })
  assert.equal(await reach(runtime, 'api.acme.io', 's1'), 'reached')
  yes = false
  assert.equal(await reach(runtime, 'other.acme.io', 's1'), 'refused')
  const [first, second] = await connects(store)
  const command = (await store.ledger.list()).find(({ call }) => call.tool === 'run_command')
  assert.deepEqual(first?.call.arguments, { host: 'api.acme.io', port: 443, command_call: command?.call.id })
  assert.deepEqual([first?.call.sessionId, first?.state, first?.decision.type], ['s1', 'done', 'allow'])
  assert.deepEqual([second?.outcome?.type, second?.decision.type], ['failed', 'deny'])
  assert.deepEqual(
    asked.map(({ tool, agentPath }) => [tool, agentPath]),
    [
      ['network.connect', 'main'],
      ['network.connect', 'main'],
    ],
  )
})

test('"once" counts for one command only', async (t) => {
  const { runtime, asked } = await open(t)
  await reach(runtime, 'api.acme.io', 's1')
  await reach(runtime, 'api.acme.io', 's1')
  assert.equal(asked.length, 2)
})

test('"this session" counts for the session of that agent, also when a later process goes on with it', async (t) => {
  const agents = ['main', 'other'].map((id) => ({ id, policy: parsePolicy({}).rules }))
  const { runtime, openRuntime, asked, store } = await open(t, {
    agents,
    says: () => ({ isAllowed: true, remember: 'session' }),
  })
  await reach(runtime, 'api.acme.io', 's1')
  assert.equal(await reach(runtime, 'api.acme.io', 's1'), 'reached')
  await runtime.close()
  const later = await openRuntime()
  assert.equal(await reach(later, 'api.acme.io', 's1'), 'reached')
  assert.equal(asked.length, 1)
  // Another host, another session, another agent, and no session at all.
  await reach(later, 'other.acme.io', 's1')
  await reach(later, 'api.acme.io', 's2')
  await reach(later, 'api.acme.io', 's1', 'other')
  await reach(later, 'api.acme.io')
  await reach(later, 'api.acme.io')
  assert.equal(asked.length, 6)
  assert.deepEqual(await store.approvals.remembered(), [])
})

test('a "no" for the session is a no, and asked again', async (t) => {
  const { runtime, asked } = await open(t, { says: () => ({ isAllowed: false, remember: 'session' }) })
  assert.equal(await reach(runtime, 'api.acme.io', 's1'), 'refused')
  assert.equal(await reach(runtime, 'api.acme.io', 's1'), 'refused')
  assert.equal(asked.length, 2)
})

test('"always" counts in every session, until it is forgotten', async (t) => {
  const { runtime, asked, store } = await open(t, { says: () => ({ isAllowed: true, remember: 'exact' }) })
  await reach(runtime, 'api.acme.io', 's1')
  assert.equal(await reach(runtime, 'api.acme.io', 's2'), 'reached')
  assert.equal(asked.length, 1)
  const [remembered] = await store.approvals.remembered()
  assert.deepEqual([remembered?.tool, remembered?.text], ['network.connect', 'api.acme.io:443'])
  await runtime.approvals.forget(remembered?.id ?? '')
  await reach(runtime, 'api.acme.io', 's2')
  assert.equal(asked.length, 2)
})

test('an answer for a skill counts for that revision of it, and not for commands of none', async (t) => {
  const { shop, asked, openRuntime } = await open(t, { says: () => ({ isAllowed: true, remember: 'session' }) })
  shop.write('weather')
  const of = async (runtime: Runtime): Promise<void> => {
    const agent = runtime.openAgent({ sessionId: 's1' })
    await agent.call({ tool: 'load_skill', arguments: { skill_name: 'weather' } })
    await agent.call({ tool: 'run_command', arguments: { command: 'get api.acme.io', skill_name: 'weather' } })
  }
  const runtime = await openRuntime()
  await of(runtime)
  await of(runtime)
  assert.equal(asked.length, 1)
  await reach(runtime, 'api.acme.io', 's2')
  assert.equal(asked.length, 2)
  shop.write('weather', { body: 'Changed.' })
  await of(await openRuntime())
  assert.equal(asked.length, 3)
})

test('nobody is asked where nobody can answer, or where the limits of the agent close all hosts', async (t) => {
  const shop = workshop(t)
  const asks: boolean[] = []
  const sandbox = createScriptedSandbox({
    script: ({ network }) => {
      asks.push(network?.ask !== undefined)
      return {}
    },
  })
  const common = { sandbox, workspace: shop.root }
  await reach(await shop.open(common), 'api.acme.io')
  await reach(await shop.open({ ...common, approve: async () => true }), 'api.acme.io')
  assert.deepEqual(asks, [false, true])
})

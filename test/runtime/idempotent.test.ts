import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePolicy } from '../../src/authorize/index.ts'
import { createMemoryStore } from '../../src/store/index.ts'
import { defineTool } from '../../src/tools/index.ts'
import { workshop } from './rig.ts'

test('an idempotent call of an ended process is made again with its id, unless the rules of now deny it', async (t) => {
  const store = await createMemoryStore({ projectId: 'default' })
  const ran: string[] = []
  const again = defineTool({
    name: 'again',
    description: 'Does it once for each id.',
    parameters: { type: 'object' },
    options: { isIdempotent: true },
    execute: (_, { callId }) => {
      ran.push(callId)
      return 'did it'
    },
  })
  const runtime = await workshop(t).open({
    store,
    agents: [
      { id: 'may', policy: parsePolicy({ allow: ['again'] }).rules },
      { id: 'may-not', policy: parsePolicy({ deny: ['again'] }).rules },
    ],
    registerTools: (registry) => registry.register('again', () => again),
  })
  const begun = async (id: string) => {
    const agent = runtime.openAgent({ id: 'may' })
    const request = { tool: 'again', arguments: {}, origin: 'model' as const }
    const call = { ...request, id, projectId: 'default', agentId: agent.key }
    const { decision } = agent.explain(request)
    const entry = await agent.write((lease) => store.ledger.record({ call, decision, lease, isIdempotent: true }))
    return { request: { ...request, callId: id }, entry }
  }
  const one = await begun('one')
  const done = await runtime.openAgent({ id: 'may' }).call(one.request, { goesOn: one })
  assert.deepEqual([done.outcome.type, done.entry.state, ran], ['success', 'done', ['one']])
  const two = await begun('two')
  const denied = await runtime.openAgent({ id: 'may-not' }).call(two.request, { goesOn: two })
  assert.deepEqual([denied.entry.state, denied.decision.type, ran], ['denied', 'deny', ['one']])
  const three = await begun('three')
  const other = await runtime
    .openAgent({ id: 'may' })
    .call({ ...three.request, arguments: { changed: true } }, { goesOn: three })
  assert.deepEqual([other.entry.state, ran], ['interrupted', ['one']])
})

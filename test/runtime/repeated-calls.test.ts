import assert from 'node:assert/strict'
import test from 'node:test'
import { succeeded } from '../../src/kernel/index.ts'
import { createRuntime, defineTool } from '../../src/public/index.ts'

test('a call with a used id runs once: each caller gets its outcome, also while it runs', async (t) => {
  const runs: string[] = []
  const gate = Promise.withResolvers<void>()
  const runtime = await createRuntime({
    sources: [],
    facts: { target: 'a test', os: 'linux', hasBin: () => false, hasEnv: () => false },
    registerTools: (registry) =>
      registry.register('say', () =>
        defineTool({
          name: 'say',
          description: 'Says it.',
          parameters: { type: 'object', properties: {} },
          async execute() {
            runs.push('run')
            await gate.promise
            return succeeded(`run ${runs.length}`)
          },
        }),
      ),
  })
  t.after(() => runtime.close())
  const agent = runtime.openAgent()
  const send = (signal?: AbortSignal) => agent.call({ tool: 'say', arguments: {}, callId: 'c1' }, { signal })
  const first = send()
  while (runs.length === 0) await new Promise(setImmediate)
  const second = send()
  const impatient = await send(AbortSignal.abort())
  assert.equal(impatient.outcome.type === 'failed' && impatient.outcome.code, 'CANCELLED')
  gate.resolve()
  const outcomes = (await Promise.all([first, second, send()])).map(({ outcome }) => outcome)
  assert.deepEqual(outcomes, [outcomes[0], outcomes[0], outcomes[0]])
  assert.deepEqual([outcomes[0]?.type, runs], ['success', ['run']])
  const { entry } = await send()
  assert.equal(entry.state, 'done')
})

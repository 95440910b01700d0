import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createAgent, type AgentEvent } from '../../../src/agents/turns/index.ts'
import { createRuntime } from '../../../src/public/index.ts'
import { createMemoryStore } from '../../../src/store/index.ts'
import { type Reply, startModelServer } from '../../../src/testing/index.ts'
import { localModel } from './rig.ts'

const SECRET = 'hunter2-hunter2-hunter2'
const FACTS = { target: 'here', os: 'linux', hasBin: () => false, hasEnv: () => false } as const

/** One turn of a real runtime that knows the secret, and everything that came out of it. */
async function turn(script: readonly Reply[]) {
  await using server = await startModelServer({ script })
  const store = await createMemoryStore({ projectId: 'default' })
  const runtime = await createRuntime({ sources: [], facts: FACTS, store, secrets: [SECRET] })
  try {
    const limits = { retryDelayMs: 1, maxRetries: 1 }
    const agent = createAgent({
      agent: runtime.openAgent({ sessionId: 's1' }),
      model: await localModel(server),
      store,
      limits,
    })
    const events: AgentEvent[] = []
    const result = await agent.send('go', { onEvent: (event) => events.push(event) })
    const said = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
    const kept = JSON.stringify([await store.sessions.messages(agent.sessionId), await store.ledger.list()])
    return { result, events, said, kept, everything: `${said} ${JSON.stringify([events, result])} ${kept}` }
  } finally {
    await runtime.close()
  }
}

/** Short, as the whole would fill the screen. */
function assertSilent(everything: string): void {
  const at = everything.indexOf('unter2')
  assert.equal(at < 0 ? '' : everything.slice(Math.max(0, at - 80), at + 20), '')
}

describe("a model's live words", () => {
  it('hold no secret, in events, result and history', async () => {
    const { result, said, everything } = await turn([{ type: 'text', text: `The key is ${SECRET}.` }])
    assert.equal(said, 'The key is [redacted].')
    assert.equal(result.text, said)
    assertSilent(everything)
  })

  it('hold none that comes in pieces, wherever it is cut', async () => {
    const text = `The key is ${SECRET}, so ${SECRET}: h`
    const places = fc.uniqueArray(fc.integer({ min: 1, max: text.length - 1 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(places, async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), text.length]
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end))
        const { result, said, everything } = await turn([{ type: 'text', text: pieces }])
        assert.equal(said, 'The key is [redacted], so [redacted]: h')
        assert.equal(result.text, said)
        assertSilent(everything)
      }),
      { numRuns: 15 },
    )
  })

  it('hold no beginning of one where the answer was cut', async () => {
    const half = SECRET.slice(0, 15)
    const cut: readonly Reply[][] = [
      [{ type: 'text', text: `The key is ${half}`, finish: 'length' }],
      [{ type: 'text', text: `The key is ${half}`, finish: 'content-filter' }],
      [
        { type: 'disconnect', text: `The key is ${half}` },
        { type: 'disconnect', text: `The key is ${half}` },
      ],
    ]
    for (const script of cut) {
      const { result, said, everything } = await turn(script)
      assert.match(said, /^(The key is \[redacted\]){1,2}$/)
      assert.equal(result.text, 'The key is [redacted]')
      assertSilent(everything)
    }
  })

  it('are told at once when no secret begins with them', async () => {
    const { events } = await turn([{ type: 'text', text: ['One. ', 'Two. ', 'Three.'] }])
    const deltas = events.filter((event) => event.type === 'text-delta')
    assert.deepEqual(
      deltas.map(({ text }) => text),
      ['One. ', 'Two. ', 'Three.'],
    )
  })
})

describe('a call that holds a secret', () => {
  it('shows none in its name, in arguments that cannot be read, and in what the model is answered', async () => {
    const calls: Reply[] = [
      { type: 'tool-calls', calls: [{ name: SECRET, arguments: {} }] },
      { type: 'tool-calls', calls: [{ name: 'load_skill', arguments: `${SECRET} is no JSON` }] },
      { type: 'tool-calls', calls: [{ name: 'load_skill', arguments: `{"a": ${SECRET}}` }] },
      { type: 'tool-calls', calls: [{ name: 'load_skill', arguments: `${'x'.repeat(190)}${SECRET}` }] },
      { type: 'tool-calls', text: SECRET, calls: [{ name: 'load_skill', arguments: { skill_name: SECRET } }] },
    ]
    const { result, events, everything } = await turn([...calls, { type: 'text', text: 'ok' }])
    assert.equal(result.end, 'done')
    assert.equal(events.filter(({ type }) => type === 'tool-result').length, calls.length)
    assertSilent(everything)
  })
})

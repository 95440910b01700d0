import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { failed, succeeded } from '../../../src/kernel/index.ts'
import { createFakeClock, type Reply } from '../../../src/testing/index.ts'
import { isWhole, startRig, type TestTool, toolAnswers } from './rig.ts'

const DONE: Reply = { type: 'text', text: 'Done.' }
const calls = (...list: [string, object?][]): Reply => ({
  type: 'tool-calls',
  calls: list.map(([name, args = {}]) => ({ name, arguments: args as {} })),
})

/** A tool that runs until it is told to stop. */
function endless(): { tool: TestTool; started: Promise<void>; readonly stopped: number } {
  const begun = Promise.withResolvers<void>()
  const state = { stopped: 0 }
  const tool: TestTool = (_args, { signal }) =>
    new Promise((resolve) => {
      begun.resolve()
      signal.addEventListener('abort', () => {
        state.stopped += 1
        resolve(failed('CANCELLED', 'stopped'))
      })
    })
  return {
    tool,
    started: begun.promise,
    get stopped() {
      return state.stopped
    },
  }
}

describe('cancel', () => {
  it('closes the request to the model and keeps what was said', async () => {
    await using rig = await startRig({ script: [{ type: 'hang', text: 'Well, ' }, DONE] })
    const stop = new AbortController()
    const pending = rig.agent.send('go', {
      signal: stop.signal,
      onEvent: ({ type }) => {
        if (type === 'text-delta') stop.abort()
      },
    })
    const result = await pending
    assert.deepEqual([result.end, result.text, result.error], ['cancelled', 'Well, ', undefined])
    await rig.server.waitForAbort(1)
    assert.match(JSON.stringify((await rig.history()).at(-1)), /Well, .*Cancelled by the user/)
    assert.equal((await rig.send('go on')).end, 'done')
  })

  it('stops the running call and answers those behind it', async () => {
    const wait = endless()
    let ran = 0
    const next = () => succeeded(`${++ran}`)
    await using rig = await startRig({ script: [calls(['wait'], ['next']), DONE], tools: { wait: wait.tool, next } })
    const stop = new AbortController()
    const pending = rig.send('go', stop.signal)
    await wait.started
    stop.abort()
    const result = await pending
    assert.equal(result.end, 'cancelled')
    assert.deepEqual([wait.stopped, ran, rig.server.requests.length], [1, 0, 1])
    const history = await rig.history()
    assert.ok(isWhole(history))
    assert.match(toolAnswers(history)[1]?.text ?? '', /cancelled/)
    assert.deepEqual(
      rig.ofType('tool-result').map(({ tool }) => tool),
      ['wait', 'next'],
    )
    assert.equal((await rig.store.ledger.list({ turnId: result.turnId }))[0]?.state, 'failed')
    assert.equal((await rig.send('go on')).text, 'Done.')
  })

  it('keeps what the model said before its call once', async () => {
    const wait = endless()
    const asking: Reply = { type: 'tool-calls', text: 'I wait now.', calls: [{ name: 'wait', arguments: {} }] }
    await using rig = await startRig({ script: [asking, DONE], tools: { wait: wait.tool } })
    const stop = new AbortController()
    const pending = rig.send('go', stop.signal)
    await wait.started
    stop.abort()
    assert.equal((await pending).text, 'I wait now.')
    const history = JSON.stringify(await rig.history())
    assert.equal(history.split('I wait now.').length - 1, 1)
    assert.match(history, /Cancelled by the user/)
  })

  it('stops every call of a parallel batch', async () => {
    const [a, b] = [endless(), endless()]
    await using rig = await startRig({
      script: [calls(['a', { _parallel: true }], ['b'])],
      tools: { a: a.tool, b: b.tool },
    })
    const stop = new AbortController()
    const pending = rig.send('go', stop.signal)
    await Promise.all([a.started, b.started])
    stop.abort()
    assert.equal((await pending).end, 'cancelled')
    assert.deepEqual([a.stopped, b.stopped], [1, 1])
    assert.ok(isWhole(await rig.history()))
  })

  it('ends the pause before a repeated request', async () => {
    await using rig = await startRig({
      script: [{ type: 'status', status: 429, retryAfter: 30 }],
      agent: { clock: createFakeClock() },
    })
    const stop = new AbortController()
    const result = await rig.agent.send('go', {
      signal: stop.signal,
      onEvent: ({ type }) => {
        if (type === 'notice') setImmediate(() => stop.abort())
      },
    })
    assert.equal(result.end, 'cancelled')
    assert.equal(rig.server.requests.length, 1)
  })

  it('before the start asks nobody', async () => {
    await using rig = await startRig({ script: [] })
    const result = await rig.send('go', AbortSignal.abort())
    assert.deepEqual([result.end, result.usage.steps, rig.server.requests.length], ['cancelled', 0, 0])
    assert.deepEqual(await rig.history(), [])
  })
})

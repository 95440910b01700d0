import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { resolveModel } from '../../../src/agents/turns/index.ts'
import { countStep, estimatePrompt } from '../../../src/agents/turns/tokens.ts'
import { succeeded } from '../../../src/kernel/index.ts'
import type { Reply } from '../../../src/testing/index.ts'
import { startRig } from './rig.ts'

const SILENT: Reply = { type: 'text', text: 'x'.repeat(400), usage: null }

describe('tokens of an answer', () => {
  for (const [spec, api] of [
    ['openai-compatible/scripted', 'chat'],
    ['openai/scripted', 'responses'],
    ['anthropic/scripted', 'chat'],
  ] as const) {
    it(`are estimated, and named so, where ${spec} (${api}) reports none`, async () => {
      await using server = await startRig({ script: [SILENT, SILENT] })
      const { url } = server.server
      const [provider = '', name = ''] = spec.split('/')
      const configured = { provider, name, baseUrl: url, apiKey: 'k', api }
      const model = await resolveModel({ configured, environment: {} })
      await using rig = await startRig({ script: [], store: server.store, agent: { model: model ?? assert.fail() } })
      const { usage, turnId } = await rig.send('y'.repeat(4_000))
      assert.ok(usage.inputTokens >= 1_000 && usage.inputTokens < 1_200, String(usage.inputTokens))
      assert.ok(usage.outputTokens >= 100 && usage.outputTokens < 110, String(usage.outputTokens))
      assert.equal(usage.estimatedTokens, usage.totalTokens)
      assert.equal(rig.ofType('step-end')[0]?.usage.estimatedTokens, usage.totalTokens)
      assert.deepEqual((await rig.store.turns.get(turnId))?.use, usage)
    })
  }

  it('are the provider’s own where it reports them, and the sum says which part is estimated', async () => {
    const call: Reply = { type: 'tool-calls', calls: [{ name: 'work', arguments: {} }] }
    const script: Reply[] = [
      { ...call, usage: { inputTokens: 100, outputTokens: 10 } },
      { type: 'text', text: 'done', usage: { inputTokens: 0, outputTokens: 7 } },
    ]
    await using rig = await startRig({ script, tools: { work: () => succeeded('ok') } })
    const { usage } = await rig.send('go')
    const [first, second] = rig.ofType('step-end')
    assert.deepEqual(first?.usage, { inputTokens: 100, outputTokens: 10, totalTokens: 110 })
    assert.equal(second?.usage.estimatedTokens, second?.usage.inputTokens)
    assert.equal(second?.usage.outputTokens, 7)
    assert.equal(usage.estimatedTokens, second?.usage.inputTokens)
  })

  for (const spec of ['openai-compatible/scripted', 'openai/scripted', 'anthropic/scripted'])
    it(`of ${spec} cost what the price says, also those that its cache had`, async () => {
      const usage = { inputTokens: 1_000, outputTokens: 100, cachedTokens: 600 }
      await using server = await startRig({ script: [{ type: 'text', text: 'Yes.', usage }] })
      const [provider = '', name = ''] = spec.split('/')
      const price = { input: 2, output: 10, cachedInput: 0.5 }
      const configured = { provider, name, baseUrl: server.server.url, apiKey: 'k', price }
      const model = await resolveModel({ configured, environment: {} })
      await using rig = await startRig({ script: [], store: server.store, agent: { model: model ?? assert.fail() } })
      const { usage: used, turnId } = await rig.send('Is it?')
      assert.deepEqual([used.inputTokens, used.outputTokens, used.cachedTokens], [1_000, 100, 600])
      assert.equal(used.cost, 0.002_1)
      assert.deepEqual((await rig.store.turns.get(turnId))?.use, used)
    })

  it('are counted by estimate for what came of answers that broke off, were cancelled or failed', async () => {
    const text = 'x'.repeat(400)
    await using rig = await startRig({
      script: [
        { type: 'disconnect', text },
        { type: 'text', text: 'Yes.', usage: { inputTokens: 10, outputTokens: 2 } },
        { type: 'hang', text },
        { type: 'disconnect', text },
        { type: 'status', status: 401 },
        { type: 'status', status: 401 },
      ],
      agent: { limits: { retryDelayMs: 1, maxRetries: 1 } },
    })
    const again = await rig.send('One')
    const lost = again.usage.estimatedTokens ?? 0
    assert.ok(lost > 100, String(lost))
    assert.deepEqual([again.end, again.usage.totalTokens, again.usage.steps], ['done', lost + 12, 1])
    const stop = new AbortController()
    const cancelled = await rig.agent.send('Two', {
      signal: stop.signal,
      onEvent: ({ type }) => type === 'text-delta' && stop.abort(),
    })
    assert.equal(cancelled.end, 'cancelled')
    assert.ok((cancelled.usage.estimatedTokens ?? 0) > 100)
    const failed = await rig.send('Three')
    assert.deepEqual([failed.end, failed.usage.estimatedTokens], ['failed', failed.usage.totalTokens])
    assert.ok(failed.usage.totalTokens > 100)
    for (const { turnId, usage } of [again, cancelled, failed]) {
      const { activeMs: _time, ...stored } = (await rig.store.turns.get(turnId))?.use ?? {}
      const { activeMs: _spent, ...used } = usage
      assert.deepEqual(stored, used)
    }
    // Nothing came, so nothing is counted.
    const refused = await rig.send('Four')
    assert.deepEqual([refused.end, refused.usage.totalTokens, refused.usage.steps], ['failed', 0, 0])
  })

  it('are the estimate of the prompt where nothing came before the answer was given up or cancelled', async () => {
    await using rig = await startRig({
      script: [{ type: 'hang' }, { type: 'hang' }],
      agent: { limits: { stepTimeoutMs: 500 } },
    })
    const late = await rig.send('x'.repeat(400))
    const lost = late.usage.estimatedTokens ?? 0
    assert.ok(lost >= 100, String(lost))
    assert.deepEqual([late.end, late.error?.code, late.usage.totalTokens], ['failed', 'MODEL_FAILED', lost])
    const stop = new AbortController()
    const cancelling = rig.send('Two', stop.signal)
    await rig.server.waitForRequest(2)
    stop.abort()
    const cancelled = await cancelling
    assert.equal(cancelled.end, 'cancelled')
    assert.ok((cancelled.usage.estimatedTokens ?? 0) > lost)
    const { totalTokens } = (await rig.store.turns.use([rig.agent.sessionId])).get(rig.agent.sessionId) ?? {}
    assert.equal(totalTokens, lost + cancelled.usage.totalTokens, 'budgets read the same')
  })

  it('that cannot be a count are replaced by the estimate', () => {
    const estimate = { input: 50, output: 5 }
    const wrong = [Number.NaN, -1, 1.5, 1e300, 0, undefined]
    for (const tokens of wrong) {
      const step = countStep({ inputTokens: tokens, outputTokens: tokens, totalTokens: tokens }, estimate)
      assert.deepEqual(step, { inputTokens: 50, outputTokens: 5, totalTokens: 55, estimatedTokens: 55 })
    }
    const less = countStep({ inputTokens: 10, outputTokens: 2, totalTokens: 3 }, estimate)
    assert.deepEqual(less, { inputTokens: 10, outputTokens: 2, totalTokens: 12 })
    const silent = countStep({ inputTokens: 10, outputTokens: 0, totalTokens: 10 }, { input: 50, output: 0 })
    assert.deepEqual(silent, { inputTokens: 10, outputTokens: 0, totalTokens: 10 })
  })

  it('are estimated with four characters a token and four tokens a message', () => {
    const messages = [
      { role: 'user', content: 'a'.repeat(40) },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'echo', input: { a: 1 } }] },
    ]
    const tools = [{ wireName: 'echo', name: 'echo', description: 'b'.repeat(8), parameters: {} }]
    assert.deepEqual(estimatePrompt({ instructions: 'c'.repeat(20), tools, messages }), {
      system: 9,
      tools: 8,
      messages: 21,
      total: 38,
    })
  })
})

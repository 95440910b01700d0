import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ConfiguredModel, resolveModel } from '../../../src/agents/turns/index.ts'
import { succeeded } from '../../../src/kernel/index.ts'
import { type ModelApi, type ModelScript, type Reply, startModelServer } from '../../../src/testing/index.ts'
import { isWhole, startRig, toolAnswers } from './rig.ts'

const KEY = 'sk-provider-test'
const DONE: Reply = { type: 'text', text: ['Both', ' done.'], usage: { inputTokens: 30, outputTokens: 4 } }
const BATCH: Reply = {
  type: 'tool-calls',
  text: 'Two at once.',
  calls: [
    { name: 'echo', arguments: { text: 'one' } },
    { name: 'echo', arguments: '{"text": "tw' },
  ],
  usage: { inputTokens: 20, outputTokens: 6 },
}

const PROVIDERS: readonly { name: string; seen: ModelApi; model: Pick<ConfiguredModel, 'provider' | 'api'> }[] = [
  { name: 'openai, responses', seen: 'responses', model: { provider: 'openai', api: 'responses' } },
  { name: 'openai at another address', seen: 'chat-completions', model: { provider: 'openai' } },
  { name: 'anthropic', seen: 'messages', model: { provider: 'anthropic' } },
  { name: 'openai-compatible', seen: 'chat-completions', model: { provider: 'openai-compatible' } },
]

async function startProviderRig(provider: (typeof PROVIDERS)[number], script: ModelScript) {
  const stack = new AsyncDisposableStack()
  const server = stack.use(await startModelServer({ script, apiKey: KEY }))
  const configured = { ...provider.model, name: 'm1', baseUrl: server.url, apiKey: KEY }
  const model = await resolveModel({ configured, environment: {} })
  assert.ok(model)
  const tools = { echo: ({ text }: { readonly [name: string]: unknown }) => succeeded(String(text)) }
  const rig = stack.use(await startRig({ script: [], tools, agent: { model } }))
  return { ...rig, server, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

for (const provider of PROVIDERS) {
  describe(`provider ${provider.name}`, () => {
    it('takes a turn with two calls, one of them malformed, and counts the tokens', async () => {
      await using rig = await startProviderRig(provider, [BATCH, DONE])
      const result = await rig.send('Say one and two')
      assert.equal(result.error, undefined)
      assert.equal(result.text, 'Both done.')
      const { activeMs: _, ...usage } = result.usage
      assert.deepEqual(usage, { inputTokens: 50, outputTokens: 10, totalTokens: 60, steps: 2 })
      assert.deepEqual(
        rig.server.requests.map(({ api, model, stream }) => [api, model, stream]),
        Array(2).fill([provider.seen, 'm1', true]),
      )
      const answers = rig.server.requests[1]?.messages.filter(({ role }) => role === 'tool') ?? []
      assert.deepEqual(
        answers.map(({ toolCallId }) => toolCallId),
        ['call_0_0', 'call_0_1'],
      )
      assert.equal(answers[0]?.text, 'one')
      assert.match(answers[1]?.text ?? '', /Invalid arguments for echo/)
      assert.ok(isWhole(await rig.history()))
    })

    it('answers a call whose id is empty', async () => {
      const unnamed: Reply = { type: 'tool-calls', calls: [{ id: '', name: 'echo', arguments: { text: 'one' } }] }
      await using rig = await startProviderRig(provider, [unnamed, DONE])
      const result = await rig.send('Say one')
      assert.equal(result.error, undefined)
      const [answer] = toolAnswers(await rig.history())
      assert.equal(answer?.text, 'one')
      assert.notEqual(answer?.id, '')
      assert.ok(isWhole(await rig.history()))
    })

    it('goes on with a history that a cut-off and a failed turn are part of', async () => {
      const script: Reply[] = [DONE, { type: 'status', status: 400 }, { type: 'disconnect', text: 'Half' }, DONE]
      await using rig = await startProviderRig(provider, script)
      for (const text of ['first', 'second']) await rig.send(text)
      assert.equal((await rig.send('third')).text, 'Both done.')
      const words = rig.server.requests.at(-1)?.messages.map(({ role }) => role)
      assert.deepEqual(words, ['system', 'user', 'assistant', 'user', 'assistant', 'user'])
    })

    it('is asked again after 429, and its errors are told in words without the key', async () => {
      const script: Reply[] = [{ type: 'status', status: 429, retryAfter: 0 }, DONE]
      await using rig = await startProviderRig(provider, [
        ...script,
        ...Array<Reply>(3).fill({ type: 'status', status: 500, message: `oops ${KEY}` }),
      ])
      assert.equal((await rig.send('go')).text, 'Both done.')
      const { error } = await rig.send('go')
      assert.match(error?.message ?? '', /failed on its side \(500\): oops \[redacted\]/)
    })

    it('is told of as broken when it cuts, garbles or refuses', async () => {
      const replies: [Reply, RegExp][] = [
        [{ type: 'disconnect', text: 'Half' }, /closed the connection in the middle/],
        [{ type: 'disconnect' }, /closed the connection before/],
        [{ type: 'invalid' }, /cannot be read/],
        [{ type: 'invalid', body: 'data: {"surprise": true}\n\n' }, /cannot be read|closed the connection/],
        [{ type: 'status', status: 401, message: KEY }, /refused the key from model\.apiKey \(401\)/],
      ]
      for (const [reply, words] of replies) {
        await using rig = await startProviderRig(provider, () => reply)
        const { end, error } = await rig.send('go')
        assert.equal(end, 'failed')
        assert.match(error?.message ?? '', words)
        assert.ok(!error?.message.includes(KEY))
        assert.ok(isWhole(await rig.history()))
        assert.deepEqual(toolAnswers(await rig.history()), [])
      }
    })
  })
}

describe('providers', () => {
  it('leave nothing of the history with OpenAI', async () => {
    await using rig = await startProviderRig(PROVIDERS[0]!, [DONE])
    await rig.send('go')
    assert.equal(rig.server.requests[0]?.body.store, false)
  })

  it('find the interface of Anthropic also when the address lacks its version', async () => {
    await using server = await startModelServer({ script: [DONE] })
    const environment = { anthropicApiKey: KEY, anthropicBaseUrl: `http://127.0.0.1:${server.port}` }
    const model = await resolveModel({ spec: 'anthropic/m1', environment })
    assert.ok(model)
    await using rig = await startRig({ script: [], agent: { model } })
    assert.equal((await rig.send('go')).end, 'done')
    assert.equal(server.requests[0]?.api, 'messages')
  })
})

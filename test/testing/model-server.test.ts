import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ModelServerOptions, type Reply, startModelServer } from '../../src/testing/index.ts'

const CALLS: Reply = {
  type: 'tool-calls',
  text: 'Let me look.',
  calls: [
    { name: 'load_skill', arguments: { name: 'csv' } },
    { name: 'run_command', arguments: '{"broken"', id: 'mine' },
  ],
  usage: { inputTokens: 7, outputTokens: 3 },
}

async function post(url: string, body: object, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })
}

function events(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)
}

async function withServer(
  options: ModelServerOptions,
  use: (server: Awaited<ReturnType<typeof startModelServer>>) => Promise<void>,
) {
  await using server = await startModelServer(options)
  await use(server)
}

describe('model server', () => {
  it('answers chat completions whole, with text, calls and usage', () =>
    withServer({ script: [CALLS] }, async (server) => {
      const answer = await (await post(`${server.url}/chat/completions`, { model: 'm', messages: [] })).json()
      const tool_calls = [
        { id: 'call_0_0', type: 'function', function: { name: 'load_skill', arguments: '{"name":"csv"}' } },
        { id: 'mine', type: 'function', function: { name: 'run_command', arguments: '{"broken"' } },
      ]
      assert.partialDeepStrictEqual(answer, {
        choices: [{ finish_reason: 'tool_calls', message: { role: 'assistant', content: 'Let me look.', tool_calls } }],
        usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
      })
    }))

  it('streams chat completions in pieces that add up to the answer', () =>
    withServer({ script: [CALLS] }, async (server) => {
      const text = await (
        await post(`${server.url}/chat/completions`, { model: 'm', messages: [], stream: true })
      ).text()
      assert.ok(text.endsWith('data: [DONE]\n\n'))
      const deltas = events(text).flatMap(
        (event) =>
          (
            event.choices as {
              delta: { content?: string; tool_calls?: { index: number; function: { arguments: string } }[] }
            }[]
          )[0]?.delta ?? [],
      )
      assert.equal(deltas.map((delta) => delta.content ?? '').join(''), 'Let me look.')
      const pieces = deltas.flatMap((delta) => delta.tool_calls ?? []).filter((call) => call.index === 0)
      assert.equal(pieces.length, 2)
      assert.equal(pieces.map((piece) => piece.function.arguments).join(''), '{"name":"csv"}')
    }))

  it('answers the responses and messages interfaces whole', () =>
    withServer({ script: [CALLS, CALLS] }, async (server) => {
      const responses = await (await post(`${server.url}/responses`, { model: 'm', input: 'hi' })).json()
      assert.partialDeepStrictEqual(responses, {
        output: [
          { type: 'message' },
          { type: 'function_call', name: 'load_skill' },
          { type: 'function_call', call_id: 'mine' },
        ],
        usage: { total_tokens: 10 },
      })
      const messages = await (await post(`${server.url}/messages`, { model: 'm', messages: [] })).json()
      assert.partialDeepStrictEqual(messages, {
        stop_reason: 'tool_use',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', input: { name: 'csv' } },
          { type: 'tool_use' },
        ],
      })
    }))

  it('records requests in one form for all interfaces, without the key', () =>
    withServer({ script: () => ({ type: 'text', text: 'ok' }) }, async (server) => {
      const key = { authorization: 'Bearer sk-secret-1', 'x-api-key': 'sk-secret-2' }
      const call = { id: 'c1', name: 'add', arguments: '{"a":1}' }
      await post(
        `${server.url}/chat/completions`,
        {
          model: 'm',
          messages: [
            { role: 'system', content: 'be good' },
            { role: 'user', content: [{ type: 'text', text: 'hi' }] },
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
            },
            { role: 'tool', tool_call_id: 'c1', content: '1' },
          ],
          tools: [{ type: 'function', function: { name: 'add' } }],
        },
        key,
      )
      await post(
        `${server.url}/responses`,
        {
          model: 'm',
          instructions: 'be good',
          input: [
            { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
            { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' },
            { type: 'function_call_output', call_id: 'c1', output: '1' },
          ],
          tools: [{ type: 'function', name: 'add' }],
        },
        key,
      )
      await post(
        `${server.url}/messages`,
        {
          model: 'm',
          system: 'be good',
          messages: [
            { role: 'user', content: 'hi' },
            { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'add', input: { a: 1 } }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '1' }] },
          ],
          tools: [{ name: 'add' }],
        },
        key,
      )
      const expected = [
        { role: 'system', text: 'be good', toolCalls: [] },
        { role: 'user', text: 'hi', toolCalls: [] },
        { role: 'assistant', text: '', toolCalls: [call] },
        { role: 'tool', text: '1', toolCalls: [], toolCallId: 'c1' },
      ]
      for (const request of server.requests) {
        assert.deepEqual(request.messages, expected, request.api)
        assert.deepEqual(request.toolNames, ['add'])
      }
      assert.equal(server.requests.length, 3)
      assert.ok(!JSON.stringify(server.requests).includes('sk-secret'))
    }))

  it('lists its models, and says what it does not know', () =>
    withServer({ script: [], models: ['a', 'b'] }, async (server) => {
      const list = await (await fetch(`${server.url}/models`)).json()
      assert.partialDeepStrictEqual(list, { data: [{ id: 'a' }, { id: 'b' }] })
      assert.equal((await fetch(`${server.url}/nothing`)).status, 404)
      assert.equal((await post(`${server.url}/constructor`, {})).status, 404)
      assert.equal((await fetch(`${server.url}/messages`, { method: 'POST', body: 'no json' })).status, 400)
    }))

  it('answers a request beyond its script with an error that says so', () =>
    withServer({ script: [] }, async (server) => {
      const response = await post(`${server.url}/chat/completions`, { model: 'm' })
      assert.equal(response.status, 400)
      const message = 'The script has 0 replies, and this is request 1.'
      assert.partialDeepStrictEqual(await response.json(), { error: { message } })
    }))

  it('refuses a wrong key when it has one', () =>
    withServer({ script: [{ type: 'text', text: 'hi' }], apiKey: 'right' }, async (server) => {
      assert.equal((await post(`${server.url}/messages`, {}, { 'x-api-key': 'wrong' })).status, 401)
      assert.equal((await post(`${server.url}/responses`, {})).status, 401)
      assert.equal((await post(`${server.url}/chat/completions`, {}, { authorization: 'Bearer right' })).status, 200)
    }))

  it('sends a status with its headers', () =>
    withServer({ script: [{ type: 'status', status: 429, retryAfter: 3, message: 'slow down' }] }, async (server) => {
      const response = await post(`${server.url}/messages`, { model: 'm' })
      assert.equal(response.status, 429)
      assert.equal(response.headers.get('retry-after'), '3')
      assert.deepEqual(await response.json(), {
        type: 'error',
        error: { type: 'rate_limit_error', message: 'slow down' },
      })
    }))

  it('cuts the connection before or in the middle of an answer', () =>
    withServer({ script: [{ type: 'disconnect' }, { type: 'disconnect', text: 'half' }] }, async (server) => {
      await assert.rejects(post(`${server.url}/chat/completions`, { stream: true }))
      const response = await post(`${server.url}/chat/completions`, { stream: true })
      let seen = ''
      await assert.rejects(async () => {
        for await (const part of response.body!) seen += new TextDecoder().decode(part)
      })
      assert.match(seen, /half/)
      assert.doesNotMatch(seen, /finish_reason":"stop/)
      assert.equal(server.abortedRequests.length, 0)
    }))

  it('hangs until the client goes away, and records that it did', () =>
    withServer({ script: [{ type: 'hang' }] }, async (server) => {
      const client = new AbortController()
      const pending = fetch(`${server.url}/chat/completions`, {
        method: 'POST',
        body: '{"model":"m"}',
        signal: client.signal,
      })
      assert.equal((await server.waitForRequest(1)).model, 'm')
      client.abort()
      await assert.rejects(pending)
      assert.equal((await server.waitForAbort(1)).index, 0)
    }))

  it('closes with requests still open, and twice', async () => {
    const server = await startModelServer({ script: [{ type: 'hang' }] })
    const pending = post(`${server.url}/chat/completions`, {})
    await server.waitForRequest(1)
    await server.close()
    await server.close()
    await assert.rejects(pending)
  })
})

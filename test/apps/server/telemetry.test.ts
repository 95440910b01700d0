/** The trace of one turn, as a receiver of OTLP/HTTP reads it. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { until } from '../mcp/client.ts'
import { startServer } from './serving.ts'

interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
}

test('a turn with a command of a skill is one trace, from the request to the tool, without secrets or contents', async (t) => {
  const spans: Span[] = []
  const sent: string[] = []
  const receiver = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      sent.push(`${request.headers['x-receiver']} ${text}`)
      const { resourceSpans } = JSON.parse(text) as Export
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  t.after(() => receiver.close())
  const { port } = receiver.address() as AddressInfo
  const settings = `telemetry: { url: "http://127.0.0.1:${port}/v1/traces", headers: { x-receiver: its-own-secret } }\n`
  const { client, key, child } = await startServer(t, {
    settings,
    script: [
      { type: 'tool-calls', calls: [{ name: 'load_skill', arguments: { skill_name: 'greet' } }] },
      { type: 'text', text: 'The secret word is xyzzy.', usage: { inputTokens: 11, outputTokens: 7 } },
      {
        type: 'tool-calls',
        calls: [{ name: 'load_skill', arguments: { skill_name: 'greet' } }],
        usage: { inputTokens: 11, outputTokens: 7 },
      },
    ],
  })
  await client.createAgent({ agent_id: 'traced', preset: 'trusted' })
  await client.send('traced', 'Load it, please.')
  await client.createAgent({ agent_id: 'short', max_tokens: 10 })
  assert.match((await client.send('short', 'Load it.')).content ?? '', /The budget of short is used up/)
  await client.shutdownServer()
  await until(() => child.exitCode !== null)

  const find = (name: RegExp): Span => {
    const found = spans.find((span) => name.test(span.name))
    assert.ok(found, `${name} is not among ${spans.map((span) => span.name).join(', ')}`)
    return found
  }
  const valueOf = ({ attributes }: Span, wanted: string): unknown =>
    Object.values(attributes.find((attribute) => attribute.key === wanted)?.value ?? {})[0]
  const agent = find(/^invoke_agent traced/)
  const tool = find(/^execute_tool load_skill/)
  const request = spans.find(({ name, spanId }) => name === 'POST /agent/{agent_id}' && spanId === agent.parentSpanId)
  assert.ok(request)
  assert.equal(valueOf(request, 'rpc.method'), 'send')
  const chatsOf = ({ spanId }: Span): Span[] =>
    spans.filter(({ name, parentSpanId }) => name.startsWith('chat ') && parentSpanId === spanId)
  const chats = chatsOf(agent)
  assert.equal(chatsOf(find(/^invoke_agent short/)).length, 1, 'a model that was not asked has no span')
  assert.equal(chats.length, 2)
  for (const span of [tool, ...chats]) assert.equal(span.parentSpanId, agent.spanId)
  assert.equal(new Set([request, agent, tool, ...chats].map(({ traceId }) => traceId)).size, 1)
  assert.deepEqual(
    ['gen_ai.tool.name', 'gen_ai.skill.name', 'nexus.decision'].map((name) => valueOf(tool, name)),
    ['load_skill', 'workspace/greet', 'allow'],
  )
  assert.equal(String(valueOf(chats.at(-1) as Span, 'gen_ai.usage.output_tokens')), '7')
  const all = sent.join('\n')
  assert.match(all, /^its-own-secret /)
  for (const hidden of ['xyzzy', 'Load it, please', key]) assert.ok(!all.includes(hidden), hidden)
})

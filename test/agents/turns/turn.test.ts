import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type LanguageModelMiddleware, wrapLanguageModel } from 'ai'
import { isNexusError, succeeded } from '../../../src/kernel/index.ts'
import { type Reply, startModelServer } from '../../../src/testing/index.ts'
import { isWhole, localModel, startRig, toolAnswers } from './rig.ts'

const ADD = { type: 'tool-calls', text: 'I add.', calls: [{ name: 'add', arguments: { a: 2, b: 3 } }] } as const
const DONE: Reply = { type: 'text', text: ['It is', ' five.'] }
const add = ({ a, b }: { readonly [name: string]: unknown }) => succeeded(`${Number(a) + Number(b)}`)

describe('a turn', () => {
  it('runs the calls of the model and ends with its answer', async () => {
    await using rig = await startRig({
      script: [ADD, DONE],
      tools: { add },
      agent: { instructions: 'You answer. # Skills' },
    })
    const result = await rig.send('What is 2 + 3?')
    assert.equal(result.end, 'done')
    assert.equal(result.text, 'It is five.')
    const { activeMs = 0, ...usage } = result.usage
    assert.deepEqual(usage, { inputTokens: 20, outputTokens: 10, totalTokens: 30, steps: 2 })
    assert.ok(activeMs > 0)
    assert.deepEqual(
      rig.events.map((event) => event.type),
      [
        'turn-queued',
        'turn-start',
        'text-delta',
        'tool-named',
        'step-end',
        'batch-start',
        'tool-call',
        'tool-decision',
        'tool-result',
        'batch-end',
        'text-delta',
        'text-delta',
        'step-end',
        'turn-end',
      ],
    )
    const [first, second] = rig.server.requests
    assert.deepEqual(first?.toolNames, ['add'])
    assert.match(first?.messages[0]?.text ?? '', /# Skills$/)
    assert.deepEqual(second?.messages.at(-1), { role: 'tool', text: '5', toolCalls: [], toolCallId: 'call_0_0' })
  })

  it('records every call in the ledger under the id that its events carry', async () => {
    await using rig = await startRig({ script: [ADD, DONE], tools: { add } })
    const { turnId, sessionId } = await rig.send('go')
    const [entry] = await rig.store.ledger.list({ turnId })
    assert.equal(entry?.call.id, rig.ofType('tool-call')[0]?.callId)
    assert.deepEqual(
      [entry?.call.tool, entry?.call.sessionId, entry?.call.origin, entry?.state],
      ['add', sessionId, 'model', 'done'],
    )
  })

  it('keeps the history in the store and goes on with it', async () => {
    await using rig = await startRig({
      script: [ADD, DONE, { type: 'text', text: 'Five, as I said.' }],
      tools: { add },
    })
    await rig.send('What is 2 + 3?\nIt matters.')
    await rig.send('Again?')
    const messages = await rig.history()
    assert.deepEqual(
      messages.map((message) => message.role),
      ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'],
    )
    assert.deepEqual(
      rig.server.requests[2]?.messages.map((message) => message.role),
      ['system', 'user', 'assistant', 'tool', 'assistant', 'user'],
    )
    const session = await rig.store.sessions.get(rig.agent.sessionId)
    assert.deepEqual([session?.title, session?.snapshot?.['skills']], ['What is 2 + 3? It matters.', []])
  })

  it('tells policy names to the runtime and wire names to the model', async () => {
    const script = [{ type: 'tool-calls', calls: [{ name: 'mcp__github__find', arguments: {} }] }, DONE] as const
    await using rig = await startRig({ script, tools: { 'mcp:github.find': () => succeeded('found') } })
    await rig.send('go')
    assert.deepEqual(rig.server.requests[0]?.toolNames, ['mcp__github__find'])
    assert.equal(rig.ofType('tool-call')[0]?.tool, 'mcp:github.find')
  })

  it('passes the output of a command on as it comes', async () => {
    const run = (_args: unknown, call: { readonly onOutput: (text: string) => void }) => {
      call.onOutput('half way')
      return succeeded('ready')
    }
    await using rig = await startRig({
      script: [{ ...ADD, calls: [{ name: 'run', arguments: {} }] }, DONE],
      tools: { run },
    })
    await rig.send('go')
    assert.deepEqual(
      rig.ofType('tool-output').map(({ stream, text }) => [stream, text]),
      [['stdout', 'half way']],
    )
  })

  it('ends with the fixed text when the calls never stop', async () => {
    await using rig = await startRig({ script: () => ADD, tools: { add }, agent: { limits: { maxIterations: 4 } } })
    const result = await rig.send('go')
    assert.equal(result.end, 'max-iterations')
    assert.equal(result.text, '[Max tool iterations reached]')
    assert.equal(rig.server.requests.length, 4)
    assert.ok(isWhole(await rig.history()))
  })

  it('tells a model that goes round in circles that it does', async () => {
    await using rig = await startRig({ script: () => ADD, tools: { add }, agent: { limits: { maxIterations: 4 } } })
    await rig.send('go')
    const answers = toolAnswers(await rig.history())
    assert.deepEqual(
      answers.map(({ text }) => /(\d+) times in a row/.exec(text)?.[1]),
      [undefined, undefined, '3', '4'],
    )
    assert.equal(rig.ofType('notice').filter(({ code }) => code === 'repeated-call').length, 2)
  })

  it('counts a call as repeated when its outcome differs only in stats', async () => {
    let calls = 0
    await using rig = await startRig({
      script: () => ADD,
      tools: { add: () => ({ ...succeeded('5'), stats: { duration_ms: ++calls } }) },
      agent: { limits: { maxIterations: 3 } },
    })
    await rig.send('go')
    assert.deepEqual(
      rig.ofType('notice').map(({ code }) => code),
      ['repeated-call'],
    )
  })

  it('counts a call with another result as progress', async () => {
    let calls = 0
    await using rig = await startRig({
      script: () => ADD,
      tools: { add: () => succeeded(`${++calls}`) },
      agent: { limits: { maxIterations: 5 } },
    })
    await rig.send('go')
    assert.deepEqual(rig.ofType('notice'), [])
  })

  it('says when the answer was cut or empty', async () => {
    const script: Reply[] = [
      { type: 'text', text: 'Once upon', finish: 'length' },
      { type: 'text', text: [] },
    ]
    await using rig = await startRig({ script })
    assert.equal((await rig.send('go')).text, 'Once upon')
    assert.equal((await rig.send('go')).end, 'done')
    assert.deepEqual(
      rig.ofType('notice').map(({ code }) => code),
      ['incomplete-answer', 'incomplete-answer'],
    )
    assert.ok(isWhole(await rig.history()))
  })

  it('refuses an empty message, and a limit that is none', async () => {
    await using rig = await startRig({ script: [] })
    const isCode = (code: string) => (error: unknown) => isNexusError(error) && error.code === code
    await assert.rejects(rig.send('  '), isCode('INVALID_ARGUMENT'))
    await assert.rejects(startRig({ script: [], agent: { limits: { maxIterations: 0 } } }), isCode('INVALID_ARGUMENT'))
  })

  it('goes on when a listener throws', async (t) => {
    await using rig = await startRig({ script: [ADD, DONE], tools: { add } })
    const warned = t.mock.method(process, 'emitWarning', () => undefined)
    const result = await rig.agent.send('go', {
      onEvent: () => {
        throw new Error('display')
      },
    })
    assert.equal(result.end, 'done')
    assert.ok(warned.mock.callCount() > 0)
  })

  it('reports warnings of a provider as notices, and lets the SDK print none', async (t) => {
    const warned = t.mock.method(process, 'emitWarning', () => undefined)
    const printed = t.mock.method(console, 'error', () => undefined)
    await using server = await startModelServer({ script: [DONE] })
    const local = await localModel(server)
    const languageModel = wrapLanguageModel({
      model: local.languageModel as Parameters<typeof wrapLanguageModel>[0]['model'],
      middleware: { specificationVersion: 'v4', wrapStream: warning },
    })
    await using rig = await startRig({ script: [], agent: { model: { ...local, languageModel } } })
    await rig.send('go')
    assert.deepEqual(
      rig.ofType('notice').map(({ code }) => code),
      ['model-warning'],
    )
    assert.equal(warned.mock.callCount() + printed.mock.callCount(), 0)
    assert.equal((globalThis as { AI_SDK_LOG_WARNINGS?: unknown }).AI_SDK_LOG_WARNINGS, undefined)
  })
})

/** A provider that warns at the start of each stream, as those of the SDK do about settings that they do not know. */
const warning: NonNullable<LanguageModelMiddleware['wrapStream']> = async ({ doStream }) => {
  const answer = await doStream()
  const stream = answer.stream.pipeThrough(
    new TransformStream({
      transform(part, controller) {
        const warnings = [{ type: 'unsupported' as const, feature: 'seed' }]
        controller.enqueue(part.type === 'stream-start' ? { ...part, warnings } : part)
      },
    }),
  )
  return { ...answer, stream }
}

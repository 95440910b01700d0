import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { succeeded } from '../../../src/kernel/index.ts'
import { type ModelEnvironment, resolveModel } from '../../../src/agents/turns/index.ts'
import { createFakeClock, type Reply, startModelServer } from '../../../src/testing/index.ts'
import { isWhole, localModel, startRig, toolAnswers } from './rig.ts'

const DONE: Reply = { type: 'text', text: 'Done.' }
const add = () => succeeded('5')
const call = (name: string, args: string | object = {}): Reply => ({
  type: 'tool-calls',
  calls: [{ name, arguments: args as string }],
})

/** One turn against a script; the result, with what every failure must keep to. */
async function turn(script: readonly Reply[] | ((request: unknown, index: number) => Reply), limits = {}) {
  await using rig = await startRig({ script, tools: { add }, agent: { limits } })
  const result = await rig.send('go')
  const shown = `${result.error?.message} ${result.error?.fix}`
  assert.ok(!shown.includes('sk-test-key'), 'no key')
  assert.doesNotMatch(shown, /\n|node_modules|\.[jt]s:\d/, 'no stack')
  assert.ok(isWhole(await rig.history()), 'the history is whole')
  assert.deepEqual(await rig.store.turns.list({ states: ['queued', 'running'] }), [])
  return {
    result,
    shown,
    requests: rig.server.requests,
    notices: rig.ofType('notice'),
    history: await rig.history(),
    events: rig.events,
  }
}

describe('a model that misbehaves', () => {
  it('is told which tools there are when it calls an unknown one', async () => {
    const { result, history } = await turn([call('addition', { a: 1 }), DONE])
    assert.equal(result.end, 'done')
    assert.match(toolAnswers(history)[0]?.text ?? '', /addition.*Tools you can call: add\./)
  })

  it('is told what is wrong with arguments that are not a JSON object', async () => {
    const texts = ['{"a": 2, "b"', '[1]', '"x"', '{"__proto__": {"x": 1}, "a": ']
    const { result, requests, history } = await turn([...texts.map((text) => call('add', text)), DONE])
    assert.equal(result.end, 'done')
    const answers = toolAnswers(history).map(({ text }) => text)
    assert.match(
      answers[0] ?? '',
      /Invalid arguments for add: they are not valid JSON .*Send the call again with one JSON object/,
    )
    assert.match(answers[1] ?? '', /JSON, but not an object/)
    assert.match(answers[2] ?? '', /JSON, but not an object/)
    assert.match(answers[3] ?? '', /not valid JSON/)
    assert.equal(requests.length, 5)
  })

  it('cannot reach a prototype by its arguments: they are answered as refused names', async () => {
    await using rig = await startRig({
      script: [call('add', '{"__proto__": {"x": 1}, "a": 2}'), call('add', '{"constructor": {"prototype": {}}}'), DONE],
      tools: { add },
    })
    assert.equal((await rig.send('go')).end, 'done')
    const answers = toolAnswers(await rig.history()).map(({ text }) => text)
    assert.match(answers[0] ?? '', /__proto__ is a name that no argument can have/)
    assert.match(answers[1] ?? '', /constructor\.prototype is a name that no argument can have/)
    assert.ok(isWhole(await rig.history()), 'the history is whole')
  })

  it('is told so when its arguments are nested too deeply, and brackets inside text do not count', async () => {
    const deep = `{"a": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const { result, history } = await turn([call('add', deep), call('add', { a: '['.repeat(500) }), DONE])
    assert.equal(result.end, 'done')
    const answers = toolAnswers(history).map(({ text }) => text)
    assert.match(answers[0] ?? '', /Invalid arguments for add/)
    assert.match(answers[1] ?? '', /5/)
  })

  it('gets answers that are matched even when it repeats the ids of its calls', async () => {
    const twice: Reply = {
      type: 'tool-calls',
      calls: [
        { id: 'x', name: 'add', arguments: { a: 1 } },
        { id: 'x', name: 'add', arguments: { a: 2 } },
      ],
    }
    const { result, history } = await turn([twice, DONE])
    assert.equal(result.end, 'done')
    assert.equal(new Set(toolAnswers(history).map(({ id }) => id)).size, 2)
  })

  it('is asked again after 429, with the pause it asks for', async () => {
    const { result, notices } = await turn([{ type: 'status', status: 429, retryAfter: 0 }, DONE])
    assert.equal(result.text, 'Done.')
    assert.deepEqual(
      notices.map(({ code }) => code),
      ['model-retry'],
    )
    assert.match(notices[0]?.text ?? '', /too many requests \(429\)\. Asking again in 0 s \(1 of 2\)\./)
  })

  it('fails the turn when 429 does not end', async () => {
    const { result, shown, requests } = await turn(() => ({ type: 'status', status: 429, retryAfter: 0 }))
    assert.equal(result.error?.code, 'MODEL_FAILED')
    assert.match(shown, /too many requests \(429\).*Wait and try again/)
    assert.equal(requests.length, 3)
  })

  it('is not waited for when it asks for a very long pause', async () => {
    const { shown, requests } = await turn(() => ({ type: 'status', status: 429, retryAfter: 3600 }))
    assert.match(shown, /it asks to wait 3600 s/)
    assert.equal(requests.length, 1)
  })

  it('fails the turn when it stays broken (500), with its words on one line', async () => {
    const message = 'boom\n\u001b[31mred sk-test-key'
    const { shown, requests } = await turn(() => ({ type: 'status', status: 500, message }))
    assert.match(shown, /failed on its side \(500\): boom red \[redacted\]\. Try again later/)
    assert.equal(requests.length, 3)
  })

  it('is not asked again when it refuses the key', async () => {
    const { shown, requests } = await turn(() => ({ type: 'status', status: 401, message: 'bad key sk-test-key' }))
    assert.match(shown, /refused the key from OPENAI_API_KEY \(401\)\. Check that OPENAI_API_KEY is valid/)
    assert.equal(requests.length, 1)
  })

  it('fails the turn when it refuses the request or does not exist', async () => {
    assert.match(
      (await turn(() => ({ type: 'status', status: 400, message: 'too long' }))).shown,
      /refused the request \(400\): too long\./,
    )
    assert.match(
      (await turn(() => ({ type: 'status', status: 404 }))).shown,
      /was not found \(404\).*name and its address/,
    )
  })

  it('starts the step again when the connection breaks in the middle, and says that the text is void', async () => {
    const { result, notices } = await turn([{ type: 'disconnect', text: 'Half an' }, DONE])
    assert.equal(result.text, 'Done.')
    assert.deepEqual(
      notices.map(({ code }) => code),
      ['step-restarted'],
    )
  })

  it('fails the turn and keeps what was said when the connection breaks each time', async () => {
    const { result, shown, history } = await turn(() => ({ type: 'disconnect', text: 'Half an' }))
    assert.equal(result.text, 'Half an')
    assert.match(shown, /closed the connection in the middle of its answer/)
    assert.match(JSON.stringify(history.at(-1)), /Half an.*ended early/)
    assert.match((await turn(() => ({ type: 'disconnect' }))).shown, /closed the connection before it answered/)
  })

  it('fails the turn when its answer cannot be read', async () => {
    assert.match((await turn(() => ({ type: 'invalid' }))).shown, /sent an answer that cannot be read/)
    assert.match(
      (await turn(() => ({ type: 'invalid', body: '<html>hello</html>' }))).shown,
      /(cannot be read|closed the connection)/,
    )
  })

  it('is asked again after an error inside a stream that began well', async () => {
    const body = 'data: {"error":{"message":"Overloaded, sk-test-key","type":"server_error"}}\n\n'
    const { shown, requests } = await turn(() => ({ type: 'invalid', body }))
    assert.match(shown, /failed: Overloaded, \[redacted\]\./)
    assert.equal(requests.length, 3)
  })

  it('is not asked again at a port that HTTP clients refuse', async () => {
    const model = await localModel({ url: 'http://127.0.0.1:9/v1' })
    await using rig = await startRig({ script: [], agent: { model } })
    const { error } = await rig.send('go')
    assert.match(`${error?.message} ${error?.fix}`, /HTTP clients refuse the port .*listen on another port/)
  })

  it('fails the turn when nobody answers at its address', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => {
      closed.once('listening', resolve)
    })
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => {
      closed.close(resolve)
    })
    const model = await localModel({ url: `http://127.0.0.1:${port}/v1` })
    await using rig = await startRig({ script: [], agent: { model } })
    const { error } = await rig.send('go')
    assert.match(
      `${error?.message} ${error?.fix}`,
      /No server answers for the model .*connection was refused.*Start the model server/,
    )
  })

  it('fails the turn when its answer takes longer than a step may', async () => {
    const clock = createFakeClock()
    await using rig = await startRig({
      script: [{ type: 'hang', text: 'Well' }],
      agent: { clock, limits: { stepTimeoutMs: 5_000 } },
    })
    const pending = rig.send('go')
    await rig.server.waitForRequest(1)
    while (rig.ofType('text-delta').length === 0)
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    await clock.advance(5_000)
    const { end, text, error } = await pending
    assert.deepEqual([end, text, error?.code], ['failed', 'Well', 'MODEL_FAILED'])
    assert.match(error?.message ?? '', /did not finish its answer within 5 s/)
    await rig.server.waitForAbort(1)
  })

  it('fails the turn when the whole of it takes longer than it may', async () => {
    const clock = createFakeClock()
    await using rig = await startRig({
      script: [{ type: 'hang' }],
      agent: { clock, limits: { stepTimeoutMs: 0, turnTimeoutMs: 9_000 } },
    })
    const pending = rig.send('go')
    await rig.server.waitForRequest(1)
    await clock.advance(9_000)
    const { end, error } = await pending
    assert.deepEqual([end, error?.code, error?.message], ['failed', 'TIMEOUT', 'The turn did not end within 9 s.'])
    assert.ok(isWhole(await rig.history()))
  })
})

describe('a model that wants a key and got none (401)', () => {
  const cases: readonly (readonly [environment: ModelEnvironment, words: RegExp])[] = [
    [
      {},
      /needs a key, and Nexus sent none \(401\)\. Set OPENAI_API_KEY and give the address with --base-url, or write/,
    ],
    [
      { openaiApiKey: 'sk-test-key' },
      /Nexus sent none \(401\)\. OPENAI_API_KEY is set, but it belongs to another address\. Give the address with --base-url/,
    ],
  ]
  for (const [environment, words] of cases) {
    it(`says so: ${Object.keys(environment).join() || 'no variable'}`, async () => {
      await using server = await startModelServer({ script: () => ({ type: 'status', status: 401 }) })
      const configured = { provider: 'openai-compatible', name: 'm', baseUrl: server.url }
      const model = await resolveModel({ configured, environment })
      assert.ok(model)
      await using rig = await startRig({ script: [], agent: { model } })
      const { error } = await rig.send('go')
      assert.match(`${error?.message} ${error?.fix}`, words)
      assert.equal(server.requests[0]?.headers['authorization'], undefined)
    })
  }
})

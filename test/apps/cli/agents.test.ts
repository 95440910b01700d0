import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { describe, type TestContext } from 'node:test'
import type { JsonObject } from '../../../src/kernel/index.ts'
import { type ModelScript, startModelServer } from '../../../src/testing/index.ts'
import { startPostgres, whyNoPostgres } from '../../store/postgres-server.ts'
import { ended, Place } from './nexus.ts'

type Step = string | readonly [tool: string, args: JsonObject]

/** The steps of each agent, by the first word of its system prompt and how often its model has answered. */
function script(steps: Readonly<Record<string, readonly Step[]>>): ModelScript {
  const usage = { inputTokens: 90, outputTokens: 10 }
  return ({ messages }) => {
    const who = /^\w+/.exec(messages.find(({ role }) => role === 'system')?.text ?? '')?.[0] ?? ''
    const at = messages.filter(({ role }) => role === 'assistant').length
    const step = steps[who]?.[at] ?? 'Done.'
    if (typeof step === 'string') return { type: 'text', text: step, usage }
    return { type: 'tool-calls', calls: [{ name: step[0], arguments: step[1], id: `${who}-${at}` }], usage }
  }
}

async function setUp(t: TestContext, settings: string, steps: Readonly<Record<string, readonly Step[]>>) {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(
    join(place.home, 'nexus.yaml'),
    `agents: [{ id: main, instructions: lead, tools: { ask: [run_command] } }]\n${settings}`,
  )
  const server = await startModelServer({ script: script(steps) })
  t.after(() => server.close())
  const model = ['--trust', '--model', 'openai-compatible/scripted', '--base-url', server.url]
  const data = async <T>(...args: string[]): Promise<T> =>
    (JSON.parse((await place.run([...args, '--json'])).stdout) as { data: T }).data
  return { place, model, data }
}

interface Question {
  readonly id: string
  readonly agentPath: string
}

interface Status {
  readonly status: {
    readonly preset: string
    readonly level: string
    readonly used: {
      readonly own: { readonly totalTokens: number }
      readonly subtree: { readonly totalTokens: number }
    }
    readonly left: { readonly maxTokens?: number }
    readonly state: string
  }
}

/** The whole story of the issue, from the first agent to a start after kill -9. */
async function story(t: TestContext, settings: string): Promise<void> {
  const outside = `/tmp/nexus-outside-${process.pid}-${Date.now()}`
  const { place, model, data } = await setUp(t, settings, {
    boss: [
      ['nexus_create', { agent_id: 'w', preset: 'sandboxed', instructions: 'worker', max_tokens: 1000 }],
      ['nexus_send', { agent_id: 'w', content: 'Work.' }],
      'Boss has the answer.',
      ['nexus_create', { agent_id: 'r', instructions: 'runaway', max_tokens: 300, message: 'Go.' }],
      'Boss goes on.',
    ],
    runaway: Array.from({ length: 20 }, () => ['nexus_status', { agent_id: 'r' }] as const),
    one: [['nexus_send', { agent_id: 'b', content: 'Go.' }]],
    two: [['nexus_send', { agent_id: 'c', content: 'Go.' }]],
    three: [['sleep', { seconds: 600 }]],
    worker: [
      ['write_file', { path: outside, content: 'x' }],
      ['run_command', { command: 'echo ran >> ran.txt' }],
      'Worker done.',
    ],
  })
  const made = await place.run(['agent', 'create', 'boss', '--instructions', 'boss', '--max-tokens', '5000'])
  assert.match(made.stdout, /^boss {2}preset trusted/, made.stderr)
  const sending = place.start(['agent', 'send', 'boss', 'Go.', '--wait', ...model])
  const sent = ended(sending)
  await new Promise<void>((resolve) => sending.stderr?.on('data', (text) => /asks a person/.test(text) && resolve()))
  const [question] = (await data<{ open: readonly Question[] }>('approvals', 'list')).open
  assert.equal(question?.agentPath, 'boss/w', 'the path of agents is in the question')
  sending.kill('SIGKILL')
  await sent
  assert.ok(!existsSync(outside), 'a sandboxed child writes nothing outside')
  const rights = (await data<Status>('agent', 'status', 'w')).status
  assert.deepEqual([rights.preset, rights.level, rights.left], ['sandboxed', 'sandboxed', { maxTokens: 800 }])

  const states = (await data<{ agents: readonly { id: string; state: string }[] }>('agent', 'list')).agents
  assert.deepEqual(Object.fromEntries(states.map(({ id, state }) => [id, state])), { boss: 'waiting', w: 'waiting' })
  const early = await place.run(['agent', 'resume', 'boss', ...model])
  assert.match(early.stderr, /did not go on: it waits for an answer about boss\/w: run_command/)
  assert.equal((await place.run(['approvals', 'answer', question.id, '--allow'])).code, 0)
  // The parent goes on with its call, and the child with its turn.
  const next = await place.run(['agent', 'resume', 'boss', ...model])
  assert.deepEqual([next.code, next.stdout], [0, 'Boss has the answer.\n'], next.stderr)
  assert.equal(readFileSync(join(place.workspace, 'ran.txt'), 'utf8'), 'ran\n', 'the tool ran once')
  const { used, left } = (await data<Status>('agent', 'status', 'boss')).status
  assert.deepEqual([used.own.totalTokens, used.subtree.totalTokens, left.maxTokens], [300, 600, 3700])
  assert.match((await place.run(['agent', 'messages', 'boss'])).stdout, /Worker done\./)

  const messages = await place.run(['agent', 'messages', 'w'])
  assert.match(messages.stdout, /ACCESS_DENIED|PERMISSION_DENIED/)
  const on = await place.run(['run', '--agent', 'boss', 'Go on.', ...model])
  assert.match(on.stdout, /^Boss goes on\./, on.stderr)
  const told = (await place.run(['agent', 'messages', 'boss'])).stdout
  assert.match(told, /The budget of boss\/r is used up: 300 of 300 tokens/, 'the runaway child ended')
  const spent = (await data<Status>('agent', 'status', 'boss')).status
  assert.deepEqual(
    [spent.used.own.totalTokens, spent.used.subtree.totalTokens, spent.left.maxTokens],
    [500, 1100, 3200],
  )
  const destroyed = await place.run(['agent', 'destroy', 'boss'])
  assert.match(destroyed.stdout, /^Ended: boss, r, w/)
  assert.match((await place.run(['agent', 'list', '--ended'])).stdout, /boss\/w {2}ended/)
  assert.equal((await place.run(['agent', 'status', 'w'])).code, 4)
  await cancelGrandchild(place, model)
}

/** A message is cancelled from another terminal, down to the sleeping tool of a grandchild. */
async function cancelGrandchild(place: Place, model: readonly string[]): Promise<void> {
  await place.run(['agent', 'create', 'a', '--instructions', 'one'])
  await place.run(['agent', 'create', 'b', '--parent', 'a', '--preset', 'trusted', '--instructions', 'two'])
  await place.run(['agent', 'create', 'c', '--parent', 'b', '--preset', 'trusted', '--instructions', 'three'])
  assert.match((await place.run(['agent', 'tree'])).stdout, /^a .*\n {2}b .*\n {4}c /)
  const sending = place.start(['agent', 'send', 'a', 'Go.', '--request', 'req-1', ...model])
  const sent = ended(sending)
  await new Promise<void>((resolve) => sending.stderr?.on('data', (text) => /→ sleep/.test(text) && resolve()))
  assert.match((await place.run(['agent', 'cancel', 'a', 'req-1'])).stdout, /^Cancelled/)
  const began = Date.now()
  const { code } = await sent
  assert.equal(code, 130)
  assert.ok(Date.now() - began < 2_000, `it took ${Date.now() - began} ms`)
}

describe('agents outlive their process:', { concurrency: true }, () => {
  test('killed while a person is asked, answered elsewhere, and resumed with the same rights', (t) => story(t, ''))

  test('the same on Postgres', { skip: whyNoPostgres() ?? false }, async (t) => {
    const server = await startPostgres()
    t.after(() => server.close())
    await story(t, `store: { type: postgres, url: ${JSON.stringify(server.url())} }\n`)
  })
})

test('a parent that was killed while its child worked goes on before its next message; cancelled, it takes the child along', async (t) => {
  const { place, model, data } = await setUp(t, '', {
    boss: [
      ['nexus_send', { agent_id: 'w', content: 'Work.' }],
      'Boss has it.',
      'Next.',
      ['nexus_send', { agent_id: 'w', content: 'Again.' }],
    ],
    worker: [['run_command', { command: 'echo ran >> ran.txt' }], 'Done.', ['run_command', { command: 'echo again' }]],
  })
  await place.run(['agent', 'create', 'boss', '--instructions', 'boss'])
  await place.run(['agent', 'create', 'w', '--parent', 'boss', '--preset', 'trusted', '--instructions', 'worker'])
  const killedAsking = async (content: string): Promise<void> => {
    const sending = place.start(['agent', 'send', 'boss', content, '--request', content, '--wait', ...model])
    const sent = ended(sending)
    await new Promise<void>((resolve) => sending.stderr?.on('data', (text) => /asks a person/.test(text) && resolve()))
    sending.kill('SIGKILL')
    await sent
  }
  const openQuestions = async (): Promise<readonly Question[]> =>
    (await data<{ open: readonly Question[] }>('approvals', 'list')).open
  await killedAsking('one')
  const [question] = await openQuestions()
  await place.run(['approvals', 'answer', question?.id ?? '', '--allow'])
  assert.equal((await place.run(['agent', 'resume', 'w', ...model])).stdout, 'Done.\n')
  const next = await place.run(['agent', 'send', 'boss', 'two', ...model])
  assert.deepEqual([next.code, next.stdout], [0, 'Boss has it.\nNext.\n'], next.stderr)
  assert.equal(readFileSync(join(place.workspace, 'ran.txt'), 'utf8'), 'ran\n')
  await killedAsking('three')
  assert.equal((await openQuestions()).length, 1)
  assert.match((await place.run(['agent', 'cancel', 'boss', 'three'])).stdout, /^Cancelled/)
  assert.deepEqual(await openQuestions(), [])
  assert.equal((await data<Status>('agent', 'status', 'w')).status.state, 'idle')
})

test('what names no agent is refused at the command line and in nexus.yaml, and is never a path', async (t) => {
  const { place } = await setUp(t, '', {})
  for (const id of ['..', 'a/b', '%2e', 'a\r\nb', '*', '>', '$SYS', '__proto__x/', '‮x', 'ａ', 'x'.repeat(64)]) {
    const { code, stderr } = await place.run(['agent', 'create', '--', id])
    assert.notEqual(code, 0, `${id}: ${stderr}`)
  }
  const odd = `"'; drop table agents; --`
  assert.equal((await place.run(['agent', 'status', odd])).code, 4)
  const told = await place.run(['agent', 'create', 'ok', '--instructions', odd])
  assert.equal(told.code, 0, told.stderr)
  assert.match((await place.run(['agent', 'list'])).stdout, /^ok /)
})

test('money is counted by the price of the model, summed up over the tree, and ends the turn that reaches its budget', async (t) => {
  const { place, model } = await setUp(t, '', {
    boss: [['nexus_send', { agent_id: 'w', content: 'Work.' }], 'Not reached.'],
    worker: ['Done.'],
  })
  const url = model.at(-1) ?? ''
  const priced = (price: string): void =>
    writeFileSync(
      join(place.home, 'nexus.yaml'),
      `model: { provider: openai-compatible, name: scripted, baseUrl: ${JSON.stringify(url)}${price} }\n`,
    )
  priced('')
  const unknown = await place.run(['agent', 'create', 'x', '--max-cost', '1'])
  assert.match(unknown.stderr, /No price of the model is known, so --max-cost limits nothing/)
  assert.equal((await place.run(['agent', 'create', 'y', '--max-cost', '1e9'])).code, 2)
  priced(', price: { input: 10, output: 20 }')
  await place.run(['agent', 'create', 'boss', '--instructions', 'boss', '--max-cost', '0.002'])
  await place.run(['agent', 'create', 'w', '--parent', 'boss', '--instructions', 'worker'])
  // Each answer costs 90 × 10 and 10 × 20 millionths.
  const sent = await place.run(['agent', 'send', 'boss', 'Go.', '--trust'])
  assert.match(sent.stderr, /The budget of boss is used up: 0\.0022 of 0\.002 money\./)
  assert.match(sent.stderr, /100 tokens in 1 step, cost 0\.0011/)
  const { stdout } = await place.run(['agent', 'status', 'boss'])
  assert.match(
    stdout,
    /used: 100 tokens in 1 step, cost 0\.0011; with its descendants 200 tokens in 2 steps, cost 0\.0022/,
  )
  assert.match(stdout, /left: cost 0$/m)
})

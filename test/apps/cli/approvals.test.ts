import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { describe, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ModelScript, startModelServer } from '../../../src/testing/index.ts'
import { openSqliteStore } from '../../../src/store/index.ts'
import { startPostgres, whyNoPostgres } from '../../store/postgres-server.ts'
import { ended, Place } from './nexus.ts'

interface Document {
  readonly data: {
    readonly open: readonly { readonly id: string; readonly sessionId: string; readonly command: string }[]
    readonly waiting: readonly { readonly id: string; readonly state: string; readonly isLeft: boolean }[]
    readonly messages: readonly unknown[]
    readonly session: {
      readonly until?: number
      readonly use: { readonly steps: number; readonly totalTokens: number }
    }
    readonly ledger: readonly { readonly state: string; readonly decision: { readonly rule: string } }[]
    readonly events: readonly { readonly id: number; readonly type: string }[]
  }
}

/** A workspace whose policy asks about commands, and a model that wants one. */
async function setUp(t: TestContext, script: ModelScript, settings = '') {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), 'agents: [{ id: main, tools: { ask: [run_command] } }]\n' + settings)
  const server = await startModelServer({ script })
  t.after(() => server.close())
  const model = ['--trust', '--model', 'openai-compatible/scripted', '--base-url', server.url]
  const flags = ['--wait', ...model]
  const document = async (...args: string[]): Promise<Document['data']> =>
    (JSON.parse((await place.run([...args, '--json'])).stdout) as Document).data
  return {
    place,
    document,
    model,
    start: (...args: string[]) => place.start(['run', ...args, ...flags]),
    /** The question, once the process says that it waits. */
    async question({ stderr }: ChildProcess) {
      await new Promise<void>((resolve) => stderr?.on('data', (text) => /approvals answer/.test(text) && resolve()))
      const [open] = (await document('approvals', 'list')).open
      assert.ok(open)
      return open
    },
  }
}

const ASK = { type: 'tool-calls', calls: [{ name: 'run_command', arguments: { command: 'echo hello' } }] } as const
const DONE = { type: 'text', text: 'Done.' } as const

test('two terminals share a session: the second message waits and is cancelled by id; a third terminal answers the first one', async (t) => {
  const { place, document, start, question } = await setUp(t, [ASK, DONE])
  const child = start('one')
  const first = ended(child)
  const { id, sessionId, command } = await question(child)
  assert.equal(command, 'echo hello')
  const second = ended(start('--session', sessionId, 'two'))
  let waiting: Document['data']['waiting'] = []
  while (waiting.length < 2) waiting = (await document('sessions', 'show', sessionId)).waiting
  const queued = waiting.find(({ state }) => state === 'queued')
  assert.equal((await place.run(['sessions', 'cancel', queued?.id ?? ''])).code, 0)
  assert.equal((await second).code, 130)
  const answers = await Promise.all([1, 2].map(() => place.run(['approvals', 'answer', id, '--allow'])))
  assert.deepEqual(answers.map((answer) => answer.code).sort(), [0, 1], 'one of two processes answers')
  assert.equal((await place.run(['approvals', 'answer', id, '--deny'])).code, 1, 'a later answer changes nothing')
  const { code, stdout, stderr } = await first
  assert.deepEqual([code, stdout], [0, 'Done.\n'], stderr)
  const shown = await document('sessions', 'show', sessionId)
  assert.match(shown.ledger[0]?.decision.rule ?? '', /^ask run_command, approved by .*\(nexus approvals\)$/)
  assert.equal((await place.run(['sessions', 'remove', sessionId])).code, 0)
  assert.equal((await place.run(['sessions', 'show', sessionId])).code, 4)
  const types = shown.events.map(({ type }) => type)
  for (const type of ['turn.queued', 'approval.open', 'turn.cancelled', 'call.answered', 'call.started', 'turn.done'])
    assert.ok(types.includes(type), `${type} is not among ${types.join(' ')}`)
})

/** kill -9 while a person is asked; the answer comes from another terminal; a new process goes on. */
async function outliveProcess(t: TestContext, settings: string, goOn: (sessionId: string) => readonly string[]) {
  const { place, document, start, question, model } = await setUp(t, [ASK, DONE, DONE], settings)
  const child = start('one')
  const { id, sessionId } = await question(child)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const show = () => document('sessions', 'show', sessionId)
  let shown = await show()
  for (; shown.session.until !== undefined; shown = await show())
    await sleep(Math.max(100, shown.session.until - Date.now()))
  assert.equal(shown.waiting[0]?.state, 'waiting')
  const listed = (await place.run(['approvals', 'list'])).stdout
  assert.match(listed, /main wants to run run_command/)
  assert.match(listed, /echo hello/)
  assert.match(listed, /asked \d{4}-\d\d-\d\d \d\d:\d\d, until \d{4}-\d\d-\d\d \d\d:\d\d UTC/)
  const early = await place.run(['sessions', 'resume', sessionId, ...model])
  assert.match(early.stderr, /did not go on: it waits for an answer about run_command: echo hello/)
  const answered = await place.run(['approvals', 'answer', id, '--allow'])
  assert.match(answered.stderr, new RegExp(`To go on: nexus sessions resume ${sessionId}`))
  assert.deepEqual(
    (await document('sessions', 'show', sessionId)).ledger.map(({ state: its }) => its),
    ['answered'],
  )
  const next = await place.run([...goOn(sessionId), ...model])
  assert.deepEqual([next.code, next.stdout], [0, 'Done.\n'], next.stderr)
  const { ledger, events, messages, session } = await document('sessions', 'show', sessionId)
  // The answer before the kill counts: two steps, in every place that counts.
  const { use } = session
  assert.equal(use.steps, 2)
  assert.match(next.stderr, new RegExp(`session ${sessionId} · ${use.totalTokens} tokens in 2 steps`))
  assert.match((await place.run(['sessions', 'list'])).stdout, new RegExp(`${use.totalTokens} tokens`))
  assert.match((await place.run(['sessions', 'show', sessionId])).stdout, /tokens in 2 steps/)
  assert.deepEqual(
    ledger.map(({ state: its }) => its),
    ['done'],
  )
  assert.match(JSON.stringify(messages.at(-2)), /hello/, 'the model got its result')
  const types = events.map(({ type }) => type)
  assert.equal(types.filter((type) => type === 'call.started').length, 1, 'the tool ran once')
  assert.ok(types.includes('turn.waiting') && types.includes('turn.done'), types.join(' '))
  assert.deepEqual((await document('approvals', 'list')).open, [])
}

// Both wait for a lease to end.
describe('kill -9 while a person is asked: the question stays, and', { concurrency: true }, () => {
  test('`sessions resume` goes on from the answer', (t) => outliveProcess(t, '', (id) => ['sessions', 'resume', id]))

  test('so does `run --continue`, on Postgres', { skip: whyNoPostgres() ?? false }, async (t) => {
    const server = await startPostgres()
    t.after(() => server.close())
    const settings = `store: { type: postgres, url: ${JSON.stringify(server.url())} }\n`
    await outliveProcess(t, settings, () => ['run', '--continue'])
  })
})

test("a message is cancelled by its session and the sender's own id", async (t) => {
  const place = new Place(t)
  const store = await openSqliteStore({ path: join(place.home, 'state', 'nexus.db'), projectId: 'default' })
  const acquired = await store.leases.acquire('process:one', { owner: 'one', ttlMs: 60_000 })
  assert.ok(acquired.type === 'acquired')
  const { lease } = acquired
  for (const sessionId of ['first', 'second']) {
    await store.sessions.create({ id: sessionId, agentId: 'main', title: '' })
    await store.turns.enqueue({ sessionId, requestId: 'req-7', message: { role: 'user', content: 'x' }, lease })
  }
  const { code, stdout } = await place.run(['sessions', 'cancel', 'sec', '--request', 'req-7', '--json'])
  assert.deepEqual([code, (JSON.parse(stdout) as { data: { state: string } }).data.state], [0, 'cancelled'])
  const states = (await store.turns.list()).map(({ sessionId, state }) => `${sessionId} ${state}`)
  assert.deepEqual(states, ['first queued', 'second cancelled'])
  const unknown = await place.run(['sessions', 'cancel', 'second', '--request', 'req-8'])
  assert.deepEqual(
    [unknown.code, /no message with the request id req-8.*\n.*nexus sessions show second/.test(unknown.stderr)],
    [2, true],
    unknown.stderr,
  )
  const shown = await place.run(['sessions', 'show', 'first'])
  assert.match(shown.stdout, /request req-7 {2}/)
  await store.close()
})

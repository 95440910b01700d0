import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ModelScript, startModelServer } from '../../../src/testing/index.ts'
import { ended, Place } from './nexus.ts'

interface Document {
  readonly data: {
    readonly open: readonly { readonly id: string; readonly sessionId: string; readonly command: string }[]
    readonly waiting: readonly { readonly id: string; readonly state: string; readonly isLeft: boolean }[]
    readonly ledger: readonly { readonly state: string; readonly decision: { readonly rule: string } }[]
    readonly events: readonly { readonly id: number; readonly type: string }[]
  }
}

/** A workspace whose policy asks about commands, and a model that wants one. */
async function setUp(t: TestContext, script: ModelScript) {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), 'agents: [{ id: main, tools: { ask: [run_command] } }]\n')
  const server = await startModelServer({ script })
  t.after(() => server.close())
  const flags = ['--wait', '--trust', '--model', 'openai-compatible/scripted', '--base-url', server.url]
  const document = async (...args: string[]): Promise<Document['data']> =>
    (JSON.parse((await place.run([...args, '--json'])).stdout) as Document).data
  return {
    place,
    document,
    start: (...args: string[]) => place.start(['run', ...args, ...flags]),
    /** The question, once it is open. */
    async question() {
      for (;;) {
        const [open] = (await document('approvals', 'list')).open
        if (open) return open
        await sleep(100)
      }
    },
  }
}

const ASK = { type: 'tool-calls', calls: [{ name: 'run_command', arguments: { command: 'echo hello' } }] } as const
const DONE = { type: 'text', text: 'Done.' } as const

test('two terminals share a session: the second message waits and is cancelled by id; a third terminal answers the first one', async (t) => {
  const { place, document, start, question } = await setUp(t, [ASK, DONE])
  const first = ended(start('one'))
  const { id, sessionId, command } = await question()
  assert.equal(command, 'echo hello')
  const second = ended(start('--session', sessionId, 'two'))
  let waiting: Document['data']['waiting'] = []
  while (waiting.length < 2) waiting = (await document('sessions', 'show', sessionId)).waiting
  const queued = waiting.find(({ state }) => state === 'queued')
  assert.equal((await place.run(['sessions', 'cancel', queued?.id ?? ''])).code, 0)
  assert.equal((await second).code, 130)
  assert.equal((await place.run(['approvals', 'answer', id, '--allow'])).code, 0)
  assert.equal((await place.run(['approvals', 'answer', id, '--deny'])).code, 1, 'a second answer changes nothing')
  const { code, stdout, stderr } = await first
  assert.deepEqual([code, stdout], [0, 'Done.\n'], stderr)
  const shown = await document('sessions', 'show', sessionId)
  assert.match(shown.ledger[0]?.decision.rule ?? '', /^ask run_command, approved by .*\(nexus approvals\)$/)
  const types = shown.events.map(({ type }) => type)
  for (const type of ['turn.queued', 'approval.open', 'turn.cancelled', 'call.answered', 'call.started', 'turn.done'])
    assert.ok(types.includes(type), `${type} is not among ${types.join(' ')}`)
})

test('kill -9 while a person is asked: the next start says that the call did not run, and the session goes on', async (t) => {
  const { place, document, start, question } = await setUp(t, [ASK, DONE])
  const child = start('one')
  const { sessionId } = await question()
  child.kill('SIGKILL')
  await once(child, 'exit')
  const next = await ended(start('--session', sessionId, 'two'))
  assert.equal(next.code, 0, next.stderr)
  assert.match(next.stderr, /The turn before this one was cut off before run_command ran\. Nexus does not run it/)
  assert.match(
    (await place.run(['sessions', 'show', sessionId])).stdout,
    /not run: the turn was cut off before the call/,
  )
  const { ledger, events } = await document('sessions', 'show', sessionId)
  assert.deepEqual(
    ledger.map(({ state }) => state),
    ['not run'],
  )
  const types = events.map(({ type }) => type)
  assert.ok(types.includes('approval.not-run') && types.includes('turn.interrupted'), types.join(' '))
  assert.deepEqual((await document('approvals', 'list')).open, [])
})

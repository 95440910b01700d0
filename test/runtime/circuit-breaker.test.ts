/** A tool that fails again and again is paused for a while. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { failed, type FailureCode, type Outcome, succeeded } from '../../src/kernel/index.ts'
import { createFakeClock, createScriptedSandbox } from '../../src/testing/index.ts'
import { codeOf, wordsOf, workshop } from './rig.ts'

const BROKEN = failed('EXECUTION_ERROR', 'no service')
const DONE = succeeded('done')

/** An agent with one tool that gives these outcomes, in turn. */
async function probe(t: TestContext, outcomes: readonly (Outcome | (() => Promise<Outcome>))[]) {
  const clock = createFakeClock()
  const ran: number[] = []
  const runtime = await workshop(t).open({
    clock,
    registerTools: (registry) =>
      registry.register('probe', () => ({
        name: 'probe',
        description: 'Does what the test says.',
        parameters: { type: 'object', properties: { n: { type: 'number' } } },
        execute: async () => {
          const next = outcomes[ran.push(1) - 1] ?? DONE
          return typeof next === 'function' ? next() : next
        },
      })),
  })
  const agent = runtime.openAgent()
  const call = async (args: object = {}): Promise<Outcome> =>
    (await agent.call({ tool: 'probe', arguments: { ...args } })).outcome
  const codes = async (count: number): Promise<string[]> => {
    const found: string[] = []
    for (let n = 0; n < count; n++) found.push(codeOf(await call()))
    return found
  }
  return { clock, runtime, call, codes, ran }
}

test('after three failures in a row a tool is paused for 300 s; its next success ends that', async (t) => {
  const { clock, call, codes, ran } = await probe(t, [BROKEN, BROKEN, BROKEN, DONE])
  assert.deepEqual(await codes(5), [
    ...['EXECUTION_ERROR', 'EXECUTION_ERROR', 'EXECUTION_ERROR'],
    ...['CIRCUIT_OPEN', 'CIRCUIT_OPEN'],
  ])
  assert.equal(ran.length, 3)
  await clock.advance(299_999)
  const refused = await call()
  assert.match(wordsOf(refused), /'probe' did not run: it is paused, because its last 3 calls failed/)
  assert.match(refused.type === 'failed' ? String(refused.fix) : '', /call it again in 1 s/)
  await clock.advance(1)
  assert.deepEqual(await codes(2), ['success', 'success'])
})

test('a trial that fails pauses the tool again, and while it runs no other call does', async (t) => {
  const trial = Promise.withResolvers<Outcome>()
  const { clock, call, codes, ran } = await probe(t, [BROKEN, BROKEN, BROKEN, () => trial.promise, DONE])
  await codes(3)
  await clock.advance(300_000)
  const first = call()
  while (ran.length < 4) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(await codes(1), ['CIRCUIT_OPEN'])
  trial.resolve(BROKEN)
  assert.equal(codeOf(await first), 'EXECUTION_ERROR')
  assert.deepEqual(await codes(1), ['CIRCUIT_OPEN'])
  await clock.advance(300_000)
  assert.deepEqual(await codes(1), ['success'])
})

test('a success between failures starts the count anew', async (t) => {
  const { codes, ran } = await probe(t, [BROKEN, BROKEN, DONE, BROKEN, BROKEN, DONE])
  await codes(6)
  assert.equal(ran.length, 6)
})

test('exceptions and time limits pause a tool; what is about the request does not', async (t) => {
  const crash = (): Promise<Outcome> => Promise.reject(new TypeError('a fault'))
  const late = failed('TIMEOUT', 'too slow')
  assert.deepEqual(await (await probe(t, [crash, late, BROKEN])).codes(4), [
    ...['INTERNAL_ERROR', 'TIMEOUT', 'EXECUTION_ERROR', 'CIRCUIT_OPEN'],
  ])
  const harmless: readonly FailureCode[] = [
    ...(['NOT_FOUND', 'ACCESS_DENIED', 'PERMISSION_DENIED', 'INVALID_PARAM', 'CANCELLED'] as const),
    ...(['CONFLICT', 'IS_DIRECTORY', 'BINARY_FILE'] as const),
  ]
  const { codes } = await probe(
    t,
    harmless.map((code) => failed(code, 'no')),
  )
  assert.deepEqual(await codes(harmless.length + 1), [...harmless, 'success'])
})

test('bad arguments and denials neither pause a tool nor end a pause', async (t) => {
  const { call, codes, ran, runtime } = await probe(t, [BROKEN, BROKEN, BROKEN])
  for (let n = 0; n < 5; n++) assert.equal(codeOf(await call({ n: 'text' })), 'INVALID_PARAM')
  await codes(2)
  assert.equal(codeOf(await call({ n: 'text' })), 'INVALID_PARAM')
  assert.deepEqual([...(await codes(2)), ran.length], ['EXECUTION_ERROR', 'CIRCUIT_OPEN', 3])
  const [last] = await runtime.store.ledger.list({ limit: 1 })
  assert.equal(last?.outcome && codeOf(last.outcome), 'CIRCUIT_OPEN')
})

test('commands that fail, run too long or are killed do not pause run_command', async (t) => {
  const { root, open } = workshop(t)
  const sandbox = createScriptedSandbox({
    script: ({ command }) =>
      command === 'hang' ? { hang: true } : command === 'killed' ? { end: 'killed', exitCode: 137 } : { exitCode: 1 },
  })
  const agent = (await open({ sandbox, workspace: root })).openAgent()
  for (const command of ['false', 'hang', 'killed'])
    for (let n = 0; n < 4; n++) {
      const { outcome } = await agent.call({ tool: 'run_command', arguments: { command, timeout_sec: 0.01 } })
      assert.notEqual(codeOf(outcome), 'CIRCUIT_OPEN', command)
    }
})

test('each agent has its own count', async (t) => {
  const { codes, runtime } = await probe(t, [BROKEN, BROKEN, BROKEN])
  await codes(3)
  const { outcome } = await runtime.openAgent().call({ tool: 'probe', arguments: {} })
  assert.equal(codeOf(outcome), 'success')
})

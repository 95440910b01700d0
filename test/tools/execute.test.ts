import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, it } from 'node:test'
import {
  CODES,
  type ErrorCode,
  failed,
  NexusError,
  type Outcome,
  succeeded,
  type Tool,
} from '../../src/kernel/index.ts'
import { createFakeClock } from '../../src/testing/index.ts'
import { executeTool, toFailure, toModelText } from '../../src/tools/index.ts'
import { contextOf, DONE, messageOf, toolThat } from './rig.ts'

const run = (execute: Tool['execute']): Promise<Outcome> => executeTool(toolThat(execute), {}, contextOf())

/** Starts a call and waits until the tool is at work. */
async function started(
  tool: Tool,
  options: Parameters<typeof executeTool>[3],
  given: Parameters<typeof contextOf>[0] = {},
): Promise<{ ending: Promise<Outcome> }> {
  const begun = Promise.withResolvers<void>()
  const watched: Tool = {
    ...tool,
    execute: (args, context) => {
      begun.resolve()
      return tool.execute(args, context)
    },
  }
  const ending = executeTool(watched, {}, contextOf(given), options)
  await begun.promise
  await nextTurn()
  return { ending }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

describe('executeTool', () => {
  it('returns what the tool returns', async () => {
    assert.deepEqual(await run(async () => DONE), DONE)
  })

  it('takes plain text and the result forms of seeds 000 and 002 from a tool', async () => {
    const returning = (value: unknown): Promise<Outcome> => run(async () => value as Outcome)
    assert.deepEqual(await returning('text'), succeeded('text'))
    assert.deepEqual(await returning({ output: 'text' }), succeeded('text'))
    assert.deepEqual(await returning({ error: 'no' }), failed('EXECUTION_ERROR', 'no'))
    assert.deepEqual(await returning({ success: true, output: { n: 1 }, error: null }), succeeded('', { n: 1 }))
    assert.deepEqual(await returning({ success: false, output: null, error: 'no' }), failed('EXECUTION_ERROR', 'no'))
  })

  it('answers for a tool that returns nothing of use', async () => {
    for (const value of [
      undefined,
      null,
      7,
      {},
      { type: 'success' },
      { type: 'failed', code: 'toString', message: 'x' },
    ]) {
      const outcome = await run(async () => value as unknown as Outcome)
      assert.equal(outcome.type === 'failed' && outcome.code, 'INTERNAL_ERROR')
      assert.match(messageOf(outcome), /returned no outcome/)
    }
  })

  it('turns exceptions into failures without a stack', async () => {
    const outcome = await run(() => {
      throw new Error('disk on fire')
    })
    assert.deepEqual(outcome, failed('EXECUTION_ERROR', "Tool 'probe' execution error: disk on fire"))
    const slip = await run(async () => (undefined as unknown as { x: Outcome }).x)
    assert.equal(slip.type === 'failed' && slip.code, 'INTERNAL_ERROR')
    assert.doesNotMatch(JSON.stringify(slip), /\.test\.ts|at /)
  })

  it('answers whatever is thrown', async () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    for (const thrown of ['text', undefined, null, 7n, circle, { code: 1 }, new Error('')]) {
      const outcome = await run(async () => {
        throw thrown
      })
      assert.equal(outcome.type, 'failed')
      assert.notEqual(messageOf(outcome), '')
    }
  })

  it('keeps the fix of a NexusError for the model', async () => {
    const outcome = await run(async () => {
      throw new NexusError('FILE_NOT_FOUND', 'No such file: a.', { fix: 'Use b.' })
    })
    assert.deepEqual(outcome, failed('NOT_FOUND', 'No such file: a.', { error: 'FILE_NOT_FOUND', fix: 'Use b.' }))
    assert.equal(toModelText(outcome), 'Error (NOT_FOUND): No such file: a.\nUse b.')
  })

  it('has a failure for every code of the error table', () => {
    for (const code of Object.keys(CODES) as ErrorCode[])
      assert.match(toFailure(new NexusError(code, 'x'), 'tool').code, /^[A-Z_]+$/)
  })

  it('knows what the system says about files', () => {
    const codes = { ENOENT: 'NOT_FOUND', EACCES: 'PERMISSION_DENIED', EISDIR: 'IS_DIRECTORY', EXXX: 'EXECUTION_ERROR' }
    for (const [code, expected] of Object.entries(codes))
      assert.equal(toFailure(Object.assign(new Error('x'), { code }), 'tool').code, expected)
  })

  it('stops a tool at its time limit and keeps what it had', async () => {
    const clock = createFakeClock()
    const tool = toolThat(async (_args, { signal }) => {
      await untilAborted(signal)
      return failed('CANCELLED', 'stopped', { data: { stdout: 'so far' } })
    })
    const { ending } = await started(tool, { timeoutMs: 1500, clock })
    await clock.advance(1500)
    assert.deepEqual(
      await ending,
      failed('TIMEOUT', `Tool 'probe' timed out after 1.5s.`, { data: { stdout: 'so far' } }),
    )
    assert.equal(clock.sleeping, 0)
  })

  it('leaves a tool behind that ignores its signal', async () => {
    const clock = createFakeClock()
    const { ending } = await started(
      toolThat(() => new Promise(() => {})),
      { clock },
    )
    await clock.advance(30_000)
    await clock.advance(5_000)
    assert.deepEqual(await ending, failed('TIMEOUT', `Tool 'probe' timed out after 30s. It has not stopped yet.`))
  })

  it('survives a tool that fails after it was left behind', async () => {
    const clock = createFakeClock()
    const late = Promise.withResolvers<Outcome>()
    const { ending } = await started(
      toolThat(() => late.promise),
      { timeoutMs: 10, graceMs: 10, clock },
    )
    await clock.advance(20)
    assert.equal((await ending).type, 'failed')
    late.reject(new Error('much later'))
    await nextTurn()
  })

  it('believes a tool that reached its result while it was being stopped', async () => {
    const clock = createFakeClock()
    const { ending } = await started(
      toolThat(async (_args, { signal }) => {
        await untilAborted(signal)
        return DONE
      }),
      { timeoutMs: 10, clock },
    )
    await clock.advance(10)
    assert.deepEqual(await ending, DONE)
  })

  it('lets the limit of the tool stand before the default of the caller, and 0 means none', async () => {
    const clock = createFakeClock()
    const { ending } = await started(
      toolThat(() => new Promise(() => {}), { timeoutMs: 100 }),
      { timeoutMs: 5, graceMs: 0, clock },
    )
    await clock.advance(100)
    assert.match(messageOf(await ending), /after 0\.1s/)
    const unlimited = createFakeClock()
    const held = Promise.withResolvers<Outcome>()
    const second = await started(
      toolThat(() => held.promise, { timeoutMs: 0 }),
      { clock: unlimited },
    )
    assert.equal(unlimited.sleeping, 0)
    held.resolve(DONE)
    assert.deepEqual(await second.ending, DONE)
  })

  it('keeps to the limit of the decision where it is shorter, also for a tool without a limit', async () => {
    for (const [timeoutMs, most, seconds] of [
      [0, 200, 0.2],
      [500, 200, 0.2],
      [100, 200, 0.1],
      [100, 0, 0.1],
    ] as const) {
      const clock = createFakeClock()
      const tool = toolThat(() => new Promise(() => {}), { timeoutMs })
      const { ending } = await started(tool, { graceMs: 0, clock }, { limits: { timeoutMs: most } })
      await clock.advance(seconds * 1000)
      assert.match(messageOf(await ending), new RegExp(`after ${seconds}s`), `${timeoutMs} ${most}`)
    }
  })

  it('ends a call when the caller cancels, and does not begin one that is cancelled already', async () => {
    const clock = createFakeClock()
    const stop = new AbortController()
    const { ending } = await started(
      toolThat(async (_args, { signal }) => {
        await untilAborted(signal)
        throw new DOMException('aborted', 'AbortError')
      }),
      { clock },
      { signal: stop.signal },
    )
    stop.abort()
    const outcome = await ending
    assert.equal(outcome.type === 'failed' && outcome.code, 'CANCELLED')
    let ran = false
    const second = await executeTool(
      toolThat(async () => {
        ran = true
        return DONE
      }),
      {},
      contextOf({ signal: stop.signal }),
    )
    assert.equal(second.type === 'failed' && second.code, 'CANCELLED')
    assert.equal(ran, false)
  })

  it('hears an abort that the tool itself brings about', async () => {
    const stop = new AbortController()
    const tool = toolThat((_args, { signal }) => {
      stop.abort()
      return untilAborted(signal).then(() => failed('CANCELLED', 'stopped'))
    })
    const outcome = await executeTool(tool, {}, contextOf({ signal: stop.signal }), { clock: createFakeClock() })
    assert.deepEqual(outcome, failed('CANCELLED', 'stopped'))
  })

  it('leaves no listener on the signal of the caller', async () => {
    const { signal } = new AbortController()
    let seen = 0
    const tool = toolThat(async () => {
      seen = getEventListeners(signal, 'abort').length
      return DONE
    })
    await executeTool(tool, {}, contextOf({ signal }))
    assert.deepEqual([seen, getEventListeners(signal, 'abort').length], [1, 0])
  })
})

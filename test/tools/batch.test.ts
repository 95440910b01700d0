import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { failed, type JsonObject, type Outcome, succeeded } from '../../src/kernel/index.ts'
import { runBatch } from '../../src/tools/index.ts'
import { messageOf } from './rig.ts'

interface Asked {
  readonly id: string
  readonly arguments: JsonObject
}

const callOf = (id: string, args: JsonObject = {}): Asked => ({ id, arguments: args })
const done = (id: string): Outcome => succeeded(`${id} is done`)
const broken = (id: string): Outcome => failed('EXECUTION_ERROR', `${id} is broken`)
const HALTED = 'Did not execute: halted due to error in previous tool'

/** Notes how many calls are under way at one time. */
function counted(outcomeOf: (id: string) => Outcome): {
  run: (call: Asked) => Promise<Outcome>
  begun: string[]
  most: () => number
} {
  const begun: string[] = []
  let now = 0
  let most = 0
  const run = async (call: Asked): Promise<Outcome> => {
    begun.push(call.id)
    most = Math.max(most, ++now)
    await nextTurn()
    now--
    return outcomeOf(call.id)
  }
  return { run, begun, most: () => most }
}

describe('runBatch', () => {
  it('runs one call after the other', async () => {
    const { run, begun, most } = counted(done)
    const answers = await runBatch([callOf('a'), callOf('b'), callOf('c')], run)
    assert.deepEqual(begun, ['a', 'b', 'c'])
    assert.equal(most(), 1)
    assert.deepEqual(
      answers.map(({ outcome }) => messageOf(outcome)),
      ['a is done', 'b is done', 'c is done'],
    )
  })

  it('halts at the first failure and answers the rest', async () => {
    const { run, begun } = counted((id) => (id === 'b' ? broken(id) : done(id)))
    const answers = await runBatch([callOf('a'), callOf('b'), callOf('c'), callOf('d')], run)
    assert.deepEqual(begun, ['a', 'b'])
    assert.deepEqual(
      answers.map(({ call, outcome, ran }) => [call.id, messageOf(outcome), ran]),
      [
        ['a', 'a is done', true],
        ['b', 'b is broken', true],
        ['c', HALTED, false],
        ['d', HALTED, false],
      ],
    )
  })

  it('runs all at once when one call asks for it, and no failure halts the others', async () => {
    const { run, most } = counted((id) => (id === 'a' ? broken(id) : done(id)))
    const answers = await runBatch([callOf('a'), callOf('b', { _parallel: true }), callOf('c')], run)
    assert.equal(most(), 3)
    assert.deepEqual(
      answers.map(({ call, ran }) => [call.id, ran]),
      [
        ['a', true],
        ['b', true],
        ['c', true],
      ],
    )
  })

  it('takes only the value true for a wish', async () => {
    for (const wish of ['true', 1, false, null]) {
      const { run, most } = counted(done)
      await runBatch([callOf('a', { _parallel: wish }), callOf('b')], run)
      assert.equal(most(), 1)
    }
  })

  it('runs no more at one time than it may', async () => {
    const { run, most } = counted(done)
    const calls = Array.from({ length: 25 }, (_, index) => callOf(String(index), { _parallel: true }))
    const answers = await runBatch(calls, run, { maxConcurrent: 4 })
    assert.equal(most(), 4)
    assert.deepEqual(
      answers.map(({ call }) => call.id),
      calls.map(({ id }) => id),
    )
  })

  it('begins nothing after an abort and answers everything', async () => {
    for (const args of [{}, { _parallel: true }] as JsonObject[]) {
      const stop = new AbortController()
      const run = async ({ id }: Asked): Promise<Outcome> => {
        stop.abort()
        return done(id)
      }
      const answers = await runBatch([callOf('a', args), callOf('b'), callOf('c')], run, {
        signal: stop.signal,
        maxConcurrent: 1,
      })
      assert.deepEqual(
        answers.map(({ outcome, ran }) => [messageOf(outcome), ran]),
        [
          ['a is done', true],
          ['Did not execute: cancelled', false],
          ['Did not execute: cancelled', false],
        ],
      )
    }
  })

  it('answers a call whose runner throws', async () => {
    const answers = await runBatch([callOf('a'), callOf('b')], async () => {
      throw new Error('ledger is full')
    })
    assert.deepEqual(
      answers.map(({ outcome }) => messageOf(outcome)),
      ["Tool 'unknown' execution error: ledger is full", HALTED],
    )
  })

  it('answers an empty batch with nothing', async () => {
    assert.deepEqual(await runBatch([], async () => done('x')), [])
  })

  it('answers every call exactly once and in order, whatever fails and when it is cancelled', async () => {
    const plan = fc.array(fc.record({ fails: fc.boolean(), throws: fc.boolean(), parallel: fc.boolean() }), {
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(plan, fc.nat(8), fc.integer({ min: 1, max: 3 }), async (steps, cancelAt, maxConcurrent) => {
        const stop = new AbortController()
        const calls = steps.map((step, index) => ({ ...callOf(String(index), { _parallel: step.parallel }), step }))
        let begun = 0
        const answers = await runBatch(
          calls,
          async ({ id, step }) => {
            if (begun++ === cancelAt) stop.abort()
            if (step.throws) throw new Error(id)
            return step.fails ? broken(id) : done(id)
          },
          { maxConcurrent, signal: stop.signal },
        )
        assert.deepEqual(
          answers.map(({ call }) => call),
          calls,
        )
        assert.equal(answers.filter(({ ran }) => ran).length, begun)
      }),
    )
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { failed, succeeded } from '../../src/kernel/index.ts'
import { toModelText, toOutcome } from '../../src/tools/index.ts'

const FAILED = failed('TIMEOUT', 'Took too long.', { data: { stdout: 'so far' } })

describe('toModelText', () => {
  it('is the text when the text holds all of the data', () => {
    assert.equal(toModelText(succeeded('Wrote a.txt to /x', { path: '/x', files: ['a.txt'] })), 'Wrote a.txt to /x')
  })

  it('adds what the text does not hold', () => {
    assert.equal(
      toModelText(succeeded('Created.', { number: 12, url: 'https://x' })),
      'Created.\n\nData: {"number":12,"url":"https://x"}',
    )
  })

  it('does not take a number in the text for another one', () => {
    assert.equal(
      toModelText(succeeded('3 issues in 10 s', { open: 3, closed: 3 })),
      '3 issues in 10 s\n\nData: {"open":3,"closed":3}',
    )
    assert.equal(toModelText(succeeded('Exit code: 10', { exit_code: 1 })), 'Exit code: 10\n\nData: {"exit_code":1}')
    assert.equal(toModelText(succeeded('Exit code: 1.', { exit_code: 1 })), 'Exit code: 1.')
  })

  it('shows long and multi-line text as it is', () => {
    assert.equal(toModelText(succeeded('Read.', { content: 'a\n"b"' })), 'Read.\n\ncontent:\na\n"b"')
  })

  it('gives code, message, next step and what is known for a failure', () => {
    assert.equal(
      toModelText(FAILED),
      'Error (TIMEOUT): Took too long.\nAsk for less work in one call, or allow more time.\n\nData: {"stdout":"so far"}',
    )
  })

  it('says when there is nothing', () => {
    assert.equal(toModelText(succeeded('')), '(no output)')
    assert.equal(toModelText(succeeded('', { n: 1 })), 'Data: {"n":1}')
  })

  it('bears any name of a field', () => {
    for (const key of ['a[', '(', '\\', '__proto__', '*', ''])
      assert.equal(typeof toModelText(succeeded('x', { [key]: 1 })), 'string')
  })
})

it('toOutcome reads the results of the other documents (000, 002)', () => {
  for (const value of [{ output: 'done' }, { success: true, output: 'done', error: null }])
    assert.deepEqual(toOutcome('x', value), succeeded('done'))
  for (const value of [{ error: 'no' }, { success: false, output: '', error: 'no' }])
    assert.deepEqual(toOutcome('x', value), failed('EXECUTION_ERROR', 'no'))
})

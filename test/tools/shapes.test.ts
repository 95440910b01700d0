import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { failed, type Outcome, succeeded } from '../../src/kernel/index.ts'
import { toModelText, toOutcome, toOutputOrError, toStatusResult, toSuccessOutputError } from '../../src/tools/index.ts'

const PARTIAL: Outcome = { type: 'partial', text: 'Only the first.', data: { truncated: true, items: ['a'] } }
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

describe('the forms of the other documents', () => {
  it('give output or error (000)', () => {
    assert.deepEqual(toOutputOrError(succeeded('done')), { output: 'done' })
    assert.deepEqual(toOutputOrError(PARTIAL), { output: 'Only the first.\n\nData: {"items":["a"]}' })
    assert.deepEqual(Object.keys(toOutputOrError(FAILED)), ['error'])
  })

  it('give success, output and error (002)', () => {
    assert.deepEqual(toSuccessOutputError(succeeded('done')), { success: true, output: 'done', error: null })
    const { success, output, error } = toSuccessOutputError(FAILED)
    assert.deepEqual([success, output], [false, ''])
    assert.match(error ?? '', /^Took too long\./)
  })

  it('give status, result and error (004)', () => {
    assert.deepEqual(toStatusResult(succeeded('done', { n: 1 })), { status: 'success', result: { n: 1 } })
    assert.deepEqual(toStatusResult(succeeded('done')), { status: 'success', result: { text: 'done' } })
    assert.equal(toStatusResult(PARTIAL).status, 'partial')
    assert.deepEqual(toStatusResult(FAILED, { source: 'run_command' }), {
      status: 'timeout',
      result: {
        error_code: 'tool_timeout',
        error_message: 'Took too long.',
        error: 'Took too long.',
        error_detail: { stdout: 'so far' },
      },
      error: {
        code: 'tool_timeout',
        message: 'Took too long.',
        source: 'run_command',
        http_status: 504,
        retryable: true,
      },
    })
    assert.equal(toStatusResult(failed('CANCELLED', 'x')).status, 'canceled')
    assert.deepEqual(toStatusResult(failed('NOT_FOUND', 'x')).error?.http_status, 404)
  })

  it('lead back to the same outcome where they hold it', () => {
    assert.deepEqual(toOutcome('x', toOutputOrError(succeeded('done'))), succeeded('done'))
    assert.deepEqual(toOutcome('x', toSuccessOutputError(succeeded('done'))), succeeded('done'))
    assert.equal(toOutcome('x', toOutputOrError(FAILED)).type, 'failed')
    assert.equal(toOutcome('x', toSuccessOutputError(FAILED)).type, 'failed')
  })
})

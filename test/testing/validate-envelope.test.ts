import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { failed, type Outcome, succeeded } from '../../src/kernel/index.ts'
import { validateEnvelope } from '../../src/testing/index.ts'
import { toEnvelope } from '../../src/tools/index.ts'

const OPTIONS = { timeMs: 12.4, cwd: '.', input: { a: 1 }, root: '/project' }
const PARTIAL: Outcome = {
  type: 'partial',
  text: 'Cut: only the first line.',
  data: { truncated: true, truncation: {}, content: 'a' },
}

describe('validateEnvelope', () => {
  const sound = toEnvelope(succeeded('It is done now.', { content: 'x' }), OPTIONS)
  const partial = toEnvelope(PARTIAL, OPTIONS)
  const error = toEnvelope(failed('TIMEOUT', 'Took too long.'), OPTIONS)

  it('finds nothing in a sound envelope of each status', () => {
    for (const envelope of [sound, partial, error]) assert.deepEqual(validateEnvelope(envelope), [])
  })

  it('bears an error that is null on input', () => {
    assert.deepEqual(validateEnvelope({ ...sound, error: null }), [])
  })

  const broken: readonly (readonly [string, unknown])[] = [
    ['V001', null],
    ['V001', []],
    ['V002', { ...sound, extra: 1 }],
    ['V003', { ...sound, status: 'ok' }],
    ['V004', { ...sound, data: null }],
    ['V005', { ...sound, text: 7 }],
    ['V006', { ...sound, error: { code: 'TIMEOUT', message: 'x' } }],
    ['V007', { ...error, error: 'too long' }],
    ['V008', { ...error, error: { code: 'BAD_LUCK', message: 'Took too long.' } }],
    ['V009', { ...sound, stats: {} }],
    ['V009', { ...sound, stats: { time_ms: '5' } }],
    ['V010', { ...sound, stats: { time_ms: 5, more: [] } }],
    ['V011', { ...sound, context: { params_input: {} } }],
    ['V011', { ...sound, context: { cwd: '/root', params_input: {} } }],
    ['V012', { ...sound, context: { cwd: '.' } }],
    ['V012', { ...sound, context: { cwd: '.', params_input: {}, path_resolved: 'C:\\x' } }],
    ['S001', { ...sound, data: { truncated: true, truncation: {} } }],
    ['S002', { ...sound, data: { fallback: 'grep' } }],
    ['S003', { ...sound, data: { failed_items: ['a'] } }],
    ['S004', { ...sound, data: { applied: false } }],
    ['S005', { ...partial, data: {} }],
    ['S006', { ...error, data: { applied: true } }],
    ['S007', { ...sound, stats: { time_ms: 0 } }],
    ['S008', { ...partial, data: { truncated: true } }],
    ['T001', { ...error, text: ' ' }],
    ['T002', { ...sound, text: 'ok' }],
    ['T003', { ...partial, text: 'Here is the file.' }],
    ['T004', { ...error, text: 'Something went wrong.' }],
    ['D001', { ...sound, data: { entries: [{ path: 'a', type: 'socket' }] } }],
    ['D002', { ...sound, data: { paths: ['/abs'] } }],
    ['D003', { ...sound, data: { matches: [{ file: 'a', line: '1', text: 'x' }] } }],
    ['D004', { ...sound, data: { content: 1 } }],
    ['D005', { ...sound, data: { applied: 'yes' } }],
    ['D006', { ...sound, data: { truncated: 'no' } }],
    ['D007', { ...sound, data: { failed_items: 'a' } }],
  ]
  for (const [rule, value] of broken) {
    it(`reports ${rule} for ${JSON.stringify(value).slice(0, 70)}`, () => {
      assert.ok(
        validateEnvelope(value).some((issue) => issue.rule === rule),
        JSON.stringify(validateEnvelope(value)),
      )
    })
  }

  it('knows the data names of the protocol', () => {
    const data = {
      entries: [{ path: 'a', type: 'file' }],
      paths: ['a/b'],
      matches: [{ file: 'a', line: 1, text: 'x' }],
      applied: true,
    }
    assert.deepEqual(validateEnvelope({ ...sound, data }), [])
  })
})

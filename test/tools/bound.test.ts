import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { failed, type JsonObject, type Outcome, succeeded } from '../../src/kernel/index.ts'
import { validateEnvelope } from '../../src/testing/index.ts'
import { boundOutcome, executeTool, OUTCOME_LIMITS, toEnvelope, toModelText } from '../../src/tools/index.ts'
import { headOf } from '../../src/tools/bound.ts'
import { contextOf, messageOf, toolThat } from './rig.ts'

const run = (outcome: unknown): Promise<Outcome> =>
  executeTool(
    toolThat(async () => outcome as Outcome),
    {},
    contextOf(),
  )
const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')
const dataOf = (outcome: Outcome): JsonObject => outcome.data ?? {}

describe('the size of an outcome', () => {
  it('is left alone up to 2,000 lines and 51,200 bytes', async () => {
    assert.deepEqual(await run(lines(2000)), succeeded(lines(2000)))
    assert.deepEqual(await run('x'.repeat(51_200)), succeeded('x'.repeat(51_200)))
  })

  it('is cut beyond 2,000 lines: partial, with a note and the beginning', async () => {
    const outcome = await run(lines(2001))
    assert.equal(outcome.type, 'partial')
    assert.match(messageOf(outcome), /^Output cut: the first 2000 of 2001 lines/)
    const { truncated, truncation, preview } = dataOf(outcome)
    assert.equal(truncated, true)
    assert.equal(preview, lines(2000))
    const { kept_lines, original_lines, direction, full_output_path } = truncation as JsonObject
    assert.deepEqual([direction, original_lines, kept_lines, full_output_path], ['head', 2001, 2000, null])
    assert.match(toModelText(outcome), /line 2000$/)
  })

  it('is cut beyond 51,200 bytes at a whole character', async () => {
    const preview = String(dataOf(await run('é'.repeat(30_000))).preview)
    assert.equal(Buffer.byteLength(preview), 51_200)
    assert.match(preview, /^é+$/)
  })

  it('counts what stands in data, and small fields survive the cut', async () => {
    const outcome = await run(succeeded('Exit code: 0', { exit_code: 0, stdout: 'x'.repeat(80_000) }))
    assert.equal(outcome.type, 'partial')
    assert.equal(dataOf(outcome).exit_code, 0)
    assert.equal(dataOf(outcome).stdout, undefined)
    assert.ok(Buffer.byteLength(JSON.stringify(outcome)) < 56_000)
  })

  it('is bounded for data that hides in structure', async () => {
    const outcome = await run(succeeded('Many.', { items: Array.from({ length: 60_000 }, (_, id) => ({ id })) }))
    assert.equal(outcome.type, 'partial')
    assert.ok(JSON.stringify(outcome).length < 120_000)
  })

  it('is bounded for a failure, which stays one', async () => {
    const outcome = await run(
      failed('TIMEOUT', 'y'.repeat(100_000), { data: { stdout: 'x'.repeat(100_000), exit_code: -1 } }),
    )
    assert.equal(outcome.type === 'failed' && outcome.code, 'TIMEOUT')
    assert.ok(messageOf(outcome).length < 5000)
    assert.equal(dataOf(outcome).exit_code, -1)
    assert.ok(JSON.stringify(outcome).length < 120_000)
  })

  it('does not double by the same words in text and data', async () => {
    const content = `${'word '.repeat(9_000)}end`
    const outcome = await run(succeeded(`Loaded.\n\n${content}`, { name: 'x', content }))
    assert.equal(outcome.type, 'success')
    assert.ok(toModelText(outcome).length < content.length + 100)
  })

  it('keeps data plain: dates become text, what JSON cannot hold is a failure', async () => {
    assert.deepEqual(
      dataOf(await run(succeeded('When.', { at: new Date(0), none: undefined } as unknown as JsonObject))),
      { at: '1970-01-01T00:00:00.000Z' },
    )
    const circle: { self?: unknown } = {}
    circle.self = circle
    for (const data of [circle, { big: 1n }]) {
      const outcome = await run(succeeded('Round.', data as unknown as JsonObject))
      assert.equal(outcome.type === 'failed' && outcome.code, 'INTERNAL_ERROR')
    }
  })

  it('never cuts in silence, whatever the outcome', async () => {
    const limits = { maxLines: 5, maxBytes: 60 }
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom('a', '\n', 'é', '😀'), maxLength: 120 }), async (text) => {
        const outcome = await boundOutcome(succeeded(text), limits)
        if (outcome.type === 'success') assert.equal(outcome.text, text)
        else assert.equal(dataOf(outcome).truncated, true)
        const envelope = toEnvelope(outcome, { timeMs: 1, cwd: '.', input: {} })
        assert.deepEqual(
          validateEnvelope(envelope).filter(({ severity }) => severity === 'error'),
          [],
        )
      }),
    )
  })
})

describe('headOf', () => {
  it('keeps a beginning within both limits and says how much there was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(8), fc.nat(40), (text, maxLines, maxBytes) => {
        const head = headOf(text, { maxLines, maxBytes })
        assert.ok(text.startsWith(head.text))
        assert.ok(head.lines <= maxLines && head.bytes <= maxBytes)
        assert.equal(head.isCut, head.text !== text)
        assert.equal(head.bytes, Buffer.byteLength(head.text))
        assert.equal(head.originalBytes, Buffer.byteLength(text))
      }),
    )
  })

  it('counts a last line without a line break', () => {
    assert.equal(headOf('a\nb', OUTCOME_LIMITS).originalLines, 2)
    assert.equal(headOf('a\nb\n', OUTCOME_LIMITS).originalLines, 2)
    assert.equal(headOf('', OUTCOME_LIMITS).originalLines, 0)
  })
})

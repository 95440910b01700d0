import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inParts, rowsOf } from '../../src/cli/show/long-document.ts'
import { type JsonValue, toSafeJson } from '../../src/kernel/index.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('\u007f', '\u202ex', '\ud800', '0', ',\n      0', '\n    "skills": []', '\n    "held": [', ']'),
)
const row = fc.oneof(
  text,
  fc.integer(),
  fc.constant(null),
  fc.record({ name: text, tokens: fc.nat(), diagnostics: fc.array(fc.record({ message: text }), { maxLength: 2 }) }),
)
/** Few rows, and numbers of rows around those of one part and of two. */
const rows = fc
  .tuple(fc.array(row, { minLength: 1, maxLength: 4 }), fc.constantFrom(0, 1, 2, 63, 64, 65, 127, 128, 129))
  .map(([some, count]) => Array.from({ length: count }, (_, index) => some[index % some.length] as JsonValue))

test('a document in parts is the document, whatever its lists and texts hold', () => {
  fc.assert(
    fc.property(rows, rows, fc.tuple(text, fc.array(row, { maxLength: 3 })), (skills, held, [word, diagnostics]) => {
      const whole = (lists: { skills: readonly JsonValue[]; held: readonly JsonValue[] }): JsonValue => ({
        command: word,
        data: { ...lists, counts: { ready: skills.length }, note: word },
        diagnostics,
      })
      const told = { skills: rowsOf(skills, (item) => item), held: rowsOf(held, (item) => item) }
      const parts = [...inParts(whole({ skills: [], held: [] }), told)]
      assert.equal(parts.join(''), `${toSafeJson(whole({ skills, held }), 2)}\n`)
    }),
    { numRuns: 300 },
  )
})

test('rows are made when their part is written, and few at a time', () => {
  let made = 0
  const skills = rowsOf(
    Array.from({ length: 1_000 }, (_, index) => index),
    (index) => ({ made: (made += 1), index }),
  )
  let before = 0
  for (const part of inParts({ data: { skills: [] } }, { skills })) {
    assert.ok(made - before <= 64, `${made - before} rows in one part`)
    assert.ok(part.length < 10_000)
    before = made
  }
  assert.equal(made, 1_000)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { widthOf } from '../../../../src/apps/cli/show/columns.ts'
import { codeFrame } from '../../../../src/apps/cli/validation/code-frame.ts'

const plain = (_style: string, text: string): string => text

test('a code frame shows the line, the one before it, and a caret under the place', () => {
  assert.equal(
    codeFrame(['a: 1', 'b: [x'], { line: 2, column: 4 }, { paint: plain, columns: 80 }),
    ['1 | a: 1', '2 | b: [x', '  |    ^'].join('\n'),
  )
})

test('on every width the frame fits with its indent, and the caret stands under the character of the place', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '日', 'é'), maxLength: 200 })
  fc.assert(
    fc.property(word, word, fc.integer({ min: 32, max: 140 }), (before, after, columns) => {
      const lines = [`${before}^${after}`]
      const [shown = '', under = ''] = codeFrame(
        lines,
        { line: 1, column: before.length + 1 },
        { paint: plain, columns },
      ).split('\n')
      assert.ok(widthOf(shown) + 6 <= columns, shown)
      assert.equal(widthOf(shown.slice(0, shown.indexOf('^'))), under.indexOf('^'))
    }),
  )
})

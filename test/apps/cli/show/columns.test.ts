import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatTable, shorten, widthOf, wrap } from '../../../../src/apps/cli/show/columns.ts'

test('a character of Chinese, Japanese, Korean or an emoji counts two cells, a mark and a colour none', () => {
  assert.equal(widthOf('abc'), 3)
  assert.equal(widthOf('日本語'), 6)
  assert.equal(widthOf('한 👍'), 5)
  assert.equal(widthOf('e\u0301'), 1)
  assert.equal(widthOf('\u001b[32m✓\u001b[39m café'), 6)
  assert.equal(widthOf('\u001b[31mred\u001b[39m'), 3)
})

test('a cut text fits its cells and says that it was cut', () => {
  assert.equal(shorten('abcdef', 6), 'abcdef')
  assert.equal(shorten('abcdef', 5), 'abcd…')
  assert.equal(shorten('日本語です', 6), '日本…')
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', ' ', '日', '👍', 'é') }),
      fc.integer({ min: 2, max: 30 }),
      (text, cells) => {
        const short = shorten(text, cells)
        assert.ok(widthOf(short) <= cells)
        assert.equal(short === text, widthOf(text) <= cells)
      },
    ),
  )
})

test('a wrapped text loses nothing, and no line is longer but one of a single word', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', ' ', '日') }),
      fc.integer({ min: 1, max: 20 }),
      (text, cells) => {
        const lines = wrap(text, cells)
        assert.equal(lines.join(' '), text)
        for (const line of lines) assert.ok(widthOf(line) <= cells || !line.includes(' '), line)
      },
    ),
  )
})

test('a table without a width is whole, and one with a width keeps to it', () => {
  const rows = [
    ['--all', 'also those that are held, shadowed or broken'],
    ['-m, --model NAME', 'a model'],
  ]
  assert.equal(
    formatTable(rows),
    `--all             also those that are held, shadowed or broken\n-m, --model NAME  a model`,
  )
  assert.equal(
    formatTable(rows, { columns: 45, long: 'wrap' }),
    '--all             also those that are held,\n                  shadowed or broken\n-m, --model NAME  a model',
  )
  assert.equal(
    formatTable(rows, { columns: 45 }),
    '--all             also those that are held,…\n-m, --model NAME  a model',
  )
})

test('where there is no room beside the others, the last cell stands on a line of its own', () => {
  const rows = [['csv-report', 'bundled', '~46 tokens', 'Turn a CSV file into a written summary']]
  assert.equal(
    formatTable(rows, { columns: 40 }),
    'csv-report  bundled  ~46 tokens\n    Turn a CSV file into a written summ…',
  )
})

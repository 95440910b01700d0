import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { nameKey, nearest } from '../../src/kernel/index.ts'

test('a slip of one letter, a swap or the case finds the name that was meant', () => {
  const names = ['csv-report', 'github', 'weather']
  for (const [typed, meant] of [
    ['githb', 'github'],
    ['gihtub', 'github'],
    ['GitHub', 'github'],
    ['csv_report', 'csv-report'],
    ['wether', 'weather'],
  ] as const) {
    assert.equal(nearest(typed, names), meant)
  }
})

test('a name that is like none of them finds nothing', () => {
  assert.equal(nearest('kubernetes', ['csv-report', 'github']), undefined)
  assert.equal(nearest('x', []), undefined)
  assert.equal(nearest('', ['github']), undefined)
})

test('the nearer of two wins, and the first of equals', () => {
  assert.equal(nearest('serve', ['service', 'server']), 'server')
  assert.equal(nearest('bat', ['cat', 'rat']), 'cat')
})

test('a name always finds itself', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1 }), fc.nat(), (names, index) => {
      const name = names[index % names.length] as string
      const found = nearest(name, names)
      assert.equal(found?.normalize('NFKC').toLowerCase(), name.normalize('NFKC').toLowerCase())
    }),
  )
})

test('a name of a megabyte is compared by its beginning', () => {
  assert.equal(nearest('a'.repeat(1_000_000), ['b']), undefined)
})

test('names that a reader cannot tell apart have one key', () => {
  assert.equal(nameKey('git\u200bhub'), 'github')
  assert.equal(nameKey('\u001b[1mgithub\u001b[0m'), 'github')
  assert.equal(nameKey('ﬁle'), 'file')
  assert.equal(nameKey('cafe\u0301'), 'café')
  assert.notEqual(nameKey('GitHub'), nameKey('github'))
})

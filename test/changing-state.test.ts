import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changingState } from './source-tree.ts'

test('the check for state sees what changes, and only that', () => {
  const changes = [
    'let count = 0',
    'export var count = 0',
    'const seen = new Map<string, number>()',
    'const seen: Map<string, number> = new Map()',
    'const list: string[] = []',
    'const bag = Object.create(null) as Record<string, string>',
    'const known = new Set(NAMES)\nexport function f(): void {\n  known.add("x")\n}',
    'const names = ["a"]\nfunction f(): void {\n  names.push("b")\n}',
    'const table = { a: 1 }\nfunction f(): void {\n  table.a = 2\n}',
    'const table = { a: [1] }\nfunction f(): void {\n  table.a.push(2)\n}',
    'const table = { a: 1 }\nfunction f(): void {\n  table[key] ??= 2\n}',
    'const table = { a: 1 }\nfunction f(): void {\n  table.a++\n}',
    'const table = { a: 1 }\nfunction f(): void {\n  delete table.a\n}',
    'const table = { a: 1 }\nfunction f(): void {\n  Object.assign(table, { a: 2 })\n}',
    'const WORD = /a/g\nfunction f(): boolean {\n  return WORD.test("a")\n}',
    'class A {\n  static count = 0\n}',
  ]
  const same = [
    'const NAMES: ReadonlyMap<string, string> = new Map()',
    'const NAMES = ["a", "b"]\nexport const f = (): boolean => NAMES.includes("a")',
    'const SORTED = ["b", "a"].sort()',
    'const WORD = /a/g\nexport const f = (text: string): string => text.replace(WORD, "")',
    'const table = { a: 1 }\nexport const f = (): boolean => table.a === 1 && table.a >= 0',
    'function f(): void {\n  const list: string[] = []\n  list.push("a")\n}',
    'class A {\n  static readonly ONE = 1\n  static make(): A {}\n}',
  ]
  assert.deepEqual(
    changes.filter((text) => changingState(text).length === 0),
    [],
  )
  assert.deepEqual(
    same.filter((text) => changingState(text).length > 0),
    [],
  )
})

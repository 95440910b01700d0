import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CODES } from '../src/kernel/index.ts'
import { readSource, SOURCE_FILES } from './source-tree.ts'

const ROW = /^\| `([A-Z_]+)` \| (-?\d+) \| (\d+) \| (\d+) \| ([^|]+) \| ([^|]+) \|$/gm
const documented = [...readSource('docs/errors.md').matchAll(ROW)].map(([, code, rpc, http, exit, means, next]) => ({
  code,
  row: { rpc: Number(rpc), http: Number(http), exit: Number(exit), means: means?.trim() },
  next: next?.trim() ?? '',
}))

test('docs/errors.md has the rows of the code table, in its order', () => {
  assert.deepEqual(
    documented.map(({ code, row }) => [code, row]),
    Object.entries(CODES).map(([code, row]) => [code, { ...row }]),
  )
})

test('docs/errors.md tells for every code what to do', () => {
  assert.deepEqual(
    documented.filter(({ next }) => next.length < 10).map(({ code }) => code),
    [],
  )
})

test('JSON-RPC numbers of the table are unique and in the ranges that the protocol leaves to us', () => {
  const numbers = Object.values(CODES).map(({ rpc }) => rpc)
  assert.equal(new Set(numbers).size, numbers.length)
  for (const rpc of numbers)
    assert.ok((rpc <= -32000 && rpc >= -32099) || rpc === -32602 || rpc === -32603, String(rpc))
})

test('no error is raised with a code that the table lacks', () => {
  const raised = SOURCE_FILES.flatMap((file) =>
    [...readSource(file).matchAll(/new NexusError\(\s*'([A-Z_]+)'/g)].map(([, code]) => code ?? ''),
  )
  assert.ok(raised.length > 0)
  assert.deepEqual(
    raised.filter((code) => !Object.hasOwn(CODES, code)),
    [],
  )
})

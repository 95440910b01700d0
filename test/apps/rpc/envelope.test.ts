import assert from 'node:assert/strict'
import test from 'node:test'
import { readRequest } from '../../../src/apps/rpc/index.ts'

const codeOf = (text: string): number | string => {
  const read = readRequest(text)
  return read.type === 'request' ? 'request' : read.failure.code
}

test('a body is a request, unreadable, or no request; each by its code', () => {
  const rows: readonly (readonly [string, number | string])[] = [
    ['{"jsonrpc":"2.0","method":"m"}', 'request'],
    ['{"jsonrpc":"2.0","method":"m","params":{},"id":null}', 'request'],
    ['{"jsonrpc":"2.0","method":"m","id":"x"}', 'request'],
    ['', -32_700],
    ['{', -32_700],
    ['{"jsonrpc":"2.0","method":"m",}', -32_700],
    ['[]', -32_600],
    ['[{"jsonrpc":"2.0","method":"m","id":1}]', -32_600],
    ['null', -32_600],
    ['"x"', -32_600],
    ['{"method":"m","id":1}', -32_600],
    ['{"jsonrpc":2.0,"method":"m","id":1}', -32_600],
    ['{"jsonrpc":"1.0","method":"m","id":1}', -32_600],
    ['{"jsonrpc":"2.0","id":1}', -32_600],
    ['{"jsonrpc":"2.0","method":1,"id":1}', -32_600],
    ['{"jsonrpc":"2.0","method":"m","id":true}', -32_600],
    ['{"jsonrpc":"2.0","method":"m","id":1.5}', -32_600],
    ['{"jsonrpc":"2.0","method":"m","id":1e999}', -32_600],
    ['{"jsonrpc":"2.0","method":"m","id":{}}', -32_600],
    ['{"jsonrpc":"2.0","method":"m","id":1,"extra":1}', -32_600],
    ['{"jsonrpc":"2.0","method":"m","id":1,"__proto__":{}}', -32_600],
    ['{"jsonrpc":"2.0","method":"m","params":[],"id":1}', -32_602],
    ['{"jsonrpc":"2.0","method":"m","params":"x","id":1}', -32_602],
    ['{"jsonrpc":"2.0","method":"m","params":null,"id":1}', -32_602],
  ]
  for (const [text, code] of rows) assert.equal(codeOf(text), code, text)
})

test('a body that is nested deeper than 64 levels is refused before it is parsed; brackets in strings do not count', () => {
  const nested = (depth: number): string =>
    `{"jsonrpc":"2.0","method":"m","params":{"a":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}}`
  assert.equal(codeOf(nested(64)), 'request')
  assert.equal(codeOf(nested(65)), -32_700)
  assert.equal(codeOf('['.repeat(2_000_000)), -32_700)
  assert.equal(codeOf(`{"jsonrpc":"2.0","method":"m","params":{"a":"\\"${'[{'.repeat(100)}"}}`), 'request')
})

test('the id of a refused request is in its answer where it could be read', () => {
  const idOf = (text: string): unknown => {
    const read = readRequest(text)
    return read.type === 'failure' ? read.id : undefined
  }
  assert.equal(idOf('{"jsonrpc":"2.0","id":"7"}'), '7')
  assert.equal(idOf('{"jsonrpc":"2.0","method":"m","params":[],"id":7}'), 7)
  assert.equal(idOf('{"jsonrpc":"2.0","method":"m","id":true}'), null)
  assert.equal(idOf('{'), null)
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { CODES, errorCode, errorMessage, isNexusError, NexusError } from '../../src/kernel/index.ts'

test('a NexusError is known by its brand, not by its class', () => {
  const foreign = Object.assign(new Error('x'), { code: 'TIMEOUT', [Symbol.for('nexus-skills.error')]: true })
  assert.ok(isNexusError(new NexusError('TIMEOUT', 'late')))
  assert.ok(isNexusError(foreign))
  assert.ok(!isNexusError(new Error('x')))
})

test('a NexusError keeps its cause', () => {
  const cause = new Error('disk')
  assert.equal(new NexusError('STORE_FAILED', 'no', { cause }).cause, cause)
})

test('every JSON-RPC number of the error table is used once', () => {
  const numbers = Object.values(CODES).map((row) => row.rpc)
  assert.equal(new Set(numbers).size, numbers.length)
})

test('the code and the message of whatever was thrown are read without a throw', () => {
  assert.equal(errorCode(Object.assign(new Error('x'), { code: 'ENOENT' })), 'ENOENT')
  for (const thrown of [new Error('x'), { code: 1 }, 'ENOENT', null, undefined])
    assert.equal(errorCode(thrown), undefined)
  assert.equal(errorMessage(new TypeError('no function')), 'no function')
  assert.equal(errorMessage('plain'), 'plain')
})

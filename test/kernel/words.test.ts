import assert from 'node:assert/strict'
import test from 'node:test'
import { CODES, configKey, isNexusError, newId, NexusError, systemClock } from '../../src/kernel/index.ts'

test('ids made later sort later', () => {
  const ids = [1, 2, 1_700_000_000_000, 1_700_000_000_001].map((time) => newId(time))
  assert.deepEqual([...ids].sort(), ids)
  assert.match(newId(), /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
})

test('ids made at the same moment differ', () => {
  assert.equal(new Set(Array.from({ length: 1000 }, () => newId(5))).size, 1000)
})

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

test('a skill from an untrusted source cannot choose the key under which it is configured', () => {
  const metadata = {
    os: [],
    requires: { bins: [], anyBins: [], env: [], config: [] },
    install: [],
    always: false,
    skillKey: 'github',
  }
  const origin = { source: 'workspace', tier: 'workspace', rank: 0 } as const
  assert.equal(configKey({ name: 'evil', metadata, origin: { ...origin, trusted: false } }), 'evil')
  assert.equal(configKey({ name: 'gh', metadata, origin: { ...origin, trusted: true } }), 'github')
})

test('sleep ends early with the reason of the signal', async () => {
  const controller = new AbortController()
  const asleep = systemClock.sleep(60_000, controller.signal)
  controller.abort(new Error('enough'))
  await assert.rejects(asleep, /enough/)
})

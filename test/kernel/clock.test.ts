import assert from 'node:assert/strict'
import test from 'node:test'
import { newId, systemClock } from '../../src/kernel/index.ts'

test('ids made later sort later', () => {
  const ids = [1, 2, 1_700_000_000_000, 1_700_000_000_001].map((time) => newId(time))
  assert.deepEqual([...ids].sort(), ids)
  assert.match(newId(), /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
})

test('ids made at the same moment differ', () => {
  assert.equal(new Set(Array.from({ length: 1000 }, () => newId(5))).size, 1000)
})

test('sleep ends early with the reason of the signal', async () => {
  const controller = new AbortController()
  const asleep = systemClock.sleep(60_000, controller.signal)
  controller.abort(new Error('enough'))
  await assert.rejects(asleep, /enough/)
})

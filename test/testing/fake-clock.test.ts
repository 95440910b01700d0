import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeClock } from '../../src/testing/fake-clock.ts'

test('the time stands still until it is moved', async () => {
  const clock = createFakeClock(500)
  assert.equal(clock.now(), 500)
  await clock.advance(25)
  assert.equal(clock.now(), 525)
})

test('sleepers wake in the order of their time, each at its own moment', async () => {
  const clock = createFakeClock(0)
  const woken: string[] = []
  const sleeper = async (name: string, ms: number) => {
    await clock.sleep(ms)
    woken.push(`${name}@${clock.now()}`)
  }
  const all = Promise.all([sleeper('late', 30), sleeper('early', 10), sleeper('middle', 20)])
  assert.equal(clock.sleeping, 3)
  await clock.advance(29)
  assert.deepEqual(woken, ['early@10', 'middle@20'])
  await clock.advance(1)
  await all
  assert.deepEqual(woken, ['early@10', 'middle@20', 'late@30'])
})

test('a loop that sleeps again goes on within one advance', async () => {
  const clock = createFakeClock(0)
  const ticks: number[] = []
  const loop = (async () => {
    for (let tick = 0; tick < 3; tick++) {
      await clock.sleep(10)
      ticks.push(clock.now())
    }
  })()
  await clock.advance(100)
  await loop
  assert.deepEqual(ticks, [10, 20, 30])
  assert.equal(clock.now(), 100)
})

test('an aborted sleep rejects with the reason and is forgotten', async () => {
  const clock = createFakeClock(0)
  const reason = new Error('enough')
  const cancel = new AbortController()
  const sleeping = clock.sleep(10, cancel.signal)
  cancel.abort(reason)
  await assert.rejects(sleeping, reason)
  await assert.rejects(clock.sleep(10, cancel.signal), reason)
  assert.equal(clock.sleeping, 0)
})

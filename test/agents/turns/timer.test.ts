import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTimer } from '../../../src/agents/turns/limits.ts'
import { createFakeClock } from '../../../src/testing/index.ts'

test('no time of a turn is used up while a person is asked, also when two questions are open', async () => {
  const clock = createFakeClock()
  const timer = startTimer(clock, 1_000)
  await clock.advance(600)
  timer.pause()
  timer.pause()
  await clock.advance(60_000)
  timer.resume()
  await clock.advance(60_000)
  assert.equal(timer.signal.aborted, false)
  timer.resume()
  await clock.advance(399)
  assert.equal(timer.signal.aborted, false)
  await clock.advance(1)
  assert.equal(timer.signal.aborted, true)
})

test('a timer that is stopped never fires', async () => {
  const clock = createFakeClock()
  const timer = startTimer(clock, 1_000)
  timer.stop()
  await clock.advance(5_000)
  assert.equal(timer.signal.aborted, false)
})

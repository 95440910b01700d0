import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { SourceChange } from '../../../src/skills/sources/index.ts'
import { gatherChanges } from '../../../src/skills/sources/watch/changes.ts'

function gathering(t: TestContext, signal = new AbortController().signal) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000_000 })
  const told: SourceChange[] = []
  const deliver = (change: SourceChange): unknown => told.push(change)
  const changes = gatherChanges({ debounceMs: 250, keepAlive: true, signal, deliver })
  return { clock: t.mock.timers, told, changes }
}

test('changes are told once, sorted and without doubles, when it has been quiet for the whole time', (t) => {
  const { clock, told, changes } = gathering(t)
  changes.note('/s/b')
  clock.tick(200)
  changes.note('/s/a')
  changes.note('/s/b')
  clock.tick(100)
  assert.deepEqual(told, [], 'quiet for 100 ms only')
  clock.tick(150)
  assert.deepEqual(told, [{ directories: ['/s/a', '/s/b'], rescan: false }])
  clock.tick(10_000)
  assert.equal(told.length, 1)
})

test('a writer that never rests is told of every eighth quiet time', (t) => {
  const { clock, told, changes } = gathering(t)
  for (let ms = 0; ms < 4_000; ms += 100) {
    changes.note('/s/a')
    clock.tick(100)
  }
  assert.ok(told.length >= 1 && told.length <= 2, `told ${told.length} times in 4 s`)
})

test('what comes while something is told is told the next time', (t) => {
  const { clock, told, changes } = gathering(t)
  changes.noteAll()
  clock.tick(250)
  changes.note('/s/a')
  clock.tick(250)
  assert.deepEqual(told, [
    { directories: [], rescan: true },
    { directories: ['/s/a'], rescan: false },
  ])
})

test('a clock that is set back does not delay a change', (t) => {
  const { clock, told, changes } = gathering(t)
  changes.note('/s/a')
  t.mock.method(Date, 'now', () => 0)
  changes.note('/s/b')
  clock.tick(250)
  assert.equal(told.length, 1)
})

test('nothing is told once the signal aborted', (t) => {
  const closing = new AbortController()
  const { clock, told, changes } = gathering(t, closing.signal)
  changes.note('/s/a')
  closing.abort()
  clock.tick(1_000)
  changes.note('/s/b')
  clock.tick(1_000)
  assert.deepEqual(told, [])
})

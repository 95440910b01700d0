import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../src/kernel/index.ts'
import type { SourceChange } from '../../src/sources/index.ts'
import { gatherChanges } from '../../src/sources/watch/changes.ts'

/** A time that goes on only when told to. */
function handClock(): Clock & { advance(ms: number): Promise<void>; setBack(ms: number): void } {
  let now = 1_000
  let wrong = 0
  let sleepers: { readonly at: number; readonly wake: () => void }[] = []
  return {
    now: () => now - wrong,
    setBack: (ms) => void (wrong = ms),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleepers.push({ at: now + ms, wake: resolve })
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      }),
    async advance(ms) {
      now += ms
      const due = sleepers.filter(({ at }) => at <= now)
      sleepers = sleepers.filter(({ at }) => at > now)
      for (const { wake } of due) wake()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

function gathering(signal = new AbortController().signal) {
  const clock = handClock()
  const told: SourceChange[] = []
  const changes = gatherChanges({ debounceMs: 250, clock, signal, deliver: (change) => told.push(change) })
  return { clock, told, changes }
}

test('changes are told once, sorted and without doubles, when it has been quiet for the whole time', async () => {
  const { clock, told, changes } = gathering()
  changes.note('/s/b')
  await clock.advance(200)
  changes.note('/s/a')
  changes.note('/s/b')
  await clock.advance(100)
  assert.deepEqual(told, [], 'quiet for 100 ms only')
  await clock.advance(150)
  assert.deepEqual(told, [{ directories: ['/s/a', '/s/b'], rescan: false }])
  await clock.advance(10_000)
  assert.equal(told.length, 1)
})

test('a writer that never rests is told of every eighth quiet time', async () => {
  const { clock, told, changes } = gathering()
  for (let ms = 0; ms < 4_000; ms += 100) {
    changes.note('/s/a')
    await clock.advance(100)
  }
  assert.ok(told.length >= 1 && told.length <= 2, `told ${told.length} times in 4 s`)
})

test('what comes while something is told is told the next time', async () => {
  const { clock, told, changes } = gathering()
  changes.noteAll()
  await clock.advance(250)
  changes.note('/s/a')
  await clock.advance(250)
  assert.deepEqual(told, [
    { directories: [], rescan: true },
    { directories: ['/s/a'], rescan: false },
  ])
})

test('a clock that is set back does not delay a change', async () => {
  const { clock, told, changes } = gathering()
  changes.note('/s/a')
  clock.setBack(3_600_000)
  await clock.advance(250)
  assert.equal(told.length, 1)
})

test('nothing is told once the signal aborted', async () => {
  const closing = new AbortController()
  const { clock, told, changes } = gathering(closing.signal)
  changes.note('/s/a')
  closing.abort()
  await clock.advance(1_000)
  changes.note('/s/b')
  await clock.advance(1_000)
  assert.deepEqual(told, [])
})

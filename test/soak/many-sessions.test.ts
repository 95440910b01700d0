import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { acknowledged, ended, start } from '../store/processes.ts'

const SESSIONS = 1_000
const MOST_MS = 20

// In a process of its own: the test runner follows each promise, which alone takes 10 to 20 ms.
test(`${SESSIONS} sessions that all work at once make no error, and stop the event loop for at most ${MOST_MS} ms`, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'nexus-sessions-'))
  t.after(() => rm(directory, { recursive: true }))
  const child = start('many-sessions.ts', join(directory, 'nexus.db'), String(SESSIONS))
  const lines = acknowledged(child)
  assert.equal(await ended(child), 0)
  const { longest, events, done } = JSON.parse(lines[0] ?? '') as Record<'longest' | 'events' | 'done', number>
  t.diagnostic(`longest stop: ${longest.toFixed(1)} ms of our own work; ${events} events were followed`)
  assert.ok(longest <= MOST_MS, `the event loop stopped for ${longest.toFixed(1)} ms`)
  assert.equal(done, SESSIONS + 10)
})

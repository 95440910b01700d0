import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type Clock, systemClock } from '../../../src/kernel/index.ts'
import { openPostgresStore, openSqliteStore, sessionLease } from '../../../src/store/index.ts'
import { startModelServer } from '../../../src/testing/index.ts'
import { startPostgres, whyNoPostgres } from '../../store/postgres-server.ts'
import { acknowledged, ended, waitFor } from '../../store/processes.ts'
import { COMPILED } from '../../source-tree.ts'

/** The store as a process sees it for which the time of the stopped one is over. */
const clock: Clock = { ...systemClock, now: () => Date.now() + 60_000 }

async function stopPastTheLease(t: TestContext, address: string): Promise<void> {
  await using server = await startModelServer({
    script: ({ messages }) =>
      messages.at(-1)?.text === 'Wait.'
        ? { type: 'tool-calls', calls: [{ name: 'wait', arguments: {} }] }
        : { type: 'text', text: 'Done.' },
  })
  const script = join(import.meta.dirname, 'stopped-agent.ts')
  const child = spawn(process.execPath, [COMPILED, script, address, server.url], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const end = ended(child)
  const lines = acknowledged(child)
  await waitFor(child, lines, 1)
  child.kill('SIGSTOP')
  const store = address.startsWith('postgres:')
    ? await openPostgresStore({ url: address, projectId: 'default', clock })
    : await openSqliteStore({ path: address, projectId: 'default', clock })
  t.after(() => store.close())
  assert.deepEqual(await store.reclaim(), { calls: 1, turns: 1, approvals: 0 })
  const acquired = await store.leases.acquire(sessionLease('s1'), { owner: 'the next', ttlMs: 60_000 })
  assert.ok(acquired.type === 'acquired')
  const before = await store.sessions.messages('s1')
  child.kill('SIGCONT')
  child.stdin.write('go on\n')
  await waitFor(child, lines, 2)
  assert.match(lines[1] ?? '', /^ENDED failed LEASE_LOST|^ENDED cancelled/)
  assert.deepEqual(await store.sessions.messages('s1'), before, 'the stopped owner wrote nothing more')
  const [turn] = await store.turns.list()
  const [entry] = await store.ledger.list()
  assert.deepEqual([turn?.state, turn?.use.steps, entry?.state], ['interrupted', 1, 'interrupted'])
  // It takes a new lease with its next message, which runs when the session is free.
  await store.leases.release(acquired.lease)
  assert.equal(await end, 0)
  assert.equal(lines[2], 'ENDED done undefined')
  assert.equal((await store.sessions.messages('s1')).at(-1)?.role, 'assistant')
}

test('a process that stood still past its lease is refused each write about its turn, and then takes a new lease', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'nexus-stopped-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return stopPastTheLease(t, join(directory, 'nexus.db'))
})

test('the same on Postgres', { skip: whyNoPostgres() ?? false }, async (t) => {
  const server = await startPostgres()
  t.after(() => server.close())
  await stopPastTheLease(t, server.url())
})

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { succeeded } from '../../src/kernel/index.ts'
import { openSqliteStore, sessionLease } from '../../src/store/index.ts'
import { ALLOW, call } from '../../src/testing/store/rig.ts'

const SESSIONS = 1_000
/** The goal is 20 ms on a quiet machine; other work beside it slows ours too. */
const MOST_MS = 50

/** The longest time that the main thread worked between two turns of its event loop. The load of other processes does not count. */
function watchStops(): { end(): number } {
  let [longest, isOver, last] = [0, false, process.threadCpuUsage()]
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, (user + system) / 1_000)
    last = process.threadCpuUsage()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  return {
    end: () => {
      isOver = true
      return longest
    },
  }
}

test(`${SESSIONS} sessions that all work at once make no error, and stop the event loop for at most ${MOST_MS} ms`, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'nexus-sessions-'))
  const store = await openSqliteStore({ path: join(directory, 'nexus.db'), projectId: 'default' })
  t.after(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })
  const acquired = await store.leases.acquire('process:one', { owner: 'one', ttlMs: 3_600_000 })
  assert.ok(acquired.type === 'acquired')
  const under = acquired.lease
  let events = 0
  const stop = await store.events.follow((event) => event && (events += 1))
  const work = async (id: string): Promise<void> => {
    await store.sessions.create({ id, agentId: 'main', title: '' })
    const { id: turnId } = await store.turns.enqueue({ sessionId: id, message: { role: 'user' }, lease: under })
    const its = await store.leases.acquire(sessionLease(id), { owner: 'one', under })
    assert.ok(its.type === 'acquired')
    const { lease } = its
    await store.turns.take(id, lease, { id: turnId, messages: [{ role: 'user' }] })
    await store.ledger.record({ call: call(store, id, { sessionId: id, turnId }), decision: ALLOW, lease })
    await store.ledger.close(id, succeeded('ok'), { lease, message: { role: 'tool' } })
    await store.turns.finish(turnId, lease, { state: 'done', messages: [{ role: 'assistant' }] })
    await store.leases.release(lease)
  }
  // The first ones compile their statements.
  await Promise.all(Array.from({ length: 10 }, (_, index) => work(`first${index}`)))
  const watch = watchStops()
  await Promise.all(Array.from({ length: SESSIONS }, (_, index) => work(`s${index}`)))
  await store.sessions.list({ limit: 50 })
  await store.turns.list({ limit: 50 })
  await store.ledger.list({ limit: 50 })
  await store.reclaim()
  const longest = watch.end()
  t.diagnostic(`longest stop: ${longest.toFixed(1)} ms of our own work; ${events} events were followed`)
  assert.ok(longest <= MOST_MS, `the event loop stopped for ${longest.toFixed(1)} ms`)
  assert.equal((await store.turns.list({ states: ['done'] })).length, SESSIONS + 10)
  stop()
})

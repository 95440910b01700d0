/** Processes that work on one state file while they are stopped, continued and killed at random moments. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lease, Store } from '../../src/store/index.ts'
import { openAt } from '../fixtures/store/open-at.ts'
import { acknowledged, ended, start, waitFor } from './processes.ts'

/** What happens to a worker, or, as a function, to the server. */
export type Disturbance = 'pause' | 'kill' | ((random: () => number) => Promise<void>)

/** Where the processes of a round meet. */
export interface RoundPlace {
  readonly address: string
  readonly projectId?: string
  /** How long a lease is without a heartbeat. */
  readonly ttlMs?: number
}

const TURNS = 24
const TTL_MS = 40
/** Restarts of a server take longer than the rest of a round. */
const MAX_RESTARTS = 2
/** More interruptions than this would end every turn that way. */
const MAX_DISTURBANCES = 10

/** One round: every turn has one outcome, what was acknowledged is there, and no stale owner wrote. Returns what happened. */
export async function runRound(
  { address, projectId = 'default', ttlMs = TTL_MS }: RoundPlace,
  { seed, disturbance }: { readonly seed: number; readonly disturbance: Disturbance },
): Promise<{ readonly done: number; readonly interrupted: number; readonly lost: number }> {
  const store = await openAt(address, projectId)
  await fill(store)
  const lines = await disturb({ address, projectId, ttlMs }, { random: mulberry32(seed), disturbance })
  // A change of a killed process that was under way may end, and renew its lease, after it.
  const end = Date.now() + 10_000
  do {
    await sleep(ttlMs)
    await store.reclaim()
  } while (Date.now() < end && (await store.turns.list({ states: ['running'], limit: 1 })).length > 0)
  const result = await inspect(store, lines)
  await store.close()
  return result
}

async function fill(store: Store): Promise<void> {
  await store.sessions.create({ id: 's', agentId: 'main', title: '' })
  const acquired = await store.leases.acquire('process:test', { owner: 'test', ttlMs: 600_000 })
  assert.ok(acquired.type === 'acquired')
  const lease: Lease = acquired.lease
  for (let index = 0; index < TURNS; index++) {
    const message = { role: 'user', content: String(index) }
    await store.turns.enqueue({ sessionId: 's', message, lease, limit: TURNS })
  }
}

/** Two workers until the queue is empty; a killed one is replaced. Returns what all of them acknowledged. */
async function disturb(
  { address, projectId, ttlMs }: Required<RoundPlace>,
  { random, disturbance }: { readonly random: () => number; readonly disturbance: Disturbance },
): Promise<string[]> {
  const all: string[][] = []
  let disturbances = 0
  const slot = async (name: string): Promise<void> => {
    for (let isOver = false; !isOver;) {
      const child = start('work-turns.ts', address, `${name}-${disturbances}`, String(ttlMs), projectId)
      const lines = acknowledged(child)
      all.push(lines)
      const end = ended(child)
      let isRunning = true
      void end.then(() => (isRunning = false))
      // A kill while Node starts disturbs nothing that this round is about.
      await Promise.race([end, waitFor(child, lines, 1)])
      while (isRunning && disturbances < (typeof disturbance === 'string' ? MAX_DISTURBANCES : MAX_RESTARTS)) {
        await Promise.race([end, sleep(random() * 60)])
        if (!isRunning) break
        disturbances += 1
        if (typeof disturbance === 'function') {
          await disturbance(random)
          continue
        }
        child.kill(disturbance === 'kill' ? 'SIGKILL' : 'SIGSTOP')
        if (disturbance === 'kill') break
        await sleep(random() * 3 * ttlMs)
        child.kill('SIGCONT')
      }
      isOver = (await end) === 0
    }
  }
  await Promise.all(['one', 'two'].map(slot))
  return all.flat()
}

async function inspect(store: Store, lines: readonly string[]) {
  const turns = await store.turns.list()
  const calls = new Map((await store.ledger.list()).map((entry) => [entry.call.id, entry]))
  const messages = await store.sessions.messages('s')
  const acknowledgedAs = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(' ')[1] ?? '')
  assert.equal(turns.length, TURNS)
  for (const { id, state } of turns) assert.ok(state === 'done' || state === 'interrupted', `${id} is ${state}`)
  const done = new Set(turns.filter(({ state }) => state === 'done').map(({ id }) => id))
  for (const id of acknowledgedAs('DONE')) assert.ok(done.has(id), `${id} was acknowledged as done and is not`)
  for (const id of acknowledgedAs('CALL')) assert.ok(calls.has(id), `call ${id} was acknowledged and is lost`)
  for (const id of acknowledgedAs('CLOSED')) assert.equal(calls.get(id)?.state, 'done')
  for (const { call, state } of calls.values())
    assert.ok(state === 'done' || state === 'interrupted', `call ${call.id} is ${state}`)
  const perTurn = Map.groupBy(calls.values(), ({ call }) => call.turnId)
  for (const [turnId, its] of perTurn) assert.equal(its.length, 1, `turn ${turnId} ran twice`)
  const written = messages.map((message) => String(message['turn']))
  assert.equal(new Set(written).size, written.length, 'a turn wrote its message twice')
  for (const id of [...acknowledgedAs('MESSAGE'), ...done]) assert.ok(written.includes(id), `message of ${id} is lost`)
  const fences = messages.map((message) => Number(message['fence']))
  assert.deepEqual(
    fences,
    fences.toSorted((a, b) => a - b),
    'a stale owner wrote after the present one',
  )
  const lost = lines.filter((line) => line === 'LOST').length
  return { done: done.size, interrupted: TURNS - done.size, lost }
}

/** Random numbers from 0 to 1 that a seed repeats. */
export function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Rounds in which a proxy cuts the connection to Postgres in the middle of commits. */
import assert from 'node:assert/strict'
import { succeeded } from '../../src/kernel/index.ts'
import { type Lease, openPostgresStore, sessionLease, type Store } from '../../src/store/index.ts'
import { ALLOW, ASK, call } from '../../src/testing/store/rig.ts'
import { type Fault, startFaultProxy } from './fault-proxy.ts'
import type { TestServer } from './postgres-server.ts'
import { mulberry32 } from './rounds.ts'

const STEPS = 60
const TTL_MS = 600_000
const FAULTS: readonly Fault[] = ['before', 'after', 'next']

/** What one round did: it is all there, once, and in its order. */
export async function runCutRound(server: TestServer, seed: number): Promise<Record<string, number>> {
  const random = mulberry32(seed)
  const proxy = await startFaultProxy(server.port)
  const projectId = `cut-${seed}`
  const [cut, direct] = await Promise.all(
    [proxy.port, server.port].map((port) => openPostgresStore({ url: server.url('nexus', port), projectId })),
  )
  assert.ok(cut && direct)
  try {
    const done = await work(cut, {
      random,
      disturb: () => {
        if (random() < 0.5) proxy.arm(FAULTS[Math.floor(random() * FAULTS.length)] ?? 'after')
      },
      other: direct,
    })
    await inspect(direct, done)
    return { ...Object.fromEntries(Object.entries(done).map(([name, ids]) => [name, ids.length])), cuts: proxy.faults }
  } finally {
    await Promise.all([cut.close(), direct.close()])
    await proxy.close()
  }
}

interface Done {
  readonly messages: string[]
  readonly turns: string[]
  readonly calls: string[]
  readonly answers: string[]
  readonly leases: Lease[]
}

async function work(
  store: Store,
  { random, disturb, other }: { readonly random: () => number; readonly disturb: () => void; readonly other: Store },
): Promise<Done> {
  const done: Done = { messages: [], turns: [], calls: [], answers: [], leases: [] }
  for (const id of ['s', 'other']) await store.sessions.create({ id, agentId: 'main', title: '' })
  const lease = await acquire(store, sessionLease('s'))
  const otherLease = await acquire(other, sessionLease('other'))
  const steps: readonly ((id: string) => Promise<unknown>)[] = [
    async (id) => {
      await store.sessions.append('s', [{ role: 'user', id }], lease)
      done.messages.push(id)
    },
    async (requestId) => {
      const message = { role: 'user' }
      const { id } = await store.turns.enqueue({ sessionId: 's', requestId, message, lease, limit: STEPS })
      done.turns.push(id)
    },
    async (id) => {
      await store.ledger.record({ call: call(store, id), decision: ALLOW, lease })
      await store.ledger.close(id, succeeded(id), { lease })
      done.calls.push(id)
    },
    async (id) => {
      const approval = { id, command: 'ls', ttlMs: TTL_MS, canRemember: true }
      await store.ledger.record({ call: call(store, id), decision: ASK, approval, lease })
      const { isApplied } = await store.approvals.answer(id, {
        isAllowed: true,
        by: 'ann',
        kind: 'person',
        remember: 'exact',
      })
      assert.ok(isApplied, `the answer to ${id} was applied twice`)
      done.answers.push(id)
    },
    async (id) => done.leases.push(await acquire(store, id)),
  ]
  for (let step = 0; step < STEPS; step++) {
    disturb()
    const write = steps[Math.floor(random() * steps.length)]
    await Promise.all([
      write?.(`id-${step}`),
      other.sessions.append('other', [{ role: 'user', id: String(step) }], otherLease),
      store.sessions.list(),
    ])
  }
  return done
}

async function acquire(store: Store, name: string): Promise<Lease> {
  const acquired = await store.leases.acquire(name, { owner: 'test', ttlMs: TTL_MS })
  assert.ok(acquired.type === 'acquired', `${name} was acquired twice`)
  return acquired.lease
}

async function inspect(store: Store, done: Done): Promise<void> {
  const ids = async (session: string) => (await store.sessions.messages(session)).map((message) => message['id'])
  assert.deepEqual(await ids('s'), done.messages)
  assert.deepEqual(
    await ids('other'),
    Array.from({ length: STEPS }, (_, index) => String(index)),
  )
  assert.deepEqual(
    (await store.turns.list()).map(({ id }) => id),
    done.turns,
  )
  const entries = await store.ledger.list()
  assert.deepEqual(
    entries.map(({ call: { id }, state }) => [id, state]).toSorted(),
    [...done.calls.map((id) => [id, 'done']), ...done.answers.map((id) => [id, 'answered'])].toSorted(),
  )
  for (const lease of done.leases) assert.deepEqual(await store.leases.get(lease.name), lease)
  const counts = Map.groupBy(await store.events.after(0), ({ type }) => type)
  const count = (type: string) => counts.get(type)?.length ?? 0
  assert.equal(count('session.messages'), done.messages.length + STEPS)
  assert.equal(count('turn.queued'), done.turns.length)
  assert.equal(count('call.done'), done.calls.length)
  assert.equal(count('approval.allowed'), done.answers.length)
  assert.equal(count('session.created'), 2)
}

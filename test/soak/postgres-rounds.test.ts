import assert from 'node:assert/strict'
import test, { after, before, describe } from 'node:test'
import { openPostgresStore, sessionLease } from '../../src/store/index.ts'
import { runCutRound } from '../store/cut-rounds.ts'
import { startFaultProxy } from '../store/fault-proxy.ts'
import { startPostgres, type TestServer, whyNoPostgres } from '../store/postgres-server.ts'
import { endChildren } from '../store/processes.ts'
import { runRound } from '../store/rounds.ts'
import { rounds } from './rounds.ts'

const ROUNDS = rounds(200)

describe('a Postgres store', { skip: whyNoPostgres() ?? false }, () => {
  let server: TestServer
  before(async () => {
    server = await startPostgres()
  })
  after(async () => {
    endChildren()
    await server?.close()
  })
  const first = Date.now() % 1_000_000

  test(`keeps what was acknowledged, once, in ${ROUNDS} rounds of cut commits`, async (t) => {
    for (let seed = first; seed < first + ROUNDS; seed++)
      t.diagnostic(`seed ${seed}: ${JSON.stringify(await runCutRound(server, seed))}`)
  })

  for (const disturbance of ['pause', 'kill'] as const)
    test(`gives every turn one outcome in ${ROUNDS} rounds of a random ${disturbance}`, async (t) => {
      let interrupted = 0
      for (let seed = first; seed < first + ROUNDS; seed++) {
        const place = { address: server.url(), projectId: `${disturbance}-${seed}`, ttlMs: 100 }
        const result = await runRound(place, { seed, disturbance })
        t.diagnostic(`seed ${seed}: ${JSON.stringify(result)}`)
        interrupted += result.interrupted
      }
      t.diagnostic(`${interrupted} turns were interrupted`)
    })

  test('applies a change once whose connection went dead without an end', async () => {
    const proxy = await startFaultProxy(server.port)
    const pool = { statementTimeoutMs: 1_000 }
    const store = await openPostgresStore({ url: server.url('nexus', proxy.port), projectId: 'hole', pool })
    await store.sessions.create({ id: 's', agentId: 'main', title: '' })
    const acquired = await store.leases.acquire(sessionLease('s'), { owner: 'test', ttlMs: 60_000 })
    assert.ok(acquired.type === 'acquired')
    proxy.arm('hole')
    await store.sessions.append('s', [{ role: 'user' }], acquired.lease)
    assert.equal(proxy.faults, 1)
    assert.equal((await store.sessions.messages('s')).length, 1)
    await store.close()
    await proxy.close()
  })
})

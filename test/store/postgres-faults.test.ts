import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { runCutRound } from './cut-rounds.ts'
import { endChildren } from './processes.ts'
import { startPostgres, type TestServer, whyNoPostgres } from './postgres-server.ts'
import { runRound } from './rounds.ts'
import { COMPILED } from '../source-tree.ts'

const skip = whyNoPostgres() ?? false

describe('a Postgres store whose connection is lost', { skip }, () => {
  let server: TestServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => {
    endChildren()
    return server.close()
  })

  it('lets its process end when it is closed before it could listen', () => {
    const entry = new URL('../../src/store/index.ts', import.meta.url).href
    const code = `const { openPostgresStore } = await import('${entry}')
      const store = await openPostgresStore({ url: '${server.url()}', projectId: 'default' })
      await store.events.last()
      store.events.follow(() => {}).catch(() => {})
      await store.close()`
    const child = spawnSync(process.execPath, [COMPILED, '--input-type=module', '-e', code], { timeout: 10_000 })
    assert.deepEqual([child.status, child.signal, String(child.stderr)], [0, null, ''])
  })

  for (const seed of [1, 2, 3])
    it(`keeps what was acknowledged, once, when commits are cut (seed ${seed})`, async (t) => {
      t.diagnostic(JSON.stringify(await runCutRound(server, seed)))
    })

  for (const disturbance of ['pause', 'kill'] as const)
    for (const seed of [1, 2])
      it(`gives every turn of two processes one outcome under a random ${disturbance} (seed ${seed})`, async (t) => {
        const place = { address: server.url(), projectId: `${disturbance}-${seed}`, ttlMs: 200 }
        t.diagnostic(JSON.stringify(await runRound(place, { seed, disturbance })))
      })

  for (const how of ['fast', 'immediate', 'kill'] as const)
    it(`lets two processes go on after the server was stopped (${how}) and started again`, async (t) => {
      const restart = async () => {
        await server.stop(how)
        await server.start()
      }
      const place = { address: server.url(), projectId: `restart-${how}`, ttlMs: 200 }
      t.diagnostic(JSON.stringify(await runRound(place, { seed: 1, disturbance: restart })))
    })
})

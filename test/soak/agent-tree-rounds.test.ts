import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCreateRound, runTreeRound } from '../agents/pool/tree-rounds.ts'
import { startPostgres, whyNoPostgres } from '../store/postgres-server.ts'
import { rounds } from './rounds.ts'

const ROUNDS = rounds(200)
const first = Date.now() % 1_000_000

test(`${ROUNDS} rounds of a killed tree of agents lose nothing, repeat nothing and widen nothing`, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'nexus-tree-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  for (let seed = first; seed < first + ROUNDS; seed += 1) {
    t.diagnostic(`seed ${seed}`)
    const place = join(directory, String(seed))
    t.diagnostic(JSON.stringify(await runTreeRound(`${place}.db`, `${place}.effects`, seed)))
  }
})

test('the same on Postgres', { skip: whyNoPostgres() ?? false }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'nexus-tree-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  for (let seed = first; seed < first + ROUNDS; seed += 1) {
    t.diagnostic(`seed ${seed}`)
    const server = await startPostgres()
    try {
      if (seed === first) await runCreateRound(await server.create('made'), join(directory, 'effects'))
      const result = await runTreeRound(server.url(), join(directory, `${seed}.effects`), seed)
      assert.ok((result['turns'] ?? 0) > 0)
    } finally {
      await server.close()
    }
  }
})

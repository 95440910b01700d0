import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { runTurnRound } from '../agents/turns/turn-rounds.ts'
import { rounds } from './rounds.ts'

const ROUNDS = rounds(200)

test(`${ROUNDS} rounds of killed turns lose nothing and repeat nothing`, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'nexus-turns-'))
  t.after(() => rm(directory, { recursive: true }))
  const first = Date.now() % 1_000_000
  let cut = 0
  for (let seed = first; seed < first + ROUNDS; seed++) {
    t.diagnostic(`seed ${seed}`)
    const result = await runTurnRound(directory, seed)
    t.diagnostic(JSON.stringify(result))
    cut += result['cutTurns'] ?? 0
  }
  assert.ok(cut > 0, 'no turn was cut off')
})

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { endChildren } from '../store/processes.ts'
import { runRound } from '../store/rounds.ts'
import { rounds } from './rounds.ts'

const ROUNDS = rounds(200)

for (const disturbance of ['pause', 'kill'] as const)
  test(`${ROUNDS} rounds of two processes under a random ${disturbance} give every turn one outcome`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'nexus-store-'))
    t.after(async () => {
      endChildren()
      await rm(directory, { recursive: true })
    })
    const first = Date.now() % 1_000_000
    let interrupted = 0
    for (let seed = first; seed < first + ROUNDS; seed++) {
      const result = await runRound({ address: join(directory, `${disturbance}-${seed}.db`) }, { seed, disturbance })
      t.diagnostic(`seed ${seed}: ${JSON.stringify(result)}`)
      interrupted += result.interrupted
    }
    assert.ok(interrupted > 0, 'no round was disturbed')
  })

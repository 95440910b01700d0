import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { runTurnRound } from './turn-rounds.ts'

for (const seed of [1, 2, 3])
  test(`turns whose process is killed at random points lose nothing and repeat nothing (seed ${seed})`, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'nexus-turns-'))
    t.after(() => rm(directory, { recursive: true }))
    t.diagnostic(JSON.stringify(await runTurnRound(directory, seed)))
  })

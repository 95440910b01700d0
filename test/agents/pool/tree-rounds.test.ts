import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCreateRound, runTreeRound } from './tree-rounds.ts'

const ROUNDS = 1
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

test('an agent that was made, and not yet given its first message when its process was killed, gets that message once', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'nexus-tree-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  await runCreateRound(join(directory, 'nexus.db'), join(directory, 'effects'))
})

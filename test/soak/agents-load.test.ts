/** Many agents at once: nothing of one gets into another, and memory does not grow with the turns. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { rounds } from './rounds.ts'

const MIB = 1024 * 1024
const IDLE = 1_000
/** Goal of docs/performance.md. */
const MOST_IDLE_MIB = 20
const AGENTS = 200
const TURNS = rounds(20)
/** So much more may be in use after three times as many turns: caches that fill, not what grows. */
const MOST_GROWTH_MIB = 8

async function run(t: TestContext, ...args: readonly string[]): Promise<Record<string, number>> {
  const directory = await mkdtemp(join(tmpdir(), 'nexus-load-'))
  t.after(() => rm(directory, { recursive: true }))
  const [mode = '', ...counts] = args
  const script = join(import.meta.dirname, 'load-agents.ts')
  const given = ['--expose-gc', script, mode, join(directory, 'nexus.db'), ...counts]
  const { stdout } = await promisify(execFile)(process.execPath, given)
  return JSON.parse(stdout) as Record<string, number>
}

test(`${IDLE} idle agents take at most ${MOST_IDLE_MIB} MiB more than one`, async (t) => {
  const { one = 0, all = Infinity } = await run(t, 'idle', String(IDLE))
  t.diagnostic(`one ${(one / MIB).toFixed(1)} MiB, all ${(all / MIB).toFixed(1)} MiB`)
  assert.ok(all - one <= MOST_IDLE_MIB * MIB, `${((all - one) / MIB).toFixed(1)} MiB`)
})

test(`${AGENTS} agents × ${TURNS} turns at once are not mixed, and memory is flat after the first quarter`, async (t) => {
  const { before = 0, after = Infinity, mixed, done } = await run(t, 'work', String(AGENTS), String(TURNS))
  t.diagnostic(`${(before / MIB).toFixed(1)} MiB, then ${(after / MIB).toFixed(1)} MiB`)
  assert.deepEqual([mixed, done], [0, AGENTS * TURNS])
  assert.ok(after - before <= MOST_GROWTH_MIB * MIB, `it grew by ${((after - before) / MIB).toFixed(1)} MiB`)
})

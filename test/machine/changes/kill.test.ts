/** `kill -9` between any two steps of a take, a write, a keep and an undo. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { undo } from '../../../src/machine/changes/index.ts'
import { freshDirectory } from '../files/rig.ts'
import { filesIn, HELD, inSets, NEW, OLD, type Op, prepare, take } from './killed.ts'
import { COMPILED } from '../../source-tree.ts'

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 3)

async function begun(t: TestContext, op: Op): Promise<string> {
  const root = join(freshDirectory(t), 'root')
  mkdirSync(root)
  prepare(root)
  if (op === 'keep' || op === 'undo') await inSets(root, (sets) => take('take', root, sets))
  return root
}

function killedAt(op: Op, root: string, step: number): { readonly said: string; readonly isKilled: boolean } {
  const { stdout, stderr, signal } = spawnSync(
    process.execPath,
    [COMPILED, '--no-warnings', join(import.meta.dirname, 'killed.ts'), op, root, String(step)],
    { encoding: 'utf8' },
  )
  assert.equal(stderr, '')
  return { said: stdout, isKilled: signal === 'SIGKILL' }
}

/** The verdict of what is done, where a set says it for each file. */
const DONE: Partial<Record<Op, string>> = { keep: 'applied', undo: 'undone' }

/** The workspace before and after each. */
const WRITTEN = { ...OLD, 'd/b.txt': 'new' }
const BETWEEN: Readonly<Record<Op, readonly [before: Record<string, string>, after: Record<string, string>]>> = {
  take: [OLD, NEW],
  write: [OLD, WRITTEN],
  keep: [NEW, { ...NEW, ...HELD }],
  undo: [NEW, OLD],
}

for (const op of ['take', 'write', 'keep', 'undo'] as const)
  test(`kill -9 at ${ROUNDS} steps of ${op}: each file is old or new, the set says which, a second try ends it`, async (t) => {
    const [before, after] = BETWEEN[op]
    const whole = await begun(t, op)
    const steps = Number(killedAt(op, whole, 0).said)
    assert.deepEqual(filesIn(whole), after)
    for (let round = 0; round < ROUNDS; round++) {
      const step = 1 + Math.floor(((round + Math.random()) / ROUNDS) * steps)
      const root = await begun(t, op)
      const about = `step ${step} of ${steps}`
      assert.ok(killedAt(op, root, step).isKilled, about)
      await inSets(root, ({ records }) => {
        const files = filesIn(root)
        const all = new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(files)])
        for (const path of all) assert.ok([before[path], after[path]].includes(files[path]), `${about}: ${path}`)
        const [set] = records.list()
        if (op === 'take' || op === 'write')
          assert.deepEqual(files, set?.state === 'applied' ? after : before, `${about}: ${set?.state}`)
        for (const { path, verdict } of set ? records.entries(set.id) : [])
          if (verdict === DONE[op]) assert.equal(files[path], after[path], `${about}: ${path} ${verdict}`)
      })
      await inSets(root, async (sets) => {
        const isOver = sets.records.list()[0]?.state === (op === 'undo' ? 'undone' : 'applied')
        if (op === 'keep' || op === 'undo' || !isOver) await take(op, root, sets)
        assert.deepEqual(filesIn(root), after, `${about}: after a second try`)
        const [set] = sets.records.list()
        assert.equal(set?.state, op === 'undo' ? 'undone' : 'applied', about)
        if (op === 'keep') assert.equal(set?.counts?.held, 0, about)
      })
    }
  })

test('what was removed to make room for another kind, before a kill, is made by a second try, and by the next start', async (t) => {
  const root = await begun(t, 'undo')
  // What somebody put there is not removed, and not said to be.
  writeFileSync(join(root, 'work/swap/mine'), 'mine')
  await inSets(root, async ({ records, host }) => {
    const [set] = records.list()
    assert.ok(set)
    const outcomes = await undo({ records, host, set }, { paths: ['swap'], force: false })
    assert.deepEqual(outcomes.find(({ path }) => path === 'swap'), { path: 'swap', result: 'failed', code: 'ENOTEMPTY' }) // oxfmt-ignore
  })
  const remove = (): void => ['swap', 'back'].forEach((name) => rmSync(join(root, 'work', name), { recursive: true }))
  remove()
  await inSets(root, (sets) => take('undo', root, sets))
  assert.deepEqual(filesIn(root), OLD)
  // The same within a take.
  await inSets(root, async ({ records }) => {
    const [set] = records.list()
    assert.ok(set)
    const entries = records.entries(set.id).map((entry) => ({ ...entry, verdict: 'applied' as const }))
    await records.write({ ...set, state: 'taking' }, { entries })
  })
  remove()
  await inSets(root, ({ records }) => assert.equal(records.list()[0]?.state, 'undone'))
  assert.deepEqual(filesIn(root), OLD)
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ROOT } from '../source-tree.ts'

type WithLock = <T>(path: string, work: () => Promise<T>) => Promise<T>
const { withLock } = (await import(join(ROOT, 'scripts/setup/lock.mjs'))) as { withLock: WithLock }

const room = mkdtempSync(join(tmpdir(), 'nexus-setup-'))
after(() => rmSync(room, { recursive: true, force: true }))

test('two setups at once run one after the other', async () => {
  const lock = join(room, 'two.lock')
  const steps: string[] = []
  const setup = (name: string): Promise<void> =>
    withLock(lock, async () => {
      steps.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      steps.push(`${name} ends`)
    })
  await Promise.all([setup('a'), setup('b')])
  assert.deepEqual(steps, ['a begins', 'a ends', 'b begins', 'b ends'])
  assert.ok(!existsSync(lock))
})

test('the lock of a process that is gone is taken over', async () => {
  const lock = join(room, 'stale.lock')
  const { pid } = spawnSync(process.execPath, ['--version'])
  writeFileSync(lock, `${pid}\n`)
  assert.equal(await withLock(lock, async () => 'done'), 'done')
})

test('a failed setup gives the lock back', async () => {
  const lock = join(room, 'failed.lock')
  await assert.rejects(
    withLock(lock, () => Promise.reject(new Error('no network'))),
    /no network/,
  )
  assert.ok(!existsSync(lock))
})

test('a command that the bootstrap does not know is answered with its usage and exit code 2', () => {
  const answer = spawnSync(process.execPath, [join(ROOT, 'scripts/bootstrap.mjs'), 'strat'], { encoding: 'utf8' })
  assert.equal(answer.status, 2)
  assert.match(answer.stderr, /bootstrap\.mjs start/)
})

test('with everything in place the bootstrap finds nothing to do and says nothing', async (context) => {
  const { isBuildFresh } = (await import(join(ROOT, 'scripts/build-stamp.mjs'))) as { isBuildFresh: () => boolean }
  if (!isBuildFresh()) return context.skip('dist/ is older than src/, so there is something to do')
  const answer = spawnSync(process.execPath, [join(ROOT, 'scripts/bootstrap.mjs'), 'install'], { encoding: 'utf8' })
  assert.equal(answer.status, 0, answer.stderr)
  const lines = answer.stderr.split('\n').filter((line) => line !== '' && !line.includes('the sandbox needs'))
  assert.deepEqual(lines, [])
})

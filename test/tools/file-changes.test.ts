/** File tools make a change set for each call, as commands do. */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type SetsAt, undo } from '../../src/machine/changes/index.ts'
import { SANDBOX } from '../../src/tools/index.ts'
import { openRig } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'
import { answerOf, openFiles } from './file-rig.ts'

const skip = whySkipped() ?? false
const ALL = { paths: [], force: false }

async function open(t: TestContext, limits: { maxBytes?: number } = {}) {
  const { sandbox, workspace, run } = await openRig(t, { changes: limits })
  const { services, ...files } = openFiles(
    t,
    {},
    { given: () => workspace, settings: { maxUndoBytes: limits.maxBytes } },
  )
  services.register(SANDBOX, sandbox)
  const inSets = <T>(work: (sets: SetsAt) => T | Promise<T>): Promise<T> | undefined =>
    sandbox.alone?.(workspace, async (sets) => {
      assert.ok(sets)
      return work(sets)
    })
  return { ...files, run, inSets, at: (path: string) => join(workspace, path), workspace }
}

test('a file that a tool changes or makes is in a set under its call, and undo restores it', { skip }, async (t) => {
  const { call, inSets, at, run } = await open(t)
  writeFileSync(at('a.sh'), 'old\n')
  chmodSync(at('a.sh'), 0o750)
  assert.equal((await call('edit_file', { path: 'a.sh', old_string: 'old', new_string: 'new' })).type, 'success')
  assert.equal((await call('write_file', { path: 'd/e/f.txt', content: 'made' })).type, 'success')
  assert.equal((await call('write_file', { path: 'a.sh', content: 'more\n', append: true })).type, 'success')
  assert.equal(readFileSync(at('a.sh'), 'utf8'), 'new\nmore\n')
  assert.equal((await run('cat a.sh d/e/f.txt')).stdout, 'new\nmore\nmade')
  await inSets(async ({ records, host }) => {
    const sets = records.list().toReversed()
    assert.deepEqual(
      sets.map(({ tool, call: id, state }) => [tool, id, state]),
      ['edit_file', 'write_file', 'write_file'].map((tool) => [tool, 'c1', 'applied']),
    )
    const [edited, written, appended] = sets
    assert.ok(edited && written && appended)
    assert.deepEqual(
      records.entries(written.id).map(({ path, type, after }) => [path, type, after?.kind]),
      [
        ['d', 'added', 'directory'],
        ['d/e', 'added', 'directory'],
        ['d/e/f.txt', 'added', 'file'],
      ],
    )
    for (const set of [appended, written, edited])
      for (const { result } of await undo({ records, host, set }, ALL)) assert.equal(result, 'done')
  })
  assert.equal(readFileSync(at('a.sh'), 'utf8'), 'old\n')
  assert.equal(statSync(at('a.sh')).mode & 0o777, 0o750)
  assert.equal(existsSync(at('d')), false)
})

test('a write that fails leaves no set, and one outside the workspace makes none and says so', { skip }, async (t) => {
  const { call, inSets, workspace, above } = await open(t)
  mkdirSync(join(workspace, 'a'))
  assert.equal((await call('write_file', { path: 'a', content: 'x' })).type, 'failed')
  const limits = { readPaths: ['/'], writePaths: ['/'] }
  const outside = await call('write_file', { path: join(above, 'out.txt'), content: 'x' }, limits)
  assert.match(answerOf(outside), /^Successfully.*\(outside the workspace, so nexus changes cannot undo it\)/)
  await inSets(({ records }) => assert.deepEqual(records.list(), []))
})

test('a file whose earlier bytes no set holds is changed only when a person agreed', { skip }, async (t) => {
  const { call, inSets, at } = await open(t, { maxBytes: 10 })
  writeFileSync(at('large.txt'), 'more than ten bytes')
  const args = { path: 'large.txt', content: 'x' }
  assert.match(answerOf(await call('write_file', args)), /would hold the change of 'large\.txt'.*maxBytes/)
  assert.equal((await call('write_file', args, undefined, { mayChangeHeld: true })).type, 'success')
  await inSets(async ({ records, host }) => {
    const [set] = records.list()
    assert.ok(set)
    const [outcome] = await undo({ records, host, set }, ALL)
    assert.equal(outcome?.result, 'no-bytes')
  })
})

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeDirectory } from '../../src/kernel/index.ts'

const disk = { mkdirSync, statSync }

function scratch(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'nexus-make-'))
  context.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('missing directories are made with the mode, and the first new one is named', (context) => {
  const root = scratch(context)
  assert.equal(makeDirectory(join(root, 'a/b/c'), { ...disk, mode: 0o700 }), join(root, 'a'))
  assert.deepEqual([statSync(join(root, 'a')).mode & 0o777, statSync(join(root, 'a/b/c')).mode & 0o777], [0o700, 0o700])
  assert.equal(makeDirectory(join(root, 'a/b/c'), disk), undefined)
  assert.equal(makeDirectory('/', disk), undefined)
})

test('a link to a directory counts as one', (context) => {
  const root = scratch(context)
  mkdirSync(join(root, 'real'))
  symlinkSync('real', join(root, 'link'))
  assert.equal(makeDirectory(join(root, 'link/new'), disk), join(root, 'link/new'))
})

test('a file in the way is an error that names it', (context) => {
  const root = scratch(context)
  writeFileSync(join(root, 'file'), '')
  assert.throws(() => makeDirectory(join(root, 'file'), disk), { code: 'EEXIST' })
  assert.throws(() => makeDirectory(join(root, 'file/below'), disk), { code: 'ENOTDIR' })
  symlinkSync('nowhere', join(root, 'broken'))
  assert.throws(() => makeDirectory(join(root, 'broken/below'), disk))
})

test(
  'a place where nothing can be made is an error, and not an endless search',
  { skip: process.platform !== 'linux' },
  () => {
    // Node's own `recursive: true` never returns here.
    assert.throws(() => makeDirectory('/proc/x', disk), { code: 'ENOENT' })
    assert.throws(() => makeDirectory('/proc/x/y/z', disk), { code: 'ENOENT' })
  },
)

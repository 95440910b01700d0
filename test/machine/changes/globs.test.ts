import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protectedBy } from '../../../src/machine/changes/index.ts'

test('what the user protects is held, by names and patterns, in any spelling, with all below it', () => {
  const isProtected = protectedBy(['migrations/**', '*.lock', '/top', 'a/**/z.txt', 'dir/', '.github/workflows'])
  for (const path of [
    ...[
      'migrations/1.sql',
      'Migrations/x/y',
      'yarn.lock',
      'sub/deep/Cargo.LOCK',
      'top',
      'top/x',
      'a/z.txt',
      'a/b/c/z.txt',
    ],
    ...['dir', 'sub/dir/x', '.github/workflows/ci.yml', 'migrations', 'a/.b/z.txt'],
  ])
    assert.equal(isProtected(path), true, path)
  for (const path of ['src/a.ts', 'sub/top', 'lock', 'a/z.txt2', 'dirs/x', 'x/.github/workflows'])
    assert.equal(isProtected(path), false, path)
  assert.equal(protectedBy(['', '/', '.'])('a'), false)
})

test('a pattern of an untrusted file costs no more than its length times that of the path', () => {
  const isProtected = protectedBy([`${'*a'.repeat(500)}b`, `${'**/a/'.repeat(500)}b`])
  const begun = performance.now()
  assert.equal(isProtected(`${'a'.repeat(2_000)}/${'a/'.repeat(1_000)}c`), false)
  assert.ok(performance.now() - begun < 2_000)
})

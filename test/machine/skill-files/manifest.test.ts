import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { treeDigest, listFiles, readManifest } from '../../../src/machine/skill-files/index.ts'
import { type ErrorCode, isNexusError } from '../../../src/kernel/index.ts'
import { asNobody, skillText, temporaryDirectory, writeFiles } from '../../skills/sources/temporary.ts'

const noFifo = spawnSync('mkfifo', ['--version']).error ? 'mkfifo is not installed' : false

function fails(code: ErrorCode, words: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(isNexusError(error), String(error))
    assert.equal(error.code, code)
    assert.match(error.message, words)
    return true
  }
}

test('every file counts, hidden ones and node_modules too; only .git and .DS_Store are no part of a skill', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, {
    'SKILL.md': skillText('a'),
    'scripts/run.sh': '#!/bin/sh\n',
    '.env': 'A=b',
    'node_modules/x/index.js': 'x',
    'nested/SKILL.md': 'n',
    '.git/HEAD': 'ref',
    'scripts/.DS_Store': 'x',
    Z: '',
  })
  mkdirSync(join(directory, 'empty'))
  chmodSync(join(directory, 'scripts/run.sh'), 0o755)
  const manifest = await readManifest(directory)
  assert.deepEqual(
    manifest.files.map(({ path, size, executable }) => [path, size, executable]),
    [
      ['.env', 3, false],
      ['SKILL.md', skillText('a').length, false],
      ['Z', 0, false],
      ['nested/SKILL.md', 1, false],
      ['node_modules/x/index.js', 1, false],
      ['scripts/run.sh', 10, true],
    ],
  )
  assert.equal(manifest.files[0]?.sha256, createHash('sha256').update('A=b').digest('hex'))
  assert.equal(manifest.treeDigest, treeDigest(manifest.files))
})

test('a copy elsewhere with other times has the same digest; any other difference changes it', async (t) => {
  const directory = temporaryDirectory(t)
  const [one, two] = [join(directory, 'one'), join(directory, 'two')]
  writeFiles(one, { 'SKILL.md': skillText('a'), 'references/r.md': 'r' })
  cpSync(one, two, { recursive: true })
  utimesSync(join(two, 'SKILL.md'), 1, 1)
  const digest = async (path: string): Promise<string> => (await readManifest(path)).treeDigest
  const original = await digest(one)
  assert.equal(await digest(two), original)
  chmodSync(join(two, 'references/r.md'), 0o755)
  const executable = await digest(two)
  copyFileSync(join(two, 'references/r.md'), join(two, 'references/s.md'))
  const added = await digest(two)
  writeFileSync(join(two, 'SKILL.md'), skillText('b'))
  assert.equal(new Set([original, executable, added, await digest(two)]).size, 4)
})

test('links and special files are no part of a skill, and are named', { skip: noFifo }, async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'SKILL.md': skillText('a'), 'refs/ok.md': 'ok' })
  const before = await readManifest(directory)
  symlinkSync('/etc/passwd', join(directory, 'refs/link'))
  symlinkSync('../SKILL.md', join(directory, 'refs/inner'))
  symlinkSync('/etc', join(directory, 'dirlink'))
  symlinkSync('/nonexist', join(directory, 'LICENSE'))
  execFileSync('mkfifo', [join(directory, 'refs/fifo')])
  const { files, treeDigest, leftOut } = await readManifest(directory)
  assert.deepEqual({ files, treeDigest, leftOut: [] }, before)
  assert.deepEqual(
    leftOut.map(({ path, kind }) => `${path}: ${kind}`),
    ['LICENSE: a link', 'dirlink: a link', 'refs/fifo: a FIFO', 'refs/inner: a link', 'refs/link: a link'],
  )
  assert.deepEqual((await listFiles(directory)).leftOut, leftOut)
})

test('names that no path should have are refused, with their place', async (t) => {
  const directory = temporaryDirectory(t)
  for (const [name, kind] of [
    ['new\nline', /control character/],
    ['back\\slash', /backslash/],
  ] as const) {
    const skill = join(directory, `skill-${name.charCodeAt(0)}`)
    writeFiles(skill, { 'SKILL.md': skillText('a'), [`refs/${name}`]: '' })
    await assert.rejects(readManifest(skill), fails('SKILL_INVALID', kind))
    assert.equal((await listFiles(skill)).problem?.path, join(skill, 'refs', name))
  }
})

test('a listing reads nothing, keeps the same limits, and gives what it met until then', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'SKILL.md': skillText('a'), 'x/one': '1', 'x/two': '12', 'y/three': '123' })
  const whole = await readManifest(directory)
  const { files, problem } = await listFiles(directory)
  assert.equal(problem, undefined)
  assert.deepEqual(
    files,
    whole.files.map(({ path, size, executable }) => ({ path, size, executable })),
  )
  const cut = await listFiles(directory, { limits: { maxFiles: 3 } })
  assert.deepEqual(
    cut.files.map(({ path }) => path),
    ['SKILL.md', 'x/one', 'x/two'],
  )
  assert.equal(cut.problem?.code, 'LIMIT_EXCEEDED')
  assert.equal(cut.problem?.path, join(directory, 'x'))
  assert.match(cut.problem?.fix ?? '', /most of it lies in "x"/)
})

test('a file that may not be read is refused by both, with its place', async (t) => {
  const directory = temporaryDirectory(t)
  chmodSync(directory, 0o755)
  writeFiles(directory, { 'SKILL.md': skillText('a'), closed: 'x' })
  chmodSync(join(directory, 'closed'), 0)
  await asNobody(async () => {
    await assert.rejects(readManifest(directory), fails('SKILL_INVALID', /closed" cannot be read: permission denied/))
    assert.equal((await listFiles(directory)).problem?.path, join(directory, 'closed'))
  })
})

test('limits on files, bytes, depth and paths are kept', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'SKILL.md': skillText('a'), 'b/c/d': '12345', 'b/e': '12345' })
  await readManifest(directory, { limits: { maxFiles: 3, maxFileBytes: 200, maxTotalBytes: 200, maxDepth: 3 } })
  for (const [limits, words] of [
    [{ maxFiles: 2 }, /more than 2 files/],
    [{ maxFileBytes: 4 }, /"SKILL.md"; the limit is 4/],
    [{ maxTotalBytes: 20 }, /more than 20 bytes in all/],
    [{ maxDepth: 2 }, /more than 2 levels/],
    [{ maxPathBytes: 3 }, /path longer than 3 bytes/],
  ] as const) {
    await assert.rejects(readManifest(directory, { limits }), fails('LIMIT_EXCEEDED', words))
  }
  truncateSync(join(directory, 'b/e'), 5 * 2 ** 30)
  await assert.rejects(readManifest(directory), fails('LIMIT_EXCEEDED', /5368709120 bytes/))
})

test('a missing directory, a file, a link and a cancelled caller each have their code', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'real/SKILL.md': skillText('a') })
  symlinkSync('real', join(directory, 'link'))
  await assert.rejects(readManifest(join(directory, 'gone')), fails('FILE_NOT_FOUND', /does not exist/))
  await assert.rejects(readManifest(join(directory, 'real/SKILL.md')), fails('FILE_NOT_FOUND', /not a directory/))
  await assert.rejects(readManifest(join(directory, 'link')), fails('PATH_OUTSIDE', /link/))
  await assert.rejects(
    readManifest(join(directory, 'real'), { signal: AbortSignal.abort() }),
    fails('CANCELLED', /cancel/),
  )
})

test('both ways of holding directories give one manifest', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'SKILL.md': skillText('a'), 'x/y/z': 'z' })
  assert.deepEqual(await readManifest(directory, { holding: 'paths' }), await readManifest(directory))
})

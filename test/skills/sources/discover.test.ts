import assert from 'node:assert/strict'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isNexusError, NexusError, skillAddress } from '../../../src/kernel/index.ts'
import { createFolderSource, discover, fileDigest, type SkillSource } from '../../../src/skills/sources/index.ts'
import { skillText, temporaryDirectory, writeFiles } from './temporary.ts'

function failing(error: unknown): SkillSource {
  return { id: 'bad', tier: 'source', rank: 0, trusted: true, discover: () => Promise.reject(error as Error) }
}

test('sources are asked in order and joined, and one that fails is a finding', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'one/a/SKILL.md': skillText('a'), 'two/b/SKILL.md': skillText('b'), 'two/c/SKILL.md': 'x' })
  const folder = (id: string): SkillSource =>
    createFolderSource({ id, tier: 'extra', rank: 0, trusted: true, path: join(directory, id) })
  const result = await discover([folder('two'), failing(new Error('disk on fire')), folder('one')])
  assert.deepEqual(result.skills.map(skillAddress), ['two/b', 'one/a'])
  assert.deepEqual(
    result.invalid.map(({ name }) => name),
    ['c'],
  )
  assert.deepEqual(
    result.diagnostics.map(({ code, message }) => [code, message]),
    [['source-failed', 'The source "bad" failed: disk on fire']],
  )
})

test('copies with equal SKILL.md files get the digest of their whole trees, others none', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, {
    'one/a/SKILL.md': skillText('a'),
    'one/a/scripts/run.sh': 'echo one',
    'one/b/SKILL.md': skillText('b'),
    'two/a/SKILL.md': skillText('a'),
    'two/a/scripts/run.sh': 'echo two',
    'two/x/SKILL.md': skillText('a', 'Other.'),
    'three/a/SKILL.md': skillText('a'),
    'three/a/scripts/run.sh': 'echo one',
  })
  const folder = (id: string): SkillSource =>
    createFolderSource({ id, tier: 'extra', rank: 0, trusted: true, path: join(directory, id) })
  const { treeDigests } = await discover(['one', 'two', 'three'].map(folder))
  const digestOf = (path: string): string | undefined => treeDigests?.get(join(directory, path, 'SKILL.md'))
  assert.deepEqual([...(treeDigests?.keys() ?? [])].toSorted(), [
    join(directory, 'one/a/SKILL.md'),
    join(directory, 'three/a/SKILL.md'),
    join(directory, 'two/a/SKILL.md'),
  ])
  assert.match(digestOf('one/a') ?? '', /^sha256:[0-9a-f]{64}$/)
  assert.equal(digestOf('one/a'), digestOf('three/a'))
  assert.notEqual(digestOf('one/a'), digestOf('two/a'))
})

test('a directory that two sources reach is not read for a digest', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'one/a/SKILL.md': skillText('a') })
  symlinkSync('one', join(directory, 'two'))
  const folder = (id: string): SkillSource =>
    createFolderSource({ id, tier: 'extra', rank: 0, trusted: true, path: join(directory, id) })
  const { treeDigests, diagnostics } = await discover([folder('one'), folder('two')])
  assert.deepEqual([treeDigests?.size, diagnostics], [0, []])
})

test('a copy whose tree cannot be read has no digest, so it equals no other', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'a/SKILL.md': skillText('same'), 'b/SKILL.md': skillText('same'), 'b/x\u0001': '' })
  const folder = createFolderSource({ id: 'x', tier: 'extra', rank: 0, trusted: true, path: directory })
  const { treeDigests, diagnostics } = await discover([folder])
  assert.deepEqual([...(treeDigests?.keys() ?? [])], [join(directory, 'a/SKILL.md')])
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['duplicate-name'],
  )
})

test('a skill that a different one of the same source hides is a warning with both files; an equal one is not', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, {
    'one/a-b/SKILL.md': skillText('same', 'First.'),
    'one/a/z/SKILL.md': skillText('same', 'Second.'),
    'one/c/SKILL.md': skillText('equal'),
    'one/d/SKILL.md': skillText('equal'),
    'one/e/SKILL.md': skillText('scripts'),
    'one/e/run.sh': 'one',
    'one/f/SKILL.md': skillText('scripts'),
    'one/f/run.sh': 'two',
    'two/a/SKILL.md': skillText('same', 'Third.'),
  })
  const folder = (id: string): SkillSource =>
    createFolderSource({ id, tier: 'extra', rank: 0, trusted: true, path: join(directory, id) })
  const { diagnostics } = await discover([folder('one'), folder('two')])
  const [warning] = diagnostics
  assert.deepEqual(
    diagnostics.map(({ subject }) => subject),
    ['same', 'scripts'],
  )
  assert.deepEqual([warning?.code, warning?.severity, warning?.subject], ['duplicate-name', 'warning', 'same'])
  assert.equal(warning?.path, join(directory, 'one/a/z/SKILL.md'))
  assert.ok(warning.message.includes('Nexus uses ../../a-b/SKILL.md, not this copy'), warning.message)
})

test('a digest follows no link that took the place of the file or its directory', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'root/a/SKILL.md': skillText('a'), 'secret/SKILL.md': 'secret' })
  const root = join(directory, 'root')
  const { skills } = await createFolderSource({ id: 'x', tier: 'extra', rank: 0, trusted: true, path: root }).discover()
  const [skill] = skills
  assert.ok(skill)
  assert.equal((await fileDigest(skill))?.length, 64)
  rmSync(join(root, 'a/SKILL.md'))
  symlinkSync('../../secret/SKILL.md', join(root, 'a/SKILL.md'))
  assert.equal(await fileDigest(skill), undefined)
  renameSync(join(root, 'a'), join(root, 'b'))
  symlinkSync('../secret', join(root, 'a'))
  assert.equal(await fileDigest(skill), undefined)
})

test('two sources of one id are refused', async () => {
  await assert.rejects(
    discover([failing(1), failing(2)]),
    (error) => isNexusError(error) && error.code === 'INVALID_ARGUMENT',
  )
})

test('cancelling ends the discovery, before a source and within one', async () => {
  const stop = new AbortController()
  const cancelled = (error: unknown): boolean => isNexusError(error) && error.code === 'CANCELLED'
  await assert.rejects(discover([failing(new NexusError('CANCELLED', 'x'))]), cancelled)
  stop.abort()
  await assert.rejects(discover([failing(new Error('x'))], { signal: stop.signal }), cancelled)
})

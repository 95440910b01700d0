import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isNexusError, NexusError, skillAddress } from '../../src/kernel/index.ts'
import { createFolderSource, discover, fileDigest, type SkillSource } from '../../src/sources/index.ts'
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
    result.rejected.map(({ name }) => name),
    ['c'],
  )
  assert.deepEqual(
    result.diagnostics.map(({ code, message }) => [code, message]),
    [['source-failed', 'the source "bad" failed: disk on fire']],
  )
})

test('skills that share a name have the digests of their files, others have none', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, {
    'one/a/SKILL.md': skillText('a'),
    'one/b/SKILL.md': skillText('b'),
    'two/a/SKILL.md': skillText('a'),
    'two/x/SKILL.md': skillText('a', 'Other.'),
  })
  const folder = (id: string): SkillSource =>
    createFolderSource({ id, tier: 'extra', rank: 0, trusted: true, path: join(directory, id) })
  const { digests } = await discover([folder('one'), folder('two')])
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
  assert.deepEqual(
    digests,
    new Map([
      [join(directory, 'one/a/SKILL.md'), sha256(skillText('a'))],
      [join(directory, 'two/a/SKILL.md'), sha256(skillText('a'))],
      [join(directory, 'two/x/SKILL.md'), sha256(skillText('a', 'Other.'))],
    ]),
  )
})

test('a skill that did not change since the previous discovery is not read again for its digest', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'a/SKILL.md': skillText('same'), 'b/SKILL.md': skillText('same', 'Other.') })
  const folder = createFolderSource({ id: 'x', tier: 'extra', rank: 0, trusted: true, path: directory })
  const found = await folder.discover()
  const fixed: SkillSource = { id: 'x', tier: 'extra', rank: 0, trusted: true, discover: () => Promise.resolve(found) }
  const previous = await discover([fixed])
  writeFiles(directory, { 'a/SKILL.md': skillText('same', 'Edited.') })
  assert.deepEqual((await discover([fixed], { previous })).digests, previous.digests)
  assert.notDeepEqual((await discover([fixed])).digests, previous.digests)
  // The folder gives another object for the edited skill, so its earlier digest does not hold.
  const edited = await discover([folder], { previous })
  assert.notEqual(
    edited.digests?.get(join(directory, 'a/SKILL.md')),
    previous.digests?.get(join(directory, 'a/SKILL.md')),
  )
  assert.equal(edited.digests?.get(join(directory, 'b/SKILL.md')), previous.digests?.get(join(directory, 'b/SKILL.md')))
})

test('a skill that a different one of the same source hides is a warning with both files; an equal one is not', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, {
    'one/a-b/SKILL.md': skillText('same', 'First.'),
    'one/a/z/SKILL.md': skillText('same', 'Second.'),
    'one/c/SKILL.md': skillText('equal'),
    'one/d/SKILL.md': skillText('equal'),
    'two/a/SKILL.md': skillText('same', 'Third.'),
  })
  const folder = (id: string): SkillSource =>
    createFolderSource({ id, tier: 'extra', rank: 0, trusted: true, path: join(directory, id) })
  const { diagnostics } = await discover([folder('one'), folder('two')])
  const [warning] = diagnostics
  assert.equal(diagnostics.length, 1)
  assert.deepEqual([warning?.code, warning?.severity, warning?.subject], ['duplicate-name', 'warning', 'same'])
  assert.equal(warning?.path, join(directory, 'one/a/z/SKILL.md'))
  assert.ok(warning.message.includes(`${join(directory, 'one/a-b/SKILL.md')} is used`), warning.message)
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

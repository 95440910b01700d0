import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isNexusError, NexusError, skillAddress } from '../../src/kernel/index.ts'
import {
  createFolderSource,
  createStandardSources,
  discover,
  fileDigest,
  type SkillSource,
} from '../../src/sources/index.ts'
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

test('the standard sources stand in the order of the tiers, each with an id of its own', () => {
  const sources = createStandardSources({
    workspace: '/w',
    workspaceTrusted: false,
    home: '/h',
    nexusHome: '/h/.nexus',
    bundledDir: '/n/skills',
    localSources: ['/s/team', { path: '/s/other', id: 'named', nested: true }],
    extraDirs: ['/e/skills', '/f/skills/', '/e/odd name!', '/'],
  })
  assert.deepEqual(
    sources.map(({ id, tier, rank, trusted }) => [id, tier, rank, trusted]),
    [
      ['workspace', 'workspace', 0, false],
      ['workspace:.agents', 'workspace', 1, false],
      ['workspace:.claude', 'workspace', 2, false],
      ['local', 'local', 0, true],
      ['local:.agents', 'local', 1, true],
      ['bundled', 'bundled', 0, true],
      ['source:team', 'source', 0, true],
      ['named', 'source', 1, true],
      ['extra:skills', 'extra', 0, true],
      ['extra:skills~2', 'extra', 1, true],
      ['extra:odd-name-', 'extra', 2, true],
      ['extra:root', 'extra', 3, true],
    ],
  )
})

test('without workspace, home and bundle only the local source is left', () => {
  const sources = createStandardSources({ workspaceTrusted: false, nexusHome: '/h/.nexus' })
  assert.deepEqual(
    sources.map(({ id }) => id),
    ['local'],
  )
})

test('the standard sources find skills where each convention puts them', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, {
    'w/skills/a/SKILL.md': skillText('a'),
    'w/.agents/skills/b/SKILL.md': skillText('b'),
    'w/.claude/skills/c/SKILL.md': skillText('c'),
    'h/.nexus/skills/d/SKILL.md': skillText('d'),
    'h/.agents/skills/e/SKILL.md': skillText('e'),
    'n/f/SKILL.md': skillText('f'),
    'more/g/SKILL.md': skillText('g'),
  })
  const { skills, diagnostics } = await discover(
    createStandardSources({
      workspace: join(directory, 'w'),
      workspaceTrusted: true,
      home: join(directory, 'h'),
      nexusHome: join(directory, 'h/.nexus'),
      bundledDir: join(directory, 'n'),
      extraDirs: [join(directory, 'more'), join(directory, 'gone')],
    }),
  )
  assert.deepEqual(skills.map(skillAddress), [
    'workspace/a',
    'workspace:.agents/b',
    'workspace:.claude/c',
    'local/d',
    'local:.agents/e',
    'bundled/f',
    'extra:more/g',
  ])
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['root-required'],
  )
})

test('a workspace cannot make its skills directory a link into the home directory', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'h/private/p/SKILL.md': skillText('p'), 'w/README.md': 'x' })
  symlinkSync('../h/private', join(directory, 'w/skills'))
  const sources = createStandardSources({
    workspace: join(directory, 'w'),
    workspaceTrusted: true,
    nexusHome: join(directory, 'h/.nexus'),
  })
  const { skills, diagnostics } = await discover(sources)
  assert.deepEqual(skills, [])
  assert.ok(diagnostics.some(({ code }) => code === 'root-outside'))
})

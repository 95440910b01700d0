import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { skillAddress } from '../../../src/kernel/index.ts'
import { createStandardSources, discover } from '../../../src/skills/sources/index.ts'
import { skillText, temporaryDirectory, writeFiles } from './temporary.ts'

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

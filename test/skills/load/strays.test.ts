import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'

import { findStrays } from '../../../src/skills/load/index.ts'
import { errorOf } from './rig.ts'

/** A workspace with these files; a SKILL.md gets a frontmatter with the name of its directory, or the one given. */
function workspace(t: TestContext, files: Readonly<Record<string, string | undefined>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-strays-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, name] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    const label = name ?? dirname(path).split('/').at(-1)
    writeFileSync(join(root, path), `---\nname: ${label}\ndescription: d\n---\n`)
  }
  return root
}

async function strays(root: string, name: string): Promise<readonly string[]> {
  const found = await findStrays(name, { roots: [join(root, 'skills')], workspace: root })
  return found.map(({ file, why }) => `${why} ${relative(root, file)}`)
}

test('a skill inside another one, in a hidden directory, too deep, or beside the roots is found with the reason', async (t) => {
  const root = workspace(t, {
    'skills/outer/SKILL.md': undefined,
    'skills/outer/wanted/SKILL.md': undefined,
    'skills/.hidden/wanted/SKILL.md': undefined,
    'skills/1/2/3/4/5/6/7/8/wanted/SKILL.md': undefined,
    'tools/wanted/SKILL.md': undefined,
    'tools/other/SKILL.md': 'wanted',
    'tools/node_modules/x/wanted/SKILL.md': undefined,
  })
  assert.deepEqual(
    new Set(await strays(root, 'wanted')),
    new Set([
      'below-skill skills/outer/wanted/SKILL.md',
      'hidden skills/.hidden/wanted/SKILL.md',
      'too-deep skills/1/2/3/4/5/6/7/8/wanted/SKILL.md',
      'beside-root tools/wanted/SKILL.md',
      'beside-root tools/other/SKILL.md',
      'hidden tools/node_modules/x/wanted/SKILL.md',
    ]),
  )
})

test('a directory of that name without SKILL.md is told', async (t) => {
  const root = workspace(t, { 'skills/wanted/README.md': undefined })
  assert.deepEqual(await strays(root, 'wanted'), ['no-skill-file skills/wanted'])
})

test('a skill that another program keeps is found when its directory is named, and the outer skill is told', async (t) => {
  const root = workspace(t, {
    'theirs/wanted/SKILL.md': undefined,
    'skills/outer/SKILL.md': undefined,
    'skills/outer/inner/SKILL.md': undefined,
  })
  const roots = [join(root, 'skills')]
  const [theirs] = await findStrays('wanted', { roots, elsewhere: [join(root, 'theirs'), join(root, 'absent')] })
  assert.deepEqual([theirs?.file, theirs?.why], [join(root, 'theirs/wanted/SKILL.md'), 'elsewhere'])
  const [inner] = await findStrays('inner', { roots })
  assert.equal(inner?.inside, join(root, 'skills/outer'))
})

test('a skill in its place is no stray, and neither is one that is known', async (t) => {
  const root = workspace(t, { 'skills/wanted/SKILL.md': undefined, 'else/wanted/SKILL.md': undefined })
  const known = new Set([join(root, 'else/wanted/SKILL.md')])
  assert.deepEqual(await findStrays('wanted', { roots: [join(root, 'skills')], workspace: root, known }), [])
})

test('links are not followed, missing roots are passed over, and an abort ends the search', async (t) => {
  const root = workspace(t, { 'skills/a/SKILL.md': undefined })
  symlinkSync(root, join(root, 'skills/loop'))
  assert.deepEqual(await strays(root, 'loop'), [])
  assert.deepEqual(await findStrays('x', { roots: ['/nowhere/at/all'] }), [])
  const error = await errorOf(findStrays('x', { roots: [root], signal: AbortSignal.abort() }))
  assert.equal(error.code, 'CANCELLED')
})

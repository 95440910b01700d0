import assert from 'node:assert/strict'
import { mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isNexusError } from '../../../src/kernel/index.ts'
import { createFolderSource, type FolderSourceOptions } from '../../../src/skills/sources/index.ts'
import { skillText, summary, temporaryDirectory, writeFiles } from './temporary.ts'

const MIXED = realpathSync(fileURLToPath(new URL('../../fixtures/sources/mixed', import.meta.url)))

function source(path: string, more: Partial<FolderSourceOptions> = {}) {
  return createFolderSource({ id: 'test', tier: 'extra', rank: 0, trusted: false, path, ...more })
}

test('every directory is a skill, invalid with its reason, or no skill at all', async () => {
  assert.deepEqual(summary(await source(MIXED).discover()), {
    skills: ['good', 'inner', 'nested-parent', 'no-description', 'another', 'with space'],
    invalid: ['broken: yaml-invalid', 'small-letters: skill-file-name'],
    found: [],
  })
})

test('a skill knows where it lies, what it was, and what is odd about it', async () => {
  const { skills } = await source(MIXED, { id: 'here', tier: 'workspace', rank: 2, trusted: true }).discover()
  const good = skills.find(({ name }) => name === 'good')
  assert.ok(good)
  const file = join(MIXED, 'good', 'SKILL.md')
  const stats = statSync(file)
  assert.deepEqual(good.origin, { source: 'here', tier: 'workspace', rank: 2, trusted: true })
  assert.deepEqual([good.directory, good.file], [join(MIXED, 'good'), file])
  assert.deepEqual(good.stamp, { mtimeMs: stats.mtimeMs, size: stats.size, inode: stats.ino })
  assert.ok(!('body' in good))
  const codes = Object.fromEntries(skills.map(({ name, diagnostics }) => [name, diagnostics.map(({ code }) => code)]))
  assert.deepEqual(codes['another'], ['name-differs'])
  assert.deepEqual(codes['with space'], ['name-missing'])
  assert.deepEqual(codes['no-description'], ['description-missing'])
})

test('the search stops at a skill, unless it is told to go on', async () => {
  const { skills } = await source(MIXED, { nested: true }).discover()
  const names = skills.map(({ name }) => name)
  assert.ok(names.includes('child') && names.includes('deeper') && names.includes('nested-parent'))
})

test('hidden directories and node_modules are not searched, but a hidden root is', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, {
    '.agents/skills/a/SKILL.md': skillText('a'),
    '.agents/skills/.git/x/SKILL.md': skillText('x'),
    '.agents/skills/node_modules/y/SKILL.md': skillText('y'),
    '.agents/skills/.cache/SKILL.md': skillText('z'),
  })
  assert.deepEqual(summary(await source(join(directory, '.agents/skills')).discover())['skills'], ['a'])
  assert.deepEqual(summary(await source(directory).discover())['skills'], [])
})

test('skills come in byte order of their directories, whatever the locale', async (t) => {
  const directory = temporaryDirectory(t)
  for (const name of ['b', 'a', 'é', 'Z', 'a-b', '\uffee', '\u{1f642}']) {
    writeFiles(directory, { [`${name}/SKILL.md`]: skillText(name) })
  }
  assert.deepEqual(summary(await source(directory).discover())['skills'], [
    'Z',
    'a',
    'a-b',
    'b',
    'é',
    '\uffee',
    '\u{1f642}',
  ])
})

test('a root that is itself a skill is one, and says which skills it hides', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'SKILL.md': skillText('top') })
  assert.deepEqual(summary(await source(directory).discover()), { skills: ['top'], invalid: [], found: [] })
  writeFiles(directory, { 'a/SKILL.md': skillText('a') })
  assert.deepEqual(summary(await source(directory).discover()), {
    skills: ['top'],
    invalid: [],
    found: ['root-is-skill'],
  })
})

test('a missing root is information, an error when it was asked for, and a file is an error', async () => {
  const missing = join(MIXED, 'nowhere')
  const seen = async (path: string, required = false): Promise<unknown> => {
    const [finding, ...others] = (await source(path, { required }).discover()).diagnostics
    assert.equal(others.length, 0)
    return [finding?.code, finding?.severity]
  }
  assert.deepEqual(await seen(missing), ['root-missing', 'info'])
  assert.deepEqual(await seen(missing, true), ['root-required', 'error'])
  assert.deepEqual(await seen(join(MIXED, 'good', 'SKILL.md')), ['root-not-directory', 'error'])
})

test('limits end the search with a finding, and what was found until then counts', async (t) => {
  const directory = temporaryDirectory(t)
  for (const name of ['a', 'b', 'c']) writeFiles(directory, { [`${name}/SKILL.md`]: skillText(name) })
  writeFiles(directory, { 'd/e/f/SKILL.md': skillText('f') })
  const limited = async (limits: FolderSourceOptions['limits']): Promise<unknown> =>
    summary(await source(directory, { ...(limits && { limits }) }).discover())
  assert.deepEqual(await limited({ maxSkills: 2 }), { skills: ['a', 'b'], invalid: [], found: ['skill-limit'] })
  assert.deepEqual(await limited({ maxDirectories: 2 }), { skills: ['a'], invalid: [], found: ['directory-limit'] })
  assert.deepEqual(await limited({ maxDepth: 2 }), { skills: ['a', 'b', 'c'], invalid: [], found: ['depth-limit'] })
  assert.deepEqual(await limited({ maxDepth: 3 }), { skills: ['a', 'b', 'c', 'f'], invalid: [], found: [] })
  const { invalid } = await source(directory, { limits: { maxFileBytes: 20 } }).discover()
  assert.equal(invalid[0]?.diagnostics[0]?.code, 'file-too-large')
  assert.match(invalid[0]?.diagnostics[0]?.message ?? '', /has \d+ bytes, the limit is 20/)
})

test('two skills of one name in a source are both found; discover warns of them', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'one/SKILL.md': skillText('same', 'First.'), 'two/SKILL.md': skillText('same', 'Second.') })
  const { skills, diagnostics } = await source(directory).discover()
  assert.deepEqual([skills.length, diagnostics], [2, []])
})

test('a root that disappears in the middle of the search is a finding', async (t) => {
  const directory = temporaryDirectory(t)
  const root = join(directory, 'root')
  for (let index = 0; index < 3_000; index++) mkdirSync(join(root, `d${index}`, 'e'), { recursive: true })
  writeFiles(root, { 'a/SKILL.md': skillText('a') })
  const pending = source(root).discover()
  rmSync(root, { recursive: true, force: true })
  const { skills, diagnostics } = await pending
  assert.equal(diagnostics.at(-1)?.code, 'root-vanished')
  assert.ok(skills.length <= 1)
})

test('a cancelled search rejects with CANCELLED', async () => {
  const stop = new AbortController()
  stop.abort()
  await assert.rejects(
    source(MIXED).discover(stop.signal),
    (error) => isNexusError(error) && error.code === 'CANCELLED',
  )
})

test('an id that cannot be part of an address is refused', () => {
  for (const id of ['', 'a/b', 'a b', 'a\\b', 'a\nb', 'x'.repeat(65)]) {
    assert.throws(
      () => source(MIXED, { id }),
      (error) => isNexusError(error) && error.code === 'INVALID_ARGUMENT',
    )
  }
})

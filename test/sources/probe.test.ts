import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { isNexusError, skillAddress } from '../../src/kernel/index.ts'
import {
  createFolderSource,
  discover,
  findName,
  type FolderSourceOptions,
  type SkillSource,
} from '../../src/sources/index.ts'
import { skillText, temporaryDirectory, writeFiles } from './temporary.ts'

/** More than are searched for one name. */
const MANY = 300

function folder(path: string, more: Partial<FolderSourceOptions> = {}): SkillSource {
  return createFolderSource({ id: 'one', tier: 'extra', rank: 0, trusted: true, path, ...more })
}

function many(t: TestContext, more: Readonly<Record<string, string>> = {}): string {
  const directory = temporaryDirectory(t)
  const numbers = Array.from({ length: MANY }, (_, index) => `s-${index}`)
  writeFiles(directory, Object.fromEntries(numbers.map((name) => [`${name}/SKILL.md`, skillText(name)])))
  writeFiles(directory, more)
  return directory
}

async function found(sources: readonly SkillSource[], name: string): Promise<Record<string, unknown> | undefined> {
  const result = await findName(sources, name)
  if (!result) return undefined
  return { files: result.skills.map(({ file }) => file), codes: result.diagnostics.map(({ code }) => code) }
}

test('a small folder is searched as a whole, so a misnamed copy is found as well', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, {
    'pdf/SKILL.md': skillText('pdf'),
    'other/SKILL.md': skillText('other'),
    'group/deep/zzz/SKILL.md': skillText('"pdf"'),
    'broken/SKILL.md': 'nothing',
    'wide/SKILL.md': skillText('ｐｄｆ'),
  })
  assert.deepEqual(await found([folder(directory)], 'pdf'), {
    files: ['group/deep/zzz', 'pdf', 'wide'].map((path) => join(directory, path, 'SKILL.md')),
    codes: [],
  })
})

test('in a large folder only the directory of that name is looked into, and the answer says so', async (t) => {
  const directory = many(t, { 'zzz/SKILL.md': skillText('s-7') })
  const { skills, diagnostics } = (await findName([folder(directory)], 's-7')) ?? {}
  assert.deepEqual(skills?.map(skillAddress), ['one/s-7'])
  assert.deepEqual(diagnostics, [
    {
      code: 'same-name-not-searched',
      severity: 'info',
      path: directory,
      message: 'other directories were not searched for the name "s-7"',
      fix: 'nexus skills why s-7 looks everywhere',
    },
  ])
})

test('the number of directories counts for all sources together, and below directories as well', async (t) => {
  const directory = temporaryDirectory(t)
  const numbers = Array.from({ length: MANY / 2 }, (_, index) => index)
  for (const group of ['a', 'b'])
    writeFiles(
      directory,
      Object.fromEntries(numbers.map((n) => [`${group}/${n}/SKILL.md`, skillText(`${group}-${n}`)])),
    )
  writeFiles(directory, { 'pdf/SKILL.md': skillText('pdf') })
  const codes = ['same-name-not-searched']
  assert.deepEqual(await found([folder(directory)], 'pdf'), { files: [join(directory, 'pdf/SKILL.md')], codes })
  const two = [folder(join(directory, 'a')), folder(join(directory, 'b'), { id: 'two', rank: 1 })]
  writeFiles(directory, { 'a/pdf/SKILL.md': skillText('pdf'), 'b/pdf/SKILL.md': skillText('pdf') })
  const files = ['a', 'b'].map((group) => join(directory, group, 'pdf/SKILL.md'))
  assert.deepEqual(await found(two, 'pdf'), { files, codes })
})

test('a copy that may be hidden deeper in a large folder above is no case for a quick answer', async (t) => {
  const directory = many(t)
  const below = temporaryDirectory(t)
  writeFiles(below, { 'pdf/SKILL.md': skillText('pdf') })
  const lower = folder(below, { id: 'two', rank: 1 })
  assert.equal(await findName([folder(directory), lower], 'pdf'), undefined)
  const asUntrusted = folder(below, { id: 'two', trusted: false })
  assert.equal(await findName([asUntrusted, folder(directory)], 'pdf'), undefined)
  const codes = ['same-name-not-searched']
  assert.deepEqual(await found([lower, folder(directory)], 'pdf'), { files: [join(below, 'pdf/SKILL.md')], codes })
})

test('what a large folder has at that place counts as in a search', async (t) => {
  const directory = many(t, {
    'real/SKILL.md': skillText('real'),
    'misnamed/SKILL.md': skillText('other'),
    'broken/SKILL.md': 'nothing',
    'node_modules/SKILL.md': skillText('node_modules'),
    '.hidden/SKILL.md': skillText('.hidden'),
    'group/inner/SKILL.md': skillText('inner'),
  })
  symlinkSync('real', join(directory, 'link'))
  symlinkSync('/', join(directory, 'out'))
  mkdirSync(join(directory, 'fifo/SKILL.md'), { recursive: true })
  const names = [
    'misnamed',
    'other',
    'broken',
    'node_modules',
    '.hidden',
    'group',
    'inner',
    'link',
    'out',
    'fifo',
    'none',
    '..',
  ]
  for (const name of names) assert.equal(await findName([folder(directory)], name), undefined, name)
  assert.ok(await findName([folder(directory)], 'real'))
  writeFiles(directory, { 'SKILL.md': skillText('root') })
  assert.equal(await findName([folder(directory)], 'real'), undefined)
})

test('names that must be folded, addresses and paths are left to a whole look', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'pdf/SKILL.md': skillText('pdf'), 'ｐｄｆ/SKILL.md': skillText('ｐｄｆ') })
  for (const name of ['ｐｄｆ', 'one/pdf', '../pdf', 'a b', '', 'pdf\0'])
    assert.equal(await findName([folder(directory)], name), undefined, name)
})

test('a skillKey is judged by all names, so it is left to a whole look', async (t) => {
  const directory = temporaryDirectory(t)
  const text = '---\nname: pdf\ndescription: Does it.\nmetadata: {"nexus":{"skillKey":"other"}}\n---\n'
  writeFiles(directory, { 'pdf/SKILL.md': text })
  assert.equal(await findName([folder(directory)], 'pdf'), undefined)
})

test('a source that cannot look for one name, or fails, is left to a whole look', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'pdf/SKILL.md': skillText('pdf') })
  const { probe: _, ...plain } = folder(directory)
  assert.equal(await findName([plain], 'pdf'), undefined)
  const codes = ['root-missing']
  const missing = folder(join(directory, 'none'), { id: 'two', rank: 1 })
  assert.deepEqual(await found([folder(directory), missing], 'pdf'), {
    files: [join(directory, 'pdf/SKILL.md')],
    codes,
  })
  const stop = new AbortController()
  stop.abort()
  const isCancelled = (error: unknown): boolean => isNexusError(error) && error.code === 'CANCELLED'
  await assert.rejects(findName([folder(directory)], 'pdf', stop.signal), isCancelled)
  await assert.rejects(findName([folder(directory), folder(directory)], 'pdf'), { code: 'INVALID_ARGUMENT' })
})

test('what is found has everything that a whole look finds', async (t) => {
  const directory = temporaryDirectory(t)
  const metadata = 'metadata:\n  nexus:\n    emoji: "📄"\n    requires:\n      bins: [no-such-bin]\n'
  const text = `---\nname: pdf\ndescription: >-\n  Reads « PDF »\n  files.\nlicense: MIT\nallowed-tools: Read, Bash(git:*)\n${metadata}---\nBody.\n`
  writeFiles(directory, {
    'pdf/SKILL.md': text,
    'odd/SKILL.md': '---\nname: Odd_Name\ndescription: "x: y"\nos: linux\n---\n',
  })
  const all = await discover([folder(directory)])
  for (const name of ['pdf', 'Odd_Name']) {
    const one = await findName([folder(directory)], name)
    const usual = all.skills.filter((skill) => skill.name === name)
    assert.deepEqual(JSON.parse(JSON.stringify(one?.skills)), JSON.parse(JSON.stringify(usual)))
  }
})

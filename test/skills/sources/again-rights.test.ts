import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFolderSource } from '../../../src/skills/sources/index.ts'
import { minutesApart, NOT_KEPT, searchers, shared, told } from './again.ts'
import { asNobody, skillText, summary, temporaryDirectory, writeFiles } from './temporary.ts'

test('a file and a directory that were closed are met as closed, and again when they are opened', async (t) => {
  const root = temporaryDirectory(t)
  writeFiles(root, { 'a/SKILL.md': skillText('a'), 'b/SKILL.md': skillText('b'), 'c/SKILL.md': skillText('c') })
  chmodSync(root, 0o755)
  const { again } = searchers(t, root)
  const look = async () => summary(await asNobody(again))
  assert.deepEqual(await look(), { skills: ['a', 'b', 'c'], invalid: [], found: [] })
  chmodSync(join(root, 'a/SKILL.md'), 0)
  chmodSync(join(root, 'b'), 0)
  const closed = { skills: ['c'], invalid: ['a: skill-file-unreadable'], found: ['directory-unreadable'] }
  assert.deepEqual(await look(), closed)
  assert.deepEqual(await look(), closed)
  chmodSync(join(root, 'a/SKILL.md'), 0o644)
  chmodSync(join(root, 'b'), 0o755)
  assert.deepEqual(await look(), { skills: ['a', 'b', 'c'], invalid: [], found: [] })
})

test(
  'whoever gave up rights is not told what it could read before',
  { skip: process.geteuid?.() === 0 ? false : 'only root can give up rights' },
  async (t) => {
    const root = temporaryDirectory(t)
    writeFiles(root, { 'open/SKILL.md': skillText('open'), 'secret/SKILL.md': skillText('secret') })
    chmodSync(root, 0o755)
    chmodSync(join(root, 'secret/SKILL.md'), 0o600)
    const { again } = searchers(t, root)
    assert.deepEqual(summary(await again())['skills'], ['open', 'secret'])
    assert.deepEqual(summary(await asNobody(again)), {
      ...{ skills: ['open'], invalid: ['secret: skill-file-unreadable'], found: [] },
    })
    assert.deepEqual(summary(await again())['skills'], ['open', 'secret'])
  },
)

test('a root that is a link to another directory shows the skills of that one', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'one/a/SKILL.md': skillText('a'), 'two/a/SKILL.md': skillText('a', 'The other.') })
  const link = join(directory, 'skills')
  const { again } = searchers(t, link)
  const lead = (to: string): void => {
    rmSync(link, { force: true })
    symlinkSync(to, link)
  }
  for (const [to, description] of [
    ['one', 'Does a thing. Use when asked.'],
    ['two', 'The other.'],
    ['one', 'Does a thing. Use when asked.'],
  ] as const) {
    lead(to)
    const { skills } = await again()
    assert.deepEqual(
      skills.map((skill) => [skill.description, skill.directory]),
      [[description, join(directory, to, 'a')]],
    )
  }
})

test('a root that went away is forgotten, and what comes back is read', async (t) => {
  const directory = temporaryDirectory(t)
  const root = join(directory, 'skills')
  writeFiles(root, { 'a/SKILL.md': skillText('a') })
  const { again } = searchers(t, root)
  const first = await again()
  renameSync(root, `${root}-away`)
  assert.deepEqual(summary(await again()), { skills: [], invalid: [], found: ['root-missing'] })
  renameSync(`${root}-away`, root)
  const back = await again()
  assert.deepEqual(told(back), told(first))
  assert.equal(shared(first, back), 0)
})

test('what a link leads to is met as it is now, whether SKILL.md or its directory is one', async (t) => {
  const root = temporaryDirectory(t)
  writeFiles(root, {
    'file/text-1.md': skillText('file'),
    'file/text-2.md': skillText('file', 'The second.'),
    'real-1/SKILL.md': skillText('real-1'),
    'real-2/SKILL.md': skillText('real-2'),
  })
  const { again, fresh } = searchers(t, root)
  const lead = (number: number): void => {
    for (const [link, to] of [
      ['file/SKILL.md', `text-${number}.md`],
      ['a-link', `real-${number}`],
    ] as const) {
      rmSync(join(root, link), { force: true })
      symlinkSync(to, join(root, link))
    }
  }
  for (const number of [1, 1, 2, 1]) {
    lead(number)
    const now = await again()
    assert.deepEqual(told(now), told(await fresh()))
    assert.equal(now.skills.find(({ name }) => name === 'file')?.description.includes('second'), number === 2)
  }
})

test('a search below skills keeps what it finds there', { skip: NOT_KEPT }, async (t) => {
  const root = temporaryDirectory(t)
  writeFiles(root, { 'a/SKILL.md': skillText('a'), 'a/b/SKILL.md': skillText('b') })
  const { again, fresh } = searchers(t, root, { nested: true })
  const first = await again()
  writeFiles(root, { 'a/b/c/SKILL.md': skillText('c') })
  const second = await again()
  assert.equal(shared(first, second), 2)
  assert.deepEqual(told(second), told(await fresh()))
})

test('a look that was cancelled leaves the one before it as the last', { skip: NOT_KEPT }, async (t) => {
  const root = temporaryDirectory(t)
  for (let index = 10; index < 60; index++) writeFiles(root, { [`s${index}/SKILL.md`]: skillText(`s${index}`) })
  const pass = minutesApart(t)
  const source = createFolderSource({ id: 'test', tier: 'extra', rank: 0, trusted: true, path: root })
  const first = await source.discover()
  await pass()
  await assert.rejects(source.discover(abortedAfter(20)), { code: 'CANCELLED' })
  writeFileSync(join(root, 's20/SKILL.md'), skillText('s20', 'New.'))
  const [second, third] = await Promise.all([source.discover(), source.discover()])
  assert.equal(shared(first, second), 49)
  assert.equal(shared(first, third), 49)
  mkdirSync(join(root, 's99'))
  await pass()
  // Both read s20 anew, and either may have ended last.
  const last = await source.discover()
  assert.equal(Math.max(shared(second, last), shared(third, last)), 50)
})

/** A signal that is aborted once it was asked so often: in the middle of a search, however fast that is. */
function abortedAfter(times: number): AbortSignal {
  let left = times
  const signal = new AbortController().signal
  return Object.defineProperty(signal, 'aborted', { get: () => left-- <= 0 })
}

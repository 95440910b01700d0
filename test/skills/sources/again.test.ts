import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFolderSource } from '../../../src/skills/sources/index.ts'
import { isKept, makeFifo, NOT_KEPT, searchers, shared, told } from './again.ts'
import { skillText, summary, temporaryDirectory, writeFiles } from './temporary.ts'

/** Files of a root with a skill of each kind: plain, odd, in a group, invalid. */
const ROOT = {
  'alpha/SKILL.md': skillText('alpha'),
  'beta/SKILL.md':
    '---\nname: beta\ndescription: "quoted"\nmetadata: {"openclaw": {"requires": {"bins": ["git"]}}}\n---\n',
  'broken/SKILL.md': '---\n- a list\n---\n',
  'group/inner/SKILL.md': skillText('inner'),
  'other-name/SKILL.md': skillText('odd'),
  'zeta/SKILL.md': skillText('zeta'),
}

test(
  'what did not change is the very same object at the next look, skills and invalid ones',
  { skip: NOT_KEPT },
  async (t) => {
    const root = temporaryDirectory(t)
    writeFiles(root, ROOT)
    const { again, fresh } = searchers(t, root)
    const first = await again()
    const second = await again()
    assert.equal(shared(first, second), 6)
    assert.deepEqual(told(second), told(await fresh()))
    const third = await again()
    assert.equal(shared(second, third), 6)
  },
)

test('a file that was written a moment before it was read is read again', async (t) => {
  const root = temporaryDirectory(t)
  writeFiles(root, ROOT)
  const source = createFolderSource({ id: 'test', tier: 'extra', rank: 0, trusted: true, path: root })
  for (const word of ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee', 'ffff']) {
    const file = join(root, 'alpha/SKILL.md')
    writeFileSync(file, skillText('alpha', word))
    utimesSync(file, 1_000, 1_000)
    assert.equal((await source.discover()).skills[0]?.description, word)
  }
})

test('a file that was changed a moment ago is read again, also with an old time of its content', async (t) => {
  const root = temporaryDirectory(t)
  writeFiles(root, { 'alpha/SKILL.md': skillText('alpha') })
  utimesSync(join(root, 'alpha/SKILL.md'), 1_000, 1_000)
  t.mock.timers.enable({ apis: ['Date'], now: statSync(join(root, 'alpha/SKILL.md')).ctimeMs })
  const source = createFolderSource({ id: 'test', tier: 'extra', rank: 0, trusted: true, path: root })
  assert.equal(shared(await source.discover(), await source.discover()), 0)
})

test('a file whose times lie in the future is read again', async (t) => {
  const root = temporaryDirectory(t)
  writeFiles(root, { 'alpha/SKILL.md': skillText('alpha') })
  const { again } = searchers(t, root)
  utimesSync(join(root, 'alpha/SKILL.md'), Date.now() / 1_000 + 9e6, Date.now() / 1_000 + 9e6)
  assert.equal(shared(await again(), await again()), 0)
})

/** What can happen to `alpha` between two looks: how many of the six are the same afterwards, and which names are found. */
const CHANGES: Record<
  string,
  { readonly change: (root: string) => void; readonly same: number; readonly skills: string }
> = {
  'an edit in place that keeps the size': {
    change: (root) => writeFileSync(join(root, 'alpha/SKILL.md'), skillText('alphb')),
    same: 5,
    skills: 'alphb beta inner odd zeta',
  },
  'an edit that keeps the size, with the old time of the content': {
    change: (root) => {
      const file = join(root, 'alpha/SKILL.md')
      const { atime, mtime } = statSync(file)
      writeFileSync(file, skillText('alphb'))
      utimesSync(file, atime, mtime)
    },
    same: 5,
    skills: 'alphb beta inner odd zeta',
  },
  'another file of the same size and time that was renamed over it': {
    change: (root) => {
      const file = join(root, 'alpha/SKILL.md')
      const { atime, mtime } = statSync(file)
      writeFileSync(`${file}.new`, skillText('alphb'))
      utimesSync(`${file}.new`, atime, mtime)
      renameSync(`${file}.new`, file)
    },
    same: 5,
    skills: 'alphb beta inner odd zeta',
  },
  'two directories that changed places': {
    change: (root) => {
      renameSync(join(root, 'alpha'), join(root, 'x'))
      renameSync(join(root, 'zeta'), join(root, 'alpha'))
      renameSync(join(root, 'x'), join(root, 'zeta'))
    },
    same: 4,
    skills: 'zeta beta inner odd alpha',
  },
  'a directory that got another name': {
    change: (root) => renameSync(join(root, 'alpha'), join(root, 'delta')),
    same: 5,
    skills: 'beta alpha inner odd zeta',
  },
  'a directory that was moved, with a link in its place': {
    change: (root) => {
      renameSync(join(root, 'alpha'), join(root, 'group/alpha'))
      symlinkSync('group/alpha', join(root, 'alpha'))
    },
    same: 5,
    skills: 'alpha beta inner odd zeta',
  },
  'a directory that became a link out of the root': {
    change: (root) => {
      renameSync(join(root, 'alpha'), `${root}-outside`)
      symlinkSync(`${root}-outside`, join(root, 'alpha'))
    },
    same: 5,
    skills: 'beta inner odd zeta',
  },
  'a group that became a link out of the root': {
    change: (root) => {
      renameSync(join(root, 'group'), `${root}-outside`)
      symlinkSync(`${root}-outside`, join(root, 'group'))
    },
    same: 5,
    skills: 'alpha beta odd zeta',
  },
  'a file that became a link to where it was moved': {
    change: (root) => {
      renameSync(join(root, 'alpha/SKILL.md'), join(root, 'alpha/text.md'))
      symlinkSync('text.md', join(root, 'alpha/SKILL.md'))
    },
    same: 5,
    skills: 'alpha beta inner odd zeta',
  },
  'a file that became a FIFO': {
    change: (root) => {
      rmSync(join(root, 'alpha/SKILL.md'))
      makeFifo(join(root, 'alpha/SKILL.md'))
    },
    same: 5,
    skills: 'beta inner odd zeta',
  },
  'a file that became a directory': {
    change: (root) => {
      rmSync(join(root, 'alpha/SKILL.md'))
      mkdirSync(join(root, 'alpha/SKILL.md'))
    },
    same: 5,
    skills: 'beta inner odd zeta',
  },
  'a file with another name': {
    change: (root) => renameSync(join(root, 'alpha/SKILL.md'), join(root, 'alpha/skill.md')),
    same: 5,
    skills: 'beta inner odd zeta',
  },
  'a file that is gone': {
    change: (root) => rmSync(join(root, 'alpha/SKILL.md')),
    same: 5,
    skills: 'beta inner odd zeta',
  },
  'a file that was removed and made again as it was': {
    change: (root) => {
      rmSync(join(root, 'alpha'), { recursive: true })
      writeFiles(root, { 'alpha/SKILL.md': ROOT['alpha/SKILL.md'] })
    },
    same: 5,
    skills: 'alpha beta inner odd zeta',
  },
  'a root that was removed and made again': {
    change: (root) => {
      rmSync(root, { recursive: true })
      writeFiles(root, ROOT)
    },
    same: 0,
    skills: 'alpha beta inner odd zeta',
  },
  'a file that is below a limit no more': {
    change: (root) => writeFileSync(join(root, 'alpha/SKILL.md'), skillText('alpha').padEnd(2_000_000)),
    same: 5,
    skills: 'beta inner odd zeta',
  },
  'a invalid file that was mended': {
    change: (root) => writeFiles(root, { 'broken/SKILL.md': skillText('broken') }),
    same: 5,
    skills: 'alpha beta broken inner odd zeta',
  },
  'a skill in a group that became a skill': {
    change: (root) => writeFiles(root, { 'group/SKILL.md': skillText('group') }),
    same: 5,
    skills: 'alpha beta group odd zeta',
  },
  'new skills before, between and behind the others': {
    change: (root) => {
      for (const name of ['a', 'gamma', 'zz']) writeFiles(root, { [`${name}/SKILL.md`]: skillText(name) })
    },
    same: 6,
    skills: 'a alpha beta gamma inner odd zeta zz',
  },
  'a root that became a skill': {
    change: (root) => writeFiles(root, { 'SKILL.md': skillText('top') }),
    same: 0,
    skills: 'top',
  },
}

for (const [what, { change, same, skills }] of Object.entries(CHANGES)) {
  test(`met as it is now: ${what}`, async (t) => {
    const root = temporaryDirectory(t)
    t.after(() => rmSync(`${root}-outside`, { recursive: true, force: true }))
    writeFiles(root, ROOT)
    const { again, fresh } = searchers(t, root)
    const first = await again()
    const names = first.skills.map(({ name }) => name)
    change(root)
    const second = await again()
    assert.deepEqual(told(second), told(await fresh()))
    assert.equal(summary(second)['skills']?.join(' '), skills)
    assert.equal(shared(first, second), isKept ? same : 0)
    // What an earlier look found is what it was.
    assert.deepEqual(
      first.skills.map(({ name }) => name),
      names,
    )
    assert.deepEqual(told(await again()), told(await fresh()))
  })
}

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFolderSource, type FolderSourceOptions } from '../../../src/skills/sources/index.ts'
import { asNobody, skillText, summary, temporaryDirectory, writeFiles } from './temporary.ts'

const noFifo = spawnSync('mkfifo', ['--version']).error ? 'mkfifo is not installed' : false

function source(path: string, more: Partial<FolderSourceOptions> = {}) {
  return createFolderSource({ id: 'test', tier: 'extra', rank: 0, trusted: false, path, ...more })
}

test('a text beside the directories of skills that reads like a skill is reported, and no other text', async (t) => {
  const root = temporaryDirectory(t)
  writeFiles(root, {
    'loose.md': skillText('loose'),
    'README.md': '# Skills\n',
    'notes.md': '---\ntitle: x\n---\n',
    'group/deeper.md': skillText('deeper'),
    'good/SKILL.md': skillText('good'),
    'good/other.md': skillText('other'),
  })
  const { diagnostics } = await source(root).discover()
  assert.deepEqual(
    diagnostics.map(({ code, path, fix }) => [code, path, fix]),
    [
      [
        'skill-single-file',
        join(root, 'loose.md'),
        `Give it one: mkdir -p ${root}/loose && mv ${root}/loose.md ${root}/loose/SKILL.md`,
      ],
    ],
  )
})

/** How often other work had its turn until the answer is asked for. */
function countTurns(): () => number {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  return () => {
    isOver = true
    return turns
  }
}

test('a search of 5,000 directories gives way to other work several times, and finds all in byte order', async (t) => {
  const root = temporaryDirectory(t)
  const names = Array.from({ length: 5_000 }, (_, index) => `directory-${(index * 7_919) % 5_000}`)
  for (const name of names) writeFiles(root, { [`${name}/SKILL.md`]: skillText(name) })
  const turns = countTurns()
  const { skills, invalid, diagnostics } = await source(root).discover()
  assert.deepEqual(
    skills.map(({ name }) => name),
    names.toSorted(),
  )
  assert.deepEqual([invalid, diagnostics], [[], []])
  assert.ok(turns() >= 3)
})

test('others get their turn between two links that lead nowhere', async (t) => {
  const directory = temporaryDirectory(t)
  for (let index = 0; index < 5_000; index++) symlinkSync('nowhere', join(directory, `link-${index}`))
  const turns = countTurns()
  await source(directory).discover()
  assert.ok(turns() >= 3)
})

test('a FIFO named SKILL.md is invalid without waiting, and its neighbours load', { skip: noFifo }, async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'ok/SKILL.md': skillText('ok') })
  mkdirSync(join(directory, 'fifo'))
  execFileSync('mkfifo', [join(directory, 'fifo', 'SKILL.md')])
  assert.deepEqual(summary(await source(directory).discover()), {
    skills: ['ok'],
    invalid: ['fifo: skill-file-kind'],
    found: [],
  })
})

test('what waits in a FIFO named SKILL.md is still there after a search', { skip: noFifo }, async (t) => {
  const directory = temporaryDirectory(t)
  const fifo = join(directory, 'fifo', 'SKILL.md')
  mkdirSync(join(directory, 'fifo'))
  execFileSync('mkfifo', [fifo])
  // Open for both, so that neither opening nor reading waits for another process.
  const fd = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK)
  t.after(() => closeSync(fd))
  writeSync(fd, skillText('fifo'))
  const search = source(directory)
  for (const _ of ['first', 'again']) {
    assert.deepEqual(summary(await search.discover())['invalid'], ['fifo: skill-file-kind'])
  }
  const bytes = Buffer.alloc(1_000)
  assert.equal(bytes.toString('utf8', 0, readSync(fd, bytes)), skillText('fifo'))
})

test('a device named SKILL.md is invalid', async (t) => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, 'zero'))
  const made = spawnSync('mknod', [join(directory, 'zero', 'SKILL.md'), 'c', '1', '5'])
  if (made.status !== 0) return t.skip('devices cannot be made here')
  const { invalid } = await source(directory).discover()
  assert.match(invalid[0]?.diagnostics[0]?.message ?? '', /^SKILL\.md (?:is a device|cannot be opened)/)
})

test('a directory, a link to a device and a link in a circle named SKILL.md are invalid', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'ok/SKILL.md': skillText('ok'), 'dir/SKILL.md/x': 'x' })
  for (const [name, target] of [
    ['device', '/dev/zero'],
    ['circle', 'SKILL.md'],
    ['dangling', 'nowhere.md'],
  ] as const) {
    mkdirSync(join(directory, name))
    symlinkSync(target, join(directory, name, 'SKILL.md'))
  }
  assert.deepEqual(summary(await source(directory).discover()), {
    skills: ['ok'],
    invalid: [
      'circle: skill-file-unreadable',
      'dangling: skill-file-unreadable',
      'device: link-outside',
      'dir: skill-file-kind',
    ],
    found: [],
  })
})

test('a sparse file of five gigabytes is invalid by its size alone', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'huge/SKILL.md': skillText('huge') })
  truncateSync(join(directory, 'huge/SKILL.md'), 5 * 2 ** 30)
  assert.deepEqual(summary(await source(directory).discover())['invalid'], ['huge: file-too-large'])
})

test('a SKILL.md that is a link out of the root is not read', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'secret/SKILL.md': skillText('secret'), 'root/ok/SKILL.md': skillText('ok') })
  mkdirSync(join(directory, 'root/spy'))
  symlinkSync('../../secret/SKILL.md', join(directory, 'root/spy/SKILL.md'))
  assert.deepEqual(summary(await source(join(directory, 'root')).discover()), {
    skills: ['ok'],
    invalid: ['spy: link-outside'],
    found: [],
  })
})

test('a SKILL.md that is a link inside the root is read, with a warning and what it leads to', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'real/SKILL.md': skillText('real') })
  mkdirSync(join(directory, 'alias'))
  symlinkSync('../real/SKILL.md', join(directory, 'alias/SKILL.md'))
  const { skills } = await source(directory).discover()
  assert.deepEqual(
    skills.map(({ file, linkedTo, diagnostics }) => [file, linkedTo, diagnostics.map(({ code }) => code)]),
    [
      [join(directory, 'alias/SKILL.md'), join(directory, 'real/SKILL.md'), ['link-followed', 'name-differs']],
      [join(directory, 'real/SKILL.md'), undefined, []],
    ],
  )
})

test('linked directories out of the root are not followed, those inside count once, circles end', async (t) => {
  const directory = temporaryDirectory(t)
  const root = join(directory, 'root')
  writeFiles(directory, { 'outside/x/SKILL.md': skillText('x'), 'root/a/b/SKILL.md': skillText('b') })
  writeFiles(root, { '.store/s/SKILL.md': skillText('s') })
  symlinkSync('../outside', join(root, 'out'))
  symlinkSync('/', join(root, 'slash'))
  symlinkSync('a', join(root, 'z'))
  symlinkSync('..', join(root, 'a/up'))
  symlinkSync('.store/s', join(root, 's'))
  symlinkSync('nowhere', join(root, 'gone'))
  assert.deepEqual(summary(await source(root).discover()), {
    skills: ['b', 's'],
    invalid: [],
    found: ['link-broken', 'link-outside', 'link-outside'],
  })
})

test('a root may be a link, but not out of the directory it must stay in', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'home/skills/a/SKILL.md': skillText('a'), 'workspace/real/b/SKILL.md': skillText('b') })
  symlinkSync('../home/skills', join(directory, 'workspace/skills'))
  symlinkSync('real', join(directory, 'workspace/inner'))
  const within = join(directory, 'workspace')
  const linked = join(within, 'skills')
  assert.deepEqual(summary(await source(linked).discover())['skills'], ['a'])
  assert.deepEqual(summary(await source(linked, { within }).discover()), {
    skills: [],
    invalid: [],
    found: ['root-outside'],
  })
  assert.deepEqual(summary(await source(join(within, 'inner'), { within }).discover())['skills'], ['b'])
})

test('what may not be read is a finding, and its neighbours load', async (t) => {
  const directory = temporaryDirectory(t)
  for (const name of ['closed', 'file', 'ok']) writeFiles(directory, { [`${name}/SKILL.md`]: skillText(name) })
  chmodSync(directory, 0o755)
  chmodSync(join(directory, 'closed'), 0)
  chmodSync(join(directory, 'file/SKILL.md'), 0)
  const result = await asNobody(() => source(directory).discover())
  chmodSync(join(directory, 'closed'), 0o755)
  assert.deepEqual(summary(result), {
    skills: ['ok'],
    invalid: ['file: skill-file-unreadable'],
    found: ['directory-unreadable'],
  })
})

test('a root that may not be read is a finding', async (t) => {
  const root = temporaryDirectory(t)
  chmodSync(root, 0o111)
  const { diagnostics } = await asNobody(() => source(root).discover())
  chmodSync(root, 0o755)
  assert.deepEqual(
    diagnostics.map(({ code, message }) => [code, message]),
    [['root-unreadable', 'Nexus cannot read the directory: permission denied.']],
  )
})

test('sixty levels of directories end at the depth limit with a finding', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { [`${'n/'.repeat(60)}SKILL.md`]: skillText('deep'), 'ok/SKILL.md': skillText('ok') })
  assert.deepEqual(summary(await source(directory).discover()), {
    skills: ['ok'],
    invalid: [],
    found: ['depth-limit'],
  })
})

test('names with line breaks, quotes and bytes that are not UTF-8 do not stop the search', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { "quo'te/SKILL.md": skillText('a'), 'new\nline/SKILL.md': skillText('b') })
  const raw = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0x62, 0xff])])
  try {
    mkdirSync(raw)
  } catch {
    t.diagnostic('this file system refuses names that are not UTF-8')
    return
  }
  assert.deepEqual(summary(await source(directory).discover()), {
    skills: ['b', 'a'],
    invalid: [],
    found: ['name-encoding'],
  })
})

test('many findings of one kind are listed in part and counted', async (t) => {
  const directory = temporaryDirectory(t)
  for (let index = 0; index < 30; index++) symlinkSync('nowhere', join(directory, `l${index}`))
  const { diagnostics } = await source(directory).discover()
  assert.equal(diagnostics.length, 21)
  assert.match(diagnostics.at(-1)?.message ?? '', /^10 more/)
})

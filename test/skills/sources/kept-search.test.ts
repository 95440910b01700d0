import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createFolderSource, createStandardSources, type SourceResult } from '../../../src/skills/sources/index.ts'
import { minutesApart, NOT_KEPT, told } from './again.ts'
import { skillText, temporaryDirectory, writeFiles } from './temporary.ts'

const COUNT = 30
const skip = NOT_KEPT

/** Skills of many forms; `beta` has a finding. */
function makeTree(root: string): void {
  writeFiles(root, {
    'alpha/SKILL.md': skillText('alpha'),
    'beta/SKILL.md': skillText('other-name'),
    'gamma/SKILL.md':
      '---\nname: gamma\ndescription: "日本語 🧰 café \\u2028"\nlicense: MIT\nallowed-tools: Read Grep\n__proto__: { polluted: yes }\nconstructor: x\nn: [.inf, -0.0, 1e400, ~]\nmetadata:\n  deep: { a: { b: [1, { c: 2 }] } }\n  openclaw:\n    os: [linux]\n    requires: { bins: [git], env: [A_TOKEN] }\n    install: [{ id: apt, kind: apt, package: git, bins: [git] }]\n---\nText.\n',
  })
  // Its line is longer than what is read at once.
  writeFiles(root, {
    'long/SKILL.md': `---\nname: long\ndescription: Long.\nnote: ${'é n '.repeat(40_000)}.\n---\nText.\n`,
  })
  for (let index = 0; index < COUNT; index++) writeFiles(root, { [`s${index}/SKILL.md`]: skillText(`s${index}`) })
}

function place(t: TestContext) {
  const folder = temporaryDirectory(t)
  const root = join(folder, 'skills')
  const directory = join(folder, 'kept')
  mkdirSync(directory, { mode: 0o700 })
  makeTree(root)
  const pass = minutesApart(t)
  const look = (version?: string, more: { trusted?: boolean; maxFileBytes?: number } = {}): Promise<SourceResult> => {
    const { trusted = true, maxFileBytes = 1_048_576 } = more
    const keepIn = version === undefined ? undefined : { directory, version }
    return createFolderSource({
      id: 'test',
      tier: 'extra',
      rank: 0,
      trusted,
      path: root,
      limits: { maxFileBytes },
      keepIn,
    }).discover()
  }
  const file = (): string => join(directory, readdirSync(directory).find((name) => name.endsWith('.json')) ?? 'none')
  return { root, directory, pass, look, file }
}

/** Changes what is kept about alpha, so that a test sees whether it was believed. */
function mark(file: string): void {
  const text = readFileSync(file, 'latin1')
  const marked = text.replace(
    /^.{8}(.*?"name":"alpha","description":)"[^"]*"(.*)$/m,
    (_, before: string, after: string) => {
      const line = `${before}"KEPT"${after}`
      const sum = Buffer.from(line).reduce((all, byte) => (Math.imul(all, 31) + byte) | 0, 0)
      return (sum >>> 0).toString(16).padStart(8, '0') + line
    },
  )
  assert.notEqual(marked, text)
  writeFileSync(file, marked, 'latin1')
}

const descriptionOf = ({ skills }: SourceResult, name = 'alpha') =>
  skills.find((skill) => skill.name === name)?.description
const isBelieved = (found: SourceResult): boolean => descriptionOf(found) === 'KEPT'

/** Whether an object and all in it inherit from the same as another. */
function prototypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value
  return [Object.getPrototypeOf(value) === null, Object.values(value).map(prototypes)]
}

test('a new process finds what one finds that reads every file, and opens no unchanged one', { skip }, async (t) => {
  const { look, pass, file } = place(t)
  await pass()
  const fresh = await look('1')
  assert.equal(statSync(file()).mode & 0o777, 0o600)
  const kept = await look('1')
  assert.deepEqual(told(kept), told(fresh))
  for (const name of ['alpha', 'gamma']) {
    const [a, b] = [fresh, kept].map(({ skills }) => skills.find((skill) => skill.name === name))
    assert.deepEqual(b?.frontmatter, a?.frontmatter)
    assert.deepEqual(prototypes(b?.frontmatter), prototypes(a?.frontmatter))
    assert.deepEqual(prototypes(b?.metadata.install), prototypes(a?.metadata.install))
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  mark(file())
  assert.ok(isBelieved(await look('1')))
})

test('what is kept belongs to no source: trust and tier are those of who asks', { skip }, async (t) => {
  const { look, pass } = place(t)
  await pass()
  await look('1')
  assert.ok((await look('1', { trusted: false })).skills.every(({ origin }) => !origin.trusted))
})

test('a skill with findings is not kept', { skip }, async (t) => {
  const { look, pass, file } = place(t)
  await pass()
  await look('1')
  assert.ok(!readFileSync(file(), 'latin1').includes('other-name'))
})

test('another version, and another limit, read every file', { skip }, async (t) => {
  const { look, pass, file } = place(t)
  await pass()
  await look('1')
  mark(file())
  assert.ok(!isBelieved(await look('1', { maxFileBytes: 500_000 })))
  await look('1')
  mark(file())
  assert.ok(!isBelieved(await look('2')))
})

/** What happens to alpha between two processes. */
const CHANGES: Readonly<Record<string, (root: string) => void>> = {
  'a file of the same size and time of content': (root) => {
    const file = join(root, 'alpha/SKILL.md')
    const { atime, mtime } = statSync(file)
    writeFileSync(file, skillText('alpha').replace('Does', 'Dood'))
    utimesSync(file, atime, mtime)
  },
  'another file of the same size and times that took its place': (root) => {
    const file = join(root, 'alpha/SKILL.md')
    const { atime, mtime } = statSync(file)
    writeFileSync(`${file}.new`, skillText('alpha').replace('Does', 'Dood'))
    utimesSync(`${file}.new`, atime, mtime)
    renameSync(`${file}.new`, file)
  },
  'two directories that changed places': (root) => {
    renameSync(join(root, 'alpha'), join(root, 'x'))
    renameSync(join(root, 's1'), join(root, 'alpha'))
    renameSync(join(root, 'x'), join(root, 's1'))
  },
  'a root that was removed and made again': (root) => {
    rmSync(root, { recursive: true })
    makeTree(root)
  },
}

for (const [what, change] of Object.entries(CHANGES))
  test(`a process after a change reads ${what}`, { skip }, async (t) => {
    const { root, look, pass } = place(t)
    await pass()
    await look('1')
    await pass()
    change(root)
    await pass()
    assert.deepEqual(told(await look('1')), told(await look()))
  })

test('a file that changed in the same tick in which it was read is not kept', { skip }, async (t) => {
  const { root, look, directory } = place(t)
  t.mock.timers.reset()
  await look('1')
  assert.deepEqual(readdirSync(directory), [])
  const now = statSync(join(root, 'alpha/SKILL.md')).ctimeMs
  t.mock.timers.enable({ apis: ['Date'], now: now + 2_000 })
  await look('1')
  assert.deepEqual(readdirSync(directory), [])
  t.mock.timers.setTime(now + 60_000)
  await look('1')
  assert.equal(readdirSync(directory).length, 1)
})

/** What may have happened to the file itself. None of it is believed, and none of it fails. */
const DAMAGE: Readonly<Record<string, (file: string) => void>> = {
  'is cut short': (file) => truncateSync(file, 5_000),
  'lost its last line break': (file) => truncateSync(file, statSync(file).size - 1),
  'is empty': (file) => truncateSync(file, 0),
  'is no JSON': (file) => writeFileSync(file, 'x\n'.repeat(5_000)),
  'is nested too deep': (file) => writeFileSync(file, `${headOf(file)}${'['.repeat(1_000_000)}\n`),
  'has rows of another form': (file) => writeFileSync(file, `${headOf(file)}{"read":{"name":1},"changedMs":1}\n`),
  'has a text for a list': (file) => edit(file, '"bins":[]', '"bins":"git"'),
  'sets a prototype for a member': (file) => edit(file, '"metadata":{', '"metadata":{"__proto__":{"os":[]},"x":{'),
  'has another digit': (file) => edit(file, '"changedMs":1', '"changedMs":2'),
  'others can read': (file) => chmodSync(file, 0o644),
  'belongs to another user': (file) => chownSync(file, 4242, 4242),
}

function headOf(file: string): string {
  return readFileSync(file, 'latin1').replace(/\n[^]*/, '\n')
}

function edit(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'latin1')
  assert.ok(text.includes(from))
  writeFileSync(file, text.replace(from, to), 'latin1')
}

for (const [what, damage] of Object.entries(DAMAGE))
  test(`a kept search that ${what} is not believed, and is replaced`, { skip }, async (t) => {
    if (what.startsWith('belongs') && process.getuid?.() !== 0) return t.skip('only root can give a file away')
    const { look, pass, file } = place(t)
    await pass()
    const fresh = await look('1')
    mark(file())
    damage(file())
    const found = await look('1')
    assert.deepEqual(told(found), told(fresh))
    assert.equal(({} as { os?: unknown }).os, undefined)
    mark(file())
    assert.ok(isBelieved(await look('1')))
  })

/** Looks again and again as two versions in turn, so that each look writes; prints what it found. */
const LOOKS = `
  const now = Date.now
  Date.now = () => now() + 60_000
  const { createFolderSource } = await import(process.argv[1])
  const [path, directory] = process.argv.slice(2)
  const found = new Set()
  for (let round = 0; round < 10; round++) {
    const keepIn = { directory, version: String(round % 2) }
    const source = createFolderSource({ id: 'test', tier: 'extra', rank: 0, trusted: true, path, keepIn })
    const { skills, invalid } = await source.discover()
    found.add(JSON.stringify(skills.map(({ name, description }) => [name, description]).concat(invalid)))
  }
  process.stdout.write([...found].join('\\n'))
`

test('processes that keep a search at once leave one that is whole', { skip }, async (t) => {
  const { root, look, pass, directory, file } = place(t)
  await pass()
  const sources = new URL('../../../src/skills/sources/index.ts', import.meta.url).href
  const found = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const args = ['--input-type=module', '-e', LOOKS, sources, root, directory]
      const { stdout } = await promisify(execFile)(process.execPath, args)
      return stdout
    }),
  )
  assert.equal(new Set(found).size, 1)
  assert.equal(found[0]?.includes('\n'), false)
  assert.equal(readdirSync(directory).length, 1)
  await look('0')
  mark(file())
  assert.ok(isBelieved(await look('0')))
})

test('a few changes are read again and not written, many are written', { skip }, async (t) => {
  const { root, look, pass, file } = place(t)
  await pass()
  await look('1')
  const { ino } = statSync(file())
  writeFileSync(join(root, 's1/SKILL.md'), skillText('s1', 'New.'))
  await pass()
  assert.equal(descriptionOf(await look('1'), 's1'), 'New.')
  assert.equal(statSync(file()).ino, ino)
  for (let index = 0; index < 10; index++) rmSync(join(root, `s${index}`), { recursive: true })
  await look('1')
  assert.notEqual(statSync(file()).ino, ino)
})

test('old searches are removed', { skip }, async (t) => {
  const { look, pass, directory } = place(t)
  for (let index = 0; index < 60; index++) {
    writeFileSync(join(directory, `old-${index}`), 'x')
    utimesSync(join(directory, `old-${index}`), index + 1, index + 1)
  }
  await pass()
  await look('1')
  assert.equal(readdirSync(directory).length, 32)
})

test('searches are kept only in a Nexus home that is the user’s and closed to others', { skip }, (t) => {
  const folder = temporaryDirectory(t)
  const make = (home: string, more: { homeTrusted?: boolean; version?: string } = {}): boolean => {
    const nexusHome = join(folder, home)
    createStandardSources({ nexusHome, workspaceTrusted: false, version: '1', ...more })
    return existsSync(join(nexusHome, 'cache/skills'))
  }
  assert.equal(make('a'), true)
  assert.equal(statSync(join(folder, 'a/cache/skills')).mode & 0o777, 0o700)
  assert.equal(make('b', { homeTrusted: false }), false)
  mkdirSync(join(folder, 'open'))
  chmodSync(join(folder, 'open'), 0o777)
  assert.equal(make('open'), false)
  assert.equal(make('open/inner'), false)
  assert.equal(make('no/such'), false)
})

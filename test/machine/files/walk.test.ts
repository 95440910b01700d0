import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type FileError, paceOf, type Tree } from '../../../src/machine/files/index.ts'
import { asNobody, freshDirectory, hostileRoot, noDescriptors, openTree } from './rig.ts'

const skip = noDescriptors
const LEVELS = 5_000

/** A directory in a directory, far deeper than a path may be long. */
function makeDeep(tree: Tree, levels: number): void {
  let path = ''
  for (let level = 0; level < levels; level++) {
    path = path === '' ? 'deep' : `${path}/deep`
    tree.makeDirectory(path, { mode: 0o755 })
  }
}

function many(t: TestContext, count: number): string {
  const directory = freshDirectory(t)
  mkdirSync(join(directory, 'many'))
  for (let index = 0; index < count; index++) writeFileSync(join(directory, 'many', String(index)), '')
  return directory
}

test(`${LEVELS} directories in each other are made, walked, read and removed`, { skip }, async (t) => {
  const directory = freshDirectory(t)
  const tree = openTree(t, directory)
  makeDeep(tree, LEVELS)
  const end = Array.from({ length: LEVELS }, () => 'deep').join('/')
  await tree.write(`${end}/file`, { bytes: Buffer.from('deep down') })
  const open = (): number => readdirSync('/proc/self/fd').length
  const before = open()
  let most = 0
  let last = ''
  const stoppedBy = await tree.walk({
    visit: ({ path }) => {
      most = Math.max(most, open() - before)
      last = path
    },
  })
  assert.equal(stoppedBy, undefined)
  assert.equal(last.length, end.length + '/file'.length)
  assert.ok(most < 100, `${most} descriptors`)
  assert.equal(Buffer.from((await tree.read(`${end}/file`, { maxBytes: 99 })).bytes).toString(), 'deep down')
  assert.deepEqual(await tree.removeAll('deep'), {
    entries: LEVELS + 1,
    failures: [],
    stoppedBy: undefined,
    isGone: true,
  })
  assert.deepEqual(readdirSync(directory), [])
})

test('limits of entries and time end a walk and a removal, and are named', { skip }, async (t) => {
  const directory = freshDirectory(t)
  const tree = openTree(t, directory)
  makeDeep(tree, 20)
  for (let index = 0; index < 50; index++) writeFileSync(join(directory, `file${index}`), '')
  let seen = 0
  const visit = (): void => void seen++
  assert.equal(await tree.walk({ visit, maxEntries: 30 }), 'entries')
  assert.equal(seen, 30)
  assert.equal(await tree.walk({ visit, maxMs: -1 }), 'time')
  const some = await tree.removeAll('deep', { maxEntries: 5 })
  assert.deepEqual([some.entries, some.stoppedBy, some.isGone], [5, 'entries', false])
  assert.equal((await tree.removeAll('deep', { maxMs: -1 })).stoppedBy, 'time')
  assert.equal((await tree.removeAll('deep')).entries, 15)
  assert.equal((await tree.removeAll('deep')).isGone, true, 'what is not there is gone')
})

test('an aborted signal ends a walk and a removal with its reason', { skip }, async (t) => {
  const tree = openTree(t, many(t, 10))
  const pace = paceOf(AbortSignal.abort(new Error('enough')))
  await assert.rejects(tree.walk({ visit: () => undefined, pace }), /enough/)
  await assert.rejects(tree.removeAll('many', { pace }), /enough/)
})

test('other work goes on while 5,000 entries are walked and removed', { skip }, async (t) => {
  const tree = openTree(t, many(t, 5_000))
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  t.after(() => clearInterval(timer))
  let seen = 0
  await tree.walk({ visit: () => void seen++ })
  assert.equal(seen, 5_001)
  const removed = await tree.removeAll('many')
  assert.deepEqual([removed.entries, removed.isGone], [5_001, true])
  assert.ok(turns > 1, `${turns} turns of the event loop`)
})

test('directories that let nobody in are removed with what is in them', { skip }, async (t) => {
  const directory = freshDirectory(t)
  mkdirSync(join(directory, 'a/b/c'), { recursive: true })
  writeFileSync(join(directory, 'a/b/c/file'), '')
  chmodSync(directory, 0o777)
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', '65534:65534', directory])
  for (const [path, mode] of [
    ['a/b/c', 0],
    ['a/b', 0o111],
    ['a', 0o500],
  ] as const)
    chmodSync(join(directory, path), mode)
  await asNobody(async () => {
    const tree = openTree(t, directory)
    const closed: string[] = []
    await tree.walk({ visit: () => undefined, onClosed: (path) => closed.push(path) })
    assert.deepEqual(closed, ['a/b'])
    await assert.rejects(tree.walk({ visit: () => undefined }), { code: 'EACCES' })
    assert.deepEqual(await tree.removeAll('a'), { entries: 4, failures: [], stoppedBy: undefined, isGone: true })
  })
})

test(
  'what cannot be removed is reported, and the rest is gone',
  { skip: skip || (process.getuid?.() !== 0 && 'needs root to make files of another user') },
  async (t) => {
    const directory = freshDirectory(t)
    for (const name of ['mine/theirs', 'mine/empty']) mkdirSync(join(directory, name), { recursive: true })
    for (const name of ['mine/theirs/x', 'mine/theirs/y', 'mine/file']) writeFileSync(join(directory, name), '')
    chmodSync(directory, 0o777)
    for (const name of ['mine', 'mine/empty', 'mine/file']) execFileSync('chown', ['65534', join(directory, name)])
    await asNobody(async () => {
      const { entries, failures, isGone } = await openTree(t, directory).removeAll('mine')
      assert.deepEqual([entries, isGone], [2, false])
      assert.deepEqual(
        failures.map(({ code }) => code),
        ['EACCES', 'EACCES'],
      )
      assert.deepEqual(failures.map(({ path }) => path.slice(directory.length)).sort(), [
        '/mine/theirs/x',
        '/mine/theirs/y',
      ])
    })
    assert.deepEqual(readdirSync(join(directory, 'mine')), ['theirs'])
  },
)

test('links, FIFOs and sockets are removed, and nothing that links lead to', { skip }, async (t) => {
  const { above, root } = await hostileRoot(t)
  const tree = openTree(t, above)
  const { isGone, failures } = await tree.removeAll('root')
  assert.deepEqual([isGone, failures, existsSync(root)], [true, [], false])
  assert.deepEqual(readdirSync(above).sort(), ['outside', 'outside.txt', 'root-evil', 'root-link'])
  await tree.removeAll('root-link')
  assert.deepEqual(readdirSync(join(above, 'outside')), ['secret.txt'])
})

test('a directory that is moved away while it is walked is not left by another way', { skip }, async (t) => {
  const above = freshDirectory(t)
  mkdirSync(join(above, 'root'))
  mkdirSync(join(above, 'outside/victim'), { recursive: true })
  const tree = openTree(t, join(above, 'root'))
  makeDeep(tree, 60)
  mkdirSync(join(above, 'root/deep/victim'))
  const failed: FileError[] = []
  await tree.walk({
    visit: ({ path }) => {
      // Where `..` of what is open leads changes: to a directory that looks the same.
      const isEnd = path.split('/').length === 60
      if (isEnd) renameSync(join(above, 'root/deep/deep'), join(above, 'outside/deep'))
    },
    onClosed: (_, error) => failed.push(error),
  })
  assert.deepEqual(
    failed.map(({ code }) => code),
    ['EAGAIN'],
  )
  assert.deepEqual(readdirSync(join(above, 'outside')).sort(), ['deep', 'victim'])
})

test('entries that vanish or change their kind during a removal do not stop it', { skip }, async (t) => {
  const directory = freshDirectory(t)
  const outside = freshDirectory(t)
  writeFileSync(join(outside, 'kept'), '')
  for (const name of ['all/a', 'all/b', 'all/c']) mkdirSync(join(directory, name), { recursive: true })
  const tree = openTree(t, directory)
  let calls = 0
  const pace = (): undefined => {
    // After the listing: every directory becomes a link to one outside.
    if (++calls !== 2) return undefined
    for (const name of readdirSync(join(directory, 'all'))) {
      renameSync(join(directory, 'all', name), join(directory, `was-${name}`))
      symlinkSync(outside, join(directory, 'all', name))
    }
    return undefined
  }
  const { isGone } = await tree.removeAll('all', { pace })
  assert.deepEqual([isGone, readdirSync(outside)], [true, ['kept']])
})

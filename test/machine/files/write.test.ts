import assert from 'node:assert/strict'
import {
  chmodSync, chownSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, truncateSync,
  writeFileSync,
} from 'node:fs' // oxfmt-ignore
import { join } from 'node:path'
import { test } from 'node:test'
import { partName, partState, Tree } from '../../../src/machine/files/index.ts'
import { freshDirectory, hostileRoot, noDescriptors, openTree, SECRET } from './rig.ts'

const text = (content: string): Uint8Array => Buffer.from(content)
const skip = noDescriptors

test('a written file is whole, keeps its mode and its owner, and leaves nothing beside it', { skip }, async (t) => {
  const directory = freshDirectory(t)
  const path = join(directory, 'script')
  writeFileSync(path, 'old', { mode: 0o750 })
  if (process.getuid?.() === 0) chownSync(path, 4242, 4243)
  const before = statSync(path)
  const tree = openTree(t, directory)
  const content = Buffer.alloc(3_000_001, 'abc')
  await tree.write('script', { bytes: content, isDurable: true })
  const after = statSync(path)
  assert.ok(readFileSync(path).equals(content))
  assert.deepEqual([after.mode, after.uid, after.gid], [before.mode, before.uid, before.gid])
  assert.notEqual(after.ino, before.ino, 'who has the old one open still reads it')
  assert.deepEqual(readdirSync(directory), ['script'])
})

test('a new file has the mode that the umask leaves, or the one that is asked for', { skip }, async (t) => {
  const directory = freshDirectory(t)
  const tree = openTree(t, directory)
  const umask = process.umask(0o027)
  try {
    await tree.write('usual', { bytes: text('x') })
    await tree.write('private', { bytes: text('x'), mode: 0o600 })
    await tree.write('made/on/the/way', { bytes: text('x'), makesParents: true })
  } finally {
    process.umask(umask)
  }
  const modes = ['usual', 'private', 'made', 'made/on'].map((name) => statSync(join(directory, name)).mode & 0o777)
  assert.deepEqual(modes, [0o640, 0o600, 0o750, 0o750])
})

test('while a file with a mode of its own is written, no other user reads what is there of it', { skip }, async (t) => {
  const directory = freshDirectory(t)
  writeFileSync(join(directory, 'from'), 'content', { mode: 0o644 })
  writeFileSync(join(directory, 'old'), 'old', { mode: 0o640 })
  const tree = openTree(t, directory)
  const seen: number[] = []
  const pace = (): undefined => {
    const part = readdirSync(directory).find((name) => partState(name) !== 'no')
    if (part !== undefined) seen.push(statSync(join(directory, part)).mode & 0o777)
  }
  const umask = process.umask(0)
  try {
    await tree.write('private', { bytes: text('x'), mode: 0o600, pace })
    await tree.write('open', { bytes: text('x'), mode: 0o644, pace })
    await tree.write('old', { bytes: text('x'), pace })
    await tree.copyFrom(tree, 'from', { to: 'copy', mode: 0o644, owner: undefined, pace })
  } finally {
    process.umask(umask)
  }
  assert.ok(seen.length >= 4, String(seen.length))
  assert.deepEqual([...new Set(seen)], [0o600])
})

test('setuid, setgid and sticky bits do not survive a write', { skip }, async (t) => {
  const directory = freshDirectory(t)
  writeFileSync(join(directory, 'program'), 'old')
  chmodSync(join(directory, 'program'), 0o6755)
  await openTree(t, directory).write('program', { bytes: text('new') })
  assert.equal(statSync(join(directory, 'program')).mode & 0o7777, 0o755)
})

test('what a write must not reach is refused and stays as it is', { skip }, async (t) => {
  const { above, root } = await hostileRoot(t)
  const tree = openTree(t, root)
  for (const [path, code] of [
    ['dangling-out', 'ELOOP'],
    ['link-to-passwd', 'ELOOP'],
    ['inner-link', 'ELOOP'],
    ['linked-sub/file.txt', 'ELOOP'],
    ['outside-directory/new.txt', 'ELOOP'],
    ['up/outside.txt', 'ELOOP'],
    ['hardlink-to-secret', 'EMLINK'],
    ['fifo', 'ENXIO'],
    ['socket', 'ENXIO'],
    ['sub', 'EISDIR'],
    ['nowhere/file', 'ENOENT'],
    ['..', 'EINVAL'],
    ['a/..', 'EINVAL'],
    ['', 'EINVAL'],
  ] as const) {
    await assert.rejects(tree.write(path, { bytes: text('pwned') }), { name: 'FileError', code }, path)
  }
  assert.deepEqual(readdirSync(join(above, 'outside')), ['secret.txt'])
  for (const path of ['outside.txt', 'outside/secret.txt'])
    assert.equal(readFileSync(join(above, path), 'utf8'), SECRET)
  assert.equal(readFileSync(join(root, 'sub/file.txt'), 'utf8'), 'inside')
  assert.equal(readlinkSync(join(root, 'inner-link')), 'sub/file.txt')
  assert.deepEqual(
    readdirSync(root).filter((name) => name.startsWith('.nexus-part')),
    [],
  )
})

test('directories on the way are not made through a link', { skip }, async (t) => {
  const { above, root } = await hostileRoot(t)
  const tree = openTree(t, root)
  for (const path of ['outside-directory/a/b', 'up/a/b', 'SKILL.md/a/b', '../a/b'])
    await assert.rejects(tree.write(path, { bytes: text('x'), makesParents: true }), { name: 'FileError' }, path)
  assert.deepEqual(readdirSync(join(above, 'outside')), ['secret.txt'])
  assert.equal(existsSync(join(above, 'a')), false)
})

test('a file that must be new never replaces one, nor a link', { skip }, async (t) => {
  const { root } = await hostileRoot(t)
  const tree = openTree(t, root)
  for (const path of ['SKILL.md', 'dangling-out', 'sub', 'hardlink-to-secret'])
    await assert.rejects(tree.write(path, { bytes: text('x'), mustBeNew: true }), { code: 'EEXIST' }, path)
  await tree.write('new', { bytes: text('x'), mustBeNew: true })
  assert.equal(readFileSync(join(root, 'new'), 'utf8'), 'x')
})

test('of two writers of one file each reader sees one whole content', { skip }, async (t) => {
  const directory = freshDirectory(t)
  const contents = ['a', 'b'].map((letter) => letter.repeat(20_000))
  const write = async (content: string): Promise<void> => {
    const tree = new Tree(directory)
    for (let round = 0; round < 100; round++) await tree.write('file', { bytes: text(content) })
    tree.close()
  }
  await write(contents[0] as string)
  let isOver = false
  const both = Promise.all(contents.map(write)).then(() => (isOver = true))
  while (!isOver) {
    assert.ok(contents.includes(readFileSync(join(directory, 'file'), 'utf8')))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await both
  assert.deepEqual(readdirSync(directory), ['file'])
})

test('a failed write leaves the old file and nothing beside it', { skip }, async (t) => {
  const directory = freshDirectory(t)
  writeFileSync(join(directory, 'file'), 'old')
  const stop = new Error('stop')
  const pace = (): never => {
    throw stop
  }
  await assert.rejects(openTree(t, directory).write('file', { bytes: text('new'), pace }), stop)
  assert.deepEqual([readFileSync(join(directory, 'file'), 'utf8'), readdirSync(directory)], ['old', ['file']])
})

test('a copy has the content, the mode and the times, and its holes stay holes', { skip }, async (t) => {
  const directory = freshDirectory(t)
  mkdirSync(join(directory, 'to'))
  const from = join(directory, 'sparse')
  writeFileSync(from, 'begin')
  truncateSync(from, 64 * 2 ** 20)
  writeFileSync(from, 'end', { flag: 'a' })
  const tree = openTree(t, directory)
  await tree.copyFrom(tree, 'sparse', { to: 'to/copy', mode: 0o640 })
  const [was, is] = [statSync(from), statSync(join(directory, 'to/copy'))]
  assert.ok(readFileSync(from).equals(readFileSync(join(directory, 'to/copy'))))
  assert.deepEqual([is.size, is.mode & 0o777, Math.floor(is.mtimeMs)], [was.size, 0o640, Math.floor(was.mtimeMs)])
  assert.ok(is.blocks * 512 < 2 ** 20, `${is.blocks} blocks`)
})

test('a copy replaces a link and not what it leads to, and copies no link', { skip }, async (t) => {
  const { above, root } = await hostileRoot(t)
  const tree = openTree(t, root)
  await tree.copyFrom(tree, 'SKILL.md', { to: 'dangling-out', mode: 0o644 })
  assert.equal(tree.entry('dangling-out')?.kind, 'file')
  assert.equal(existsSync(join(above, 'outside/new.txt')), false)
  await assert.rejects(tree.copyFrom(tree, 'link-to-passwd', { to: 'x', mode: 0o644 }), { code: 'ELOOP' })
  await assert.rejects(tree.copyFrom(tree, 'fifo', { to: 'x', mode: 0o644 }), { code: 'ENXIO' })
  symlinkSync('x', join(root, 'y'))
  linkSync(join(root, 'SKILL.md'), join(root, 'second'))
  await tree.copyFrom(tree, 'a/file.txt', { to: 'second', mode: 0o644 })
  assert.equal(readFileSync(join(root, 'SKILL.md'), 'utf8'), 'inside', 'the other name keeps its file')
})

test('the name of a file that is being written says whether its writer lives', () => {
  const mine = partName()
  const gone = mine.replace(/part-(\d+)-\d+-\d+-/, 'part-$1-999999999-1-')
  assert.deepEqual([mine, gone, 'file', '.nexus-part-x'].map(partState), ['writing', 'left', 'no', 'no'])
})

test('a file that was changed since its stamp was taken is not replaced', { skip }, async (t) => {
  const directory = freshDirectory(t)
  const tree = openTree(t, directory)
  await tree.write('a', { bytes: text('one') })
  const replaces = tree.entry('a')?.stamp ?? ''
  await tree.write('a', { bytes: text('two'), replaces })
  await assert.rejects(tree.write('a', { bytes: text('three'), replaces }), { code: 'ESTALE' })
  await assert.rejects(tree.write('gone', { bytes: text('three'), replaces }), { code: 'ESTALE' })
  assert.deepEqual([readFileSync(join(directory, 'a'), 'utf8'), readdirSync(directory)], ['two', ['a']])
})

test(
  'what is new belongs to the owner of its directory where that is asked for',
  { skip: skip || (process.getuid?.() !== 0 && 'needs root') },
  async (t) => {
    const directory = freshDirectory(t)
    mkdirSync(join(directory, 'theirs'))
    chownSync(join(directory, 'theirs'), 4242, 4243)
    const tree = openTree(t, directory)
    await tree.write('theirs/new/a', { bytes: text(''), makesParents: true, inheritsOwner: true })
    for (const path of ['theirs/new', 'theirs/new/a']) {
      const { uid, gid } = statSync(join(directory, path))
      assert.deepEqual([uid, gid], [4242, 4243], path)
    }
  },
)

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FileError, type Holding, pathParts, Tree } from '../../../src/machine/files/index.ts'
import { freshDirectory, hostileRoot, noDescriptors, openTree, SECRET } from './rig.ts'

/** A path as a user or a model gives it. */
const given = (path: string): string => pathParts(path).join('/')

function refused(error: unknown, code: string | readonly string[]): boolean {
  assert.ok(error instanceof FileError, String(error))
  assert.ok([code].flat().includes(error.code), `${error.code}: ${error.message}`)
  assert.ok(!error.message.includes(SECRET) && !/\/proc\/self\/fd\/\d/.test(error.message), error.message)
  return true
}

/** Everything that may be done in both ways of holding a directory. */
for (const holding of ['descriptors', 'paths'] satisfies Holding[]) {
  const skip = holding === 'descriptors' && noDescriptors
  const read = async (tree: Tree, path: string, maxBytes = 1_000): Promise<string> =>
    Buffer.from((await tree.read(given(path), { maxBytes })).bytes).toString()

  test(`files inside are read by every legal spelling (${holding})`, { skip }, async (t) => {
    const { root } = await hostileRoot(t)
    const tree = openTree(t, root, holding)
    for (const path of [
      ...['SKILL.md', './sub//file.txt', 'sub/../SKILL.md', 'nowhere/../SKILL.md', 'a..b', '...', '-rf'],
      ...['..%2foutside.txt', 'sub/./file.txt'],
    ])
      assert.equal(await read(tree, path), 'inside', path)
    assert.equal((await tree.read('utf16.txt', { maxBytes: 100 })).bytes.length, 12)
  })

  test(`a root that is given through a link works (${holding})`, { skip }, async (t) => {
    const { above } = await hostileRoot(t)
    const tree = openTree(t, join(above, 'root-link/sub'), holding)
    assert.equal(await read(tree, 'file.txt'), 'inside')
  })

  test(`a root that must be real is refused behind a link (${holding})`, { skip }, async (t) => {
    const { above } = await hostileRoot(t)
    for (const [path, codes] of [
      ['root-link', ['EXDEV', 'ELOOP']],
      ['root-link/sub', ['EXDEV']],
      ['nowhere', ['ENOENT']],
      ['outside.txt', ['ENOTDIR']],
    ] as const)
      assert.throws(
        () => new Tree(join(above, path), { isReal: true, holding }),
        (error) => refused(error, codes),
      )
  })

  test(`what leads outside, and what is no file, is refused by its code (${holding})`, { skip }, async (t) => {
    const { above, root } = await hostileRoot(t)
    const tree = openTree(t, root, holding)
    for (const [path, code] of [
      ['a/../../outside.txt', 'EXDEV'],
      ['..', 'EXDEV'],
      ['../root-evil/secret.txt', 'EXDEV'],
      ['~/../../etc/passwd', 'EXDEV'],
      [`${root}/../root-evil/secret.txt`, 'EINVAL'],
      ['/etc/passwd', 'EINVAL'],
      ['/proc/self/environ', 'EINVAL'],
      ['/dev/zero', 'EINVAL'],
      ['/dev/stdin', 'EINVAL'],
      ['', 'EINVAL'],
      ['a\0b', 'EINVAL'],
      ['a\ud800', 'EINVAL'],
      ['a\udc2fb', 'EINVAL'],
      ['\udcc3\udca9', 'EINVAL'],
      ['a'.repeat(5_000), 'EINVAL'],
      ['a'.repeat(300), 'ENAMETOOLONG'],
      ['.', 'EINVAL'],
      ['sub', 'EISDIR'],
      ['sub/', 'EISDIR'],
      ['link-to-passwd', 'ELOOP'],
      ['inner-link', 'ELOOP'],
      ['up/outside.txt', 'ELOOP'],
      ['chain/outside.txt', 'ELOOP'],
      ['linked-sub/file.txt', 'ELOOP'],
      ['outside-directory/secret.txt', 'ELOOP'],
      ['dangling-out', 'ELOOP'],
      ['self', 'ELOOP'],
      ['nowhere', 'ENOENT'],
      ['sub/nowhere/x', 'ENOENT'],
      ['SKILL.md/x', 'ENOTDIR'],
      ['~/.ssh/id_rsa', 'ENOENT'],
      ['C:\\Windows\\win.ini', 'ENOENT'],
      ['file:///etc/passwd', 'ENOENT'],
      ['..%c0%af..', 'ENOENT'],
      ['%2e%2e/outside.txt', 'ENOENT'],
      ['\uff0e\uff0e/outside.txt', 'ENOENT'],
      ['fifo', 'ENXIO'],
      ['socket', 'ENXIO'],
      ['sparse', 'EFBIG'],
    ] as const)
      await assert.rejects(read(tree, path), (error) => refused(error, code), path)
    await assert.rejects(read(openTree(t, '/dev', holding), 'zero'), (error) => refused(error, 'ENXIO'))
    assert.equal(readFileSync(join(above, 'outside.txt'), 'utf8'), SECRET)
  })

  test(`an entry is data: kind, size, mode, and the text of a link (${holding})`, { skip }, async (t) => {
    const { root } = await hostileRoot(t)
    const tree = openTree(t, root, holding)
    const kinds = ['sub', 'SKILL.md', 'link-to-passwd', 'fifo', 'socket'].map((path) => tree.entry(path)?.kind)
    assert.deepEqual(kinds, ['directory', 'file', 'link', 'other', 'other'])
    assert.equal(tree.entry('link-to-passwd')?.target, '/etc/passwd')
    assert.equal(tree.entry('sparse')?.size, 5 * 2 ** 30)
    for (const path of ['nowhere', 'up/outside.txt', 'SKILL.md/x', 'sub/nowhere/x'])
      assert.equal(tree.entry(path), undefined, path)
  })

  test(`a listing is bounded and says so (${holding})`, { skip }, async (t) => {
    const { root } = await hostileRoot(t)
    const tree = openTree(t, root, holding)
    const { entries, isComplete } = await tree.list('')
    assert.deepEqual(entries.map(({ name }) => name).sort(), readdirSync(root).sort())
    assert.equal(isComplete, true)
    const some = await tree.list('', { max: 3 })
    assert.deepEqual([some.entries.length, some.isComplete], [3, false])
    const all = await tree.list('', { max: entries.length })
    assert.deepEqual([all.entries.length, all.isComplete], [entries.length, true])
    await assert.rejects(tree.list('up'), (error) => refused(error, 'ELOOP'))
  })

  test(`a walk meets every entry once and enters no link (${holding})`, { skip }, async (t) => {
    const { root } = await hostileRoot(t)
    const tree = openTree(t, root, holding)
    const met: string[] = []
    assert.equal(await tree.walk({ visit: ({ path }) => met.push(path) }), undefined)
    const found = execFileSync('find', ['.', '-mindepth', '1'], { cwd: root, encoding: 'utf8' })
    assert.deepEqual(met.map((path) => `./${path}`).sort(), found.trimEnd().split('\n').sort())
    assert.ok(!met.some((path) => path.includes('secret.txt')))
  })

  test(`no descriptor stays open, whatever failed (${holding})`, { skip: skip || noDescriptors }, async (t) => {
    const { root } = await hostileRoot(t)
    const open = (): number => readdirSync('/proc/self/fd').length
    const before = open()
    const tree = new Tree(root, { holding })
    for (const path of ['SKILL.md', 'sub/file.txt', 'sub/nowhere', 'up/x', 'fifo', 'sub', 'sparse'])
      await tree.read(path, { maxBytes: 3 }).catch(() => undefined)
    await tree.list('sub')
    await tree.walk({ visit: () => undefined })
    await tree.write('sub/new', { bytes: Buffer.from('x') }).catch(() => undefined)
    await tree.removeAll('sub')
    tree.close()
    assert.equal(open(), before)
    assert.throws(() => tree.entry('SKILL.md'), FileError, 'a closed tree reads nothing')
  })
}

test('where directories are held by their paths, nothing is changed', async (t) => {
  const { root } = await hostileRoot(t)
  const tree = openTree(t, root, 'paths')
  const before = readdirSync(root)
  const unsupported = (error: unknown): boolean =>
    refused(error, 'ENOTSUP') && /has no \/proc\/self\/fd/.test(String(error))
  await assert.rejects(tree.write('new', { bytes: Buffer.from('x') }), unsupported)
  assert.throws(() => tree.makeDirectory('new', { mode: 0o755 }), unsupported)
  assert.throws(() => tree.makeLink('new', 'x'), unsupported)
  assert.throws(() => tree.rename('SKILL.md', 'x'), unsupported)
  assert.throws(() => tree.remove('SKILL.md', 'file'), unsupported)
  assert.throws(() => tree.openUp('sub'), unsupported)
  const removed = await tree.removeAll('SKILL.md')
  assert.deepEqual([removed.isGone, removed.failures.map(({ code }) => code)], [false, ['ENOTSUP']])
  assert.deepEqual(readdirSync(root), before)
  assert.equal(statSync(join(root, 'SKILL.md')).size, 'inside'.length)
})

test('a directory that takes the place of a held one is not used for it', { skip: noDescriptors }, async (t) => {
  const above = freshDirectory(t)
  const tree = openTree(t, above)
  tree.makeDirectory('a', { mode: 0o755 })
  tree.makeDirectory('a/b', { mode: 0o755 })
  await tree.write('a/b/file', { bytes: Buffer.from('1') })
  tree.rename('a/b', 'moved')
  symlinkSync('/etc', join(above, 'a/b'))
  await assert.rejects(tree.write('a/b/file', { bytes: Buffer.from('2') }), (error) => refused(error, 'ELOOP'))
  assert.equal(existsSync('/etc/file'), false)
})

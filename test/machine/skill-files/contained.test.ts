import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, readdirSync, statSync, symlinkSync, truncateSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type ErrorCode, isNexusError } from '../../../src/kernel/index.ts'
import { readContained } from '../../../src/machine/skill-files/index.ts'
import { asNobody, temporaryDirectory, writeFiles } from '../../skills/sources/temporary.ts'

const SECRET = 'OUTSIDE-SECRET'
const noFifo = spawnSync('mkfifo', ['--version']).error ? 'mkfifo is not installed' : false

function prepare(t: TestContext): string {
  const directory = temporaryDirectory(t)
  writeFiles(directory, {
    'outside.txt': SECRET,
    'root-evil/secret.txt': SECRET,
    'root/SKILL.md': 'skill',
    'root/sub/file.txt': 'inside',
    'root/a..b': 'dots',
    'root/...': 'three dots',
    'root/-rf': 'dash',
    'root/..%2foutside.txt': 'encoded',
  })
  const root = join(directory, 'root')
  symlinkSync('/etc/passwd', join(root, 'link'))
  symlinkSync('sub/file.txt', join(root, 'inner-link'))
  symlinkSync('..', join(root, 'up'))
  symlinkSync('self', join(root, 'self'))
  symlinkSync('sub', join(root, 'linked-sub'))
  return root
}

/** Each case runs with both ways of holding directories: the one that works here, and the fallback. */
for (const holding of ['descriptors', 'paths'] as const) {
  const skip = holding === 'descriptors' && process.platform !== 'linux' ? '/proc/self/fd exists on Linux only' : false
  const read = async (root: string, path: string, maxBytes = 1_000): Promise<string> => {
    const { bytes } = await readContained(root, path, { maxBytes, holding })
    return Buffer.from(bytes).toString()
  }
  const fails = (root: string, path: string, code: ErrorCode): Promise<void> =>
    assert.rejects(read(root, path, 8), (error) => {
      assert.ok(isNexusError(error), String(error))
      assert.equal(error.code, code, `${path}: ${error.message}`)
      assert.ok(!error.message.includes(SECRET))
      return true
    })

  test(`files inside are read by every legal spelling (${holding})`, { skip }, async (t) => {
    const root = prepare(t)
    for (const [path, content] of [
      ['SKILL.md', 'skill'],
      ['./sub//file.txt', 'inside'],
      ['sub/../SKILL.md', 'skill'],
      ['nowhere/../SKILL.md', 'skill'],
      ['a..b', 'dots'],
      ['...', 'three dots'],
      ['-rf', 'dash'],
      ['..%2foutside.txt', 'encoded'],
    ] as const) {
      assert.equal(await read(root, path), content)
    }
  })

  test(`paths that leave, links, and what is no file are refused by their codes (${holding})`, { skip }, async (t) => {
    const root = prepare(t)
    for (const [path, code] of [
      ['', 'INVALID_ARGUMENT'],
      ['/etc/passwd', 'INVALID_ARGUMENT'],
      [join(root, 'SKILL.md'), 'INVALID_ARGUMENT'],
      ['a\0b', 'INVALID_ARGUMENT'],
      ['a\ud800', 'INVALID_ARGUMENT'],
      ['a'.repeat(5_000), 'INVALID_ARGUMENT'],
      ['a'.repeat(300), 'INVALID_ARGUMENT'],
      ['.', 'INVALID_ARGUMENT'],
      ['sub', 'INVALID_ARGUMENT'],
      ['sub/', 'INVALID_ARGUMENT'],
      ['..', 'PATH_OUTSIDE'],
      ['../outside.txt', 'PATH_OUTSIDE'],
      ['../root-evil/secret.txt', 'PATH_OUTSIDE'],
      ['sub/../../outside.txt', 'PATH_OUTSIDE'],
      ['link', 'PATH_OUTSIDE'],
      ['inner-link', 'PATH_OUTSIDE'],
      ['up/outside.txt', 'PATH_OUTSIDE'],
      ['linked-sub/file.txt', 'PATH_OUTSIDE'],
      ['self', 'PATH_OUTSIDE'],
      ['nowhere', 'FILE_NOT_FOUND'],
      ['sub/nowhere/x', 'FILE_NOT_FOUND'],
      ['SKILL.md/x', 'FILE_NOT_FOUND'],
      ['~/.ssh/id_rsa', 'FILE_NOT_FOUND'],
      ['..\\outside.txt', process.platform === 'win32' ? 'PATH_OUTSIDE' : 'FILE_NOT_FOUND'],
      ['file:///etc/passwd', 'FILE_NOT_FOUND'],
      ['%2e%2e/outside.txt', 'FILE_NOT_FOUND'],
    ] as const) {
      await fails(root, path, code)
    }
    await fails(join(root, 'nowhere'), 'SKILL.md', 'FILE_NOT_FOUND')
    await fails(join(root, 'SKILL.md'), 'x', 'FILE_NOT_FOUND')
  })

  test(`a root that is a link, or lies behind one, is refused (${holding})`, { skip }, async (t) => {
    const root = prepare(t)
    symlinkSync('root', join(root, '../root-link'))
    await fails(join(root, '../root-link'), 'SKILL.md', 'PATH_OUTSIDE')
    await fails(join(root, '../root-link/sub'), 'file.txt', 'PATH_OUTSIDE')
  })

  test(
    `a FIFO, a socket and a device are refused without waiting (${holding})`,
    { skip: skip || noFifo },
    async (t) => {
      const root = prepare(t)
      execFileSync('mkfifo', [join(root, 'fifo')])
      const server = createServer().listen(join(root, 'socket'))
      await new Promise((resolve) => server.once('listening', resolve))
      t.after(() => server.close())
      await fails(root, 'fifo', 'INVALID_ARGUMENT')
      await fails(root, 'socket', 'INVALID_ARGUMENT')
      await fails('/dev', 'zero', 'INVALID_ARGUMENT')
    },
  )

  test(`more bytes than allowed are not read (${holding})`, { skip }, async (t) => {
    const root = prepare(t)
    assert.equal(await read(root, 'SKILL.md', 5), 'skill')
    await fails(root, '...', 'LIMIT_EXCEEDED')
    truncateSync(join(root, 'a..b'), 5 * 2 ** 30)
    await fails(root, 'a..b', 'LIMIT_EXCEEDED')
  })
}

test(
  'a file without a size of its own is read to its end',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async () => {
    const { bytes } = await readContained('/proc', 'version', { maxBytes: 10_000 })
    assert.match(Buffer.from(bytes).toString(), /Linux/)
  },
)

test('a large file is read whole, in slices, with its stamp and its executable bit', async (t) => {
  const root = temporaryDirectory(t)
  const content = Buffer.alloc(3_000_001, 'abc')
  writeFiles(root, { 'bin/run': content })
  chmodSync(join(root, 'bin/run'), 0o755)
  const { bytes, path, stamp, executable } = await readContained(root, 'bin/run', { maxBytes: 4_000_000 })
  const { mtimeMs, size, ino } = statSync(join(root, 'bin/run'))
  assert.ok(content.equals(bytes))
  assert.deepEqual([path, stamp, executable], [join(root, 'bin/run'), { mtimeMs, size, inode: ino }, true])
})

test('what may not be read says so', async (t) => {
  const root = prepare(t)
  chmodSync(root, 0o755)
  chmodSync(join(root, 'SKILL.md'), 0)
  await asNobody(() =>
    assert.rejects(
      readContained(root, 'SKILL.md', { maxBytes: 10 }),
      (error) => isNexusError(error) && error.code === 'SKILL_INVALID' && /permission denied/.test(error.message),
    ),
  )
})

test('an aborted read rejects with CANCELLED', async (t) => {
  const root = prepare(t)
  const cancelled = (error: unknown): boolean => isNexusError(error) && error.code === 'CANCELLED'
  await assert.rejects(readContained(root, 'SKILL.md', { maxBytes: 10, signal: AbortSignal.abort() }), cancelled)
})

test(
  'no descriptor stays open, whether a read succeeds or fails',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async (t) => {
    const root = prepare(t)
    linkSync(join(root, 'SKILL.md'), join(root, 'hard'))
    mkdirSync(join(root, 'empty'))
    const open = (): number => readdirSync('/proc/self/fd').length
    const before = open()
    for (const holding of ['descriptors', 'paths'] as const) {
      for (const path of [
        'SKILL.md',
        'hard',
        'sub/file.txt',
        'sub/nowhere',
        'link',
        'up/outside.txt',
        'sub',
        'empty/x',
      ]) {
        await readContained(root, path, { maxBytes: 5, holding }).catch(() => undefined)
      }
    }
    assert.equal(open(), before)
  },
)

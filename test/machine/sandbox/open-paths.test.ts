/** Commands that may see and change only parts of their workspace. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { isNexusError } from '../../../src/kernel/index.ts'
import type { CommandRequest, LocalOptions } from '../../../src/machine/sandbox/index.ts'
import { openPaths } from '../../../src/machine/sandbox/open-paths.ts'
import { openRig } from './local-rig.ts'
import { picture } from './mirror-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false

const FILES = {
  'src/a.ts': 'a',
  'src/deep/keys/id': 'secret',
  'ref/b.md': 'b',
  'private/key': 'secret',
  '.env': 'secret',
  'skills/mine/SKILL.md': 'skill',
}

/** A workspace with `FILES`, and commands in it under limits that are relative to it. */
async function openTree(context: TestContext, more: Partial<LocalOptions> = {}) {
  const rig = await openRig(context, more)
  const { workspace } = rig
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(workspace, dirname(path)), { recursive: true })
    writeFileSync(join(workspace, path), text)
  }
  const before = picture(workspace)
  const absolute = (paths: readonly string[]): string[] => paths.map((path) => join(workspace, path))
  return {
    ...rig,
    unchanged: () => assert.deepEqual(picture(workspace), before),
    under: (
      { read, write, closed }: { read?: readonly string[]; write?: readonly string[]; closed?: readonly string[] },
      command: string,
      request: Partial<CommandRequest> = {},
    ) =>
      rig.run(command, {
        ...request,
        paths: {
          ...(read && { readPaths: absolute(read) }),
          ...(write && { writePaths: absolute(write) }),
          ...(closed && { blockedPaths: absolute(closed) }),
        },
      }),
  }
}

const codeIs = (code: string) => (error: unknown) => isNexusError(error) && error.code === code

test('what may be read but not written is read-only, and the rest is not there', { skip }, async (context) => {
  const { under, workspace } = await openTree(context)
  const { stdout, stderr, notes } = await under(
    { read: ['src', 'ref'], write: ['src'] },
    'find . -type f | sort; echo new > src/new.ts; echo x > ref/b.md; echo x > ref/c.md; echo x > top; mkdir private; rm -f ref/b.md; cat ref/b.md; pwd',
  )
  assert.equal(stdout, `./ref/b.md\n./src/a.ts\n./src/deep/keys/id\nb${workspace}\n`)
  assert.deepEqual([...stderr.matchAll(/Read-only file system/g)].length, 5, stderr)
  assert.deepEqual(readdirSync(workspace).toSorted(), ['.env', 'private', 'ref', 'skills', 'src'])
  assert.equal(readFileSync(join(workspace, 'src/new.ts'), 'utf8'), 'new\n')
  assert.deepEqual(readdirSync(join(workspace, 'ref')), ['b.md'])
  assert.deepEqual(notes, [])
})

test('without a right to write the whole workspace is read-only', { skip }, async (context) => {
  const { under, unchanged } = await openTree(context)
  const { stdout, exitCode } = await under({ write: [] }, 'cat private/key; rm -rf . 2> /dev/null; echo x > src/a.ts')
  assert.deepEqual([stdout, exitCode], ['secret', 1])
  unchanged()
})

test('what is blocked is not there, as a directory and as a file', { skip }, async (context) => {
  const { under, unchanged } = await openTree(context)
  const { stdout } = await under(
    { closed: ['private', '.env', 'src/deep/keys'] },
    'cat .env private/key src/deep/keys/id 2> /dev/null; ls private src/deep/keys; grep -rl secret . 2> /dev/null; echo end',
  )
  assert.equal(stdout, 'private:\n\nsrc/deep/keys:\nend\n')
  unchanged()
})

test(
  'a blocked directory cannot be moved, with what contains it either, and a later command finds nothing',
  { skip },
  async (context) => {
    const { under, workspace, unchanged } = await openTree(context)
    const limits = { closed: ['private', 'src/deep/keys'] }
    const { stderr } = await under(
      limits,
      `mv private p2; mv src s2; mv src/deep src/d2; node -e 'require("fs").renameSync("src/deep/keys", "k2")'; rm -rf src/deep`,
    )
    assert.match(stderr, /Device or resource busy/)
    const { stdout } = await under(limits, 'grep -rl secret . 2> /dev/null; ls')
    assert.equal(stdout, './.env\nprivate\nref\nskills\nsrc\n')
    assert.ok(existsSync(join(workspace, 'src/deep/keys/id')))
    unchanged()
  },
)

test('`..`, links and hard links lead to nothing more', { skip }, async (context) => {
  const { under, workspace } = await openTree(context)
  symlinkSync('../private/key', join(workspace, 'src/link'))
  symlinkSync('../private', join(workspace, 'src/way'))
  const limits = { read: ['src', 'ref'], write: ['src'] }
  const { stdout, notes } = await under(
    limits,
    [
      'cat src/../private/key src/link src/way/key ../*/private/key /proc/self/root/$PWD/private/key /proc/1/cwd/private/key',
      'ln private/key src/hard; ln ref/b.md src/b; echo changed >> src/b; ln -s ../ref/b.md src/soft; echo changed >> src/soft',
      'cd src/..; cat private/key; ls',
    ].join('; '),
  )
  assert.equal(stdout, 'ref\nsrc\n')
  assert.equal(readFileSync(join(workspace, 'ref/b.md'), 'utf8'), 'b')
  assert.deepEqual(notes, [])
})

test('a hard link that is there already changes only under the name that may be written', { skip }, async (context) => {
  const { under, workspace } = await openTree(context)
  linkSync(join(workspace, 'ref/b.md'), join(workspace, 'src/b.md'))
  await under({ read: ['src', 'ref'], write: ['src'] }, 'echo changed > src/b.md')
  const texts = ['src', 'ref'].map((place) => readFileSync(join(workspace, place, 'b.md'), 'utf8'))
  assert.deepEqual(texts, ['changed\n', 'b'])
})

test('an allowed path that is a link by now opens nothing', { skip }, async (context) => {
  const { run, under, workspace } = await openTree(context)
  await run('ln -s private out; mkdir sub; ln -s ../private sub/out')
  for (const path of ['out', 'sub/out', 'out/key', 'sub/out/key']) {
    const { stdout, notes } = await under({ read: [path, 'ref'], write: [path] }, `cat ${path} ${path}/key; ls -A`)
    assert.equal(stdout, 'ref\n', path)
    assert.deepEqual(notes, [
      `The command could write nothing to ${path}: it does not exist. Create it outside the sandbox.`,
    ])
  }
  assert.deepEqual(readdirSync(join(workspace, 'private')), ['key'])
})

test('a blocked path closes what its links lead to', { skip }, async (context) => {
  const { under, workspace } = await openTree(context)
  symlinkSync('private', join(workspace, 'name'))
  const { stdout } = await under({ closed: ['name'] }, 'cat private/key name/key 2> /dev/null; ls private')
  assert.equal(stdout, '')
})

test('what is blocked and does not exist is not made', { skip }, async (context) => {
  const { under, workspace } = await openTree(context)
  const { notes } = await under(
    { closed: ['later/place'] },
    'mkdir -p later/place; echo x > later/place/file; echo y > later/file',
  )
  assert.deepEqual(picture(join(workspace, 'later')), { file: 'y\n' })
  assert.match(notes.join('\n'), /Nexus holds later\/place/)
})

test('a right to write a protected place does not open it', { skip }, async (context) => {
  const { under, workspace, unchanged } = await openTree(context)
  const place = ['skills/mine']
  const { notes } = await under(
    { read: place, write: place },
    'echo evil > skills/mine/SKILL.md; mkdir -p skills/mine/x',
  )
  assert.match(notes.join('\n'), /Nexus holds skills \(it holds skills\)/)
  assert.equal(readFileSync(join(workspace, 'skills/mine/SKILL.md'), 'utf8'), 'skill')
  unchanged()
})

test(
  'commands of one workspace under other limits see no more of each other than of the host',
  { skip },
  async (context) => {
    const { run, under } = await openTree(context)
    const narrow = { read: ['src'], write: ['src'] }
    for (let round = 0; round < 3; round++) {
      assert.equal((await run('cat private/key')).stdout, 'secret')
      assert.equal((await under(narrow, 'cat private/key; ls')).stdout, 'src\n')
    }
    const [wide, narrowed] = await Promise.all([run('ls | wc -l'), under(narrow, 'ls')])
    assert.deepEqual([wide.stdout.trim(), narrowed.stdout], ['4', 'src\n'])
  },
)

test('a command starts only where it may read', { skip }, async (context) => {
  const { under } = await openTree(context)
  const limits = { read: ['src/deep', 'ref'], closed: ['src/deep/keys'] }
  assert.equal((await under(limits, 'ls', { cwd: 'src' })).stdout, 'deep\n')
  for (const cwd of ['private', 'src/deep/keys'])
    await assert.rejects(under(limits, 'ls', { cwd }), codeIs('PATH_OUTSIDE'))
  await assert.rejects(under({ read: [] }, 'ls'), codeIs('PATH_OUTSIDE'))
  await assert.rejects(under({ closed: [''] }, 'ls'), codeIs('PATH_OUTSIDE'))
})

test('without a sandbox a command with limits on paths or network does not run', async (context) => {
  const { workspace } = await openTree(context)
  const { createSandbox } = await import('../../../src/machine/sandbox/index.ts')
  const none = await createSandbox({ kind: 'none', projectId: 'default' })
  context.after(() => none.close())
  for (const limits of [{ paths: { writePaths: [] } }, { networkDomains: [] }])
    await assert.rejects(none.run({ command: 'ls', workspace, ...limits }), codeIs('SANDBOX_UNAVAILABLE'))
  assert.equal((await none.run({ command: 'echo ran', workspace, paths: {} })).stdout, 'ran\n')
})

test('limits may name the workspace by another path, and by what contains it', (context) => {
  const parent = execFileSync('mktemp', ['-d']).toString().trim()
  context.after(() => execFileSync('rm', ['-rf', parent]))
  const real = join(parent, 'real')
  mkdirSync(join(real, 'src'), { recursive: true })
  const given = join(parent, 'given')
  symlinkSync('real', given)
  symlinkSync('/', join(real, 'root'))
  const open = (readPaths: readonly string[]) => openPaths({ given, real }, { readPaths, writePaths: readPaths })
  assert.equal(open([parent]), undefined)
  assert.equal(open(['/']), undefined)
  assert.equal(open([given]), undefined)
  assert.deepEqual(open([join(given, 'src')]), { read: ['src'], write: ['src'], closed: [] })
  assert.deepEqual(open([join(real, 'src'), join(real, 'src/deep')])?.read, ['src'])
  assert.deepEqual(open([join(real, 'root')])?.read, ['root'], 'a link in the workspace is not followed')
  assert.throws(() => open([`${real}-other`]), codeIs('PATH_OUTSIDE'))
  assert.throws(() => open(['relative']), codeIs('PATH_OUTSIDE'))
})

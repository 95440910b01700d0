/** Dependencies in the copy of a workspace: as root commands add to them under other names of the same files; else they are bound read-only. */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createSandbox } from '../../src/machine/sandbox/index.ts'
import { IS_ROOT, localOptions, openPlace, openRig } from '../machine/sandbox/local-rig.ts'
import { openMirror, picture } from '../machine/sandbox/mirror-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const skip = whySkipped() ?? false

function put(workspace: string, files: readonly string[]): void {
  for (const path of files) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), 'given')
  }
}

const FILES = [
  'node_modules/a/index.js',
  'packages/b/node_modules/c/index.js',
  '.venv/pyvenv.cfg',
  '.tox/x',
  'vendor/bundle/gem',
  'venv/own.py',
  'dist/out.js',
]

test('dependencies are not copied; build output and directories of the user are', { skip }, async (context) => {
  const { host, inside, mirror } = openMirror(context)
  put(host, FILES)
  await mirror.pull()
  const files = Object.keys(picture(inside)).filter((path) => FILES.includes(path))
  assert.deepEqual(files.toSorted(), ['dist/out.js', 'venv/own.py'])
  assert.deepEqual([...mirror.bound].toSorted(), [
    '.tox',
    '.venv',
    'node_modules',
    'packages/b/node_modules',
    'vendor/bundle',
  ])
  assert.deepEqual(await mirror.push(), [])
  assert.equal(Object.values(picture(host)).filter((text) => text === 'given').length, FILES.length)
})

test(
  'in a copy commands read dependencies and change nothing of the workspace; where they cannot write, the note names the setting',
  { skip },
  async (context) => {
    const { workspace, run } = await openRig(context, { workspaceMode: 'mirror' })
    put(workspace, FILES)
    const before = picture(workspace)
    const { stdout, notes } = await run(
      'cat node_modules/a/index.js packages/b/node_modules/c/index.js; echo x > node_modules/a/index.js; rm -rf node_modules packages/b/node_modules; chmod 777 node_modules; mv node_modules other; ln -s /etc node_modules/l; :',
    )
    assert.equal(stdout, 'givengiven')
    assert.deepEqual(picture(workspace), before)
    const named = notes.some((note) => note.includes('execution.workspace.writable: [node_modules]'))
    assert.equal(named, !IS_ROOT, notes.join('\n'))
  },
)

test('a dependency directory that a setting opens is copied and comes back', { skip }, async (context) => {
  const { workspace, run } = await openRig(context, { writableNames: ['node_modules'] })
  put(workspace, FILES)
  const { notes } = await run('echo changed > node_modules/a/index.js')
  assert.deepEqual([notes, readFileSync(join(workspace, 'node_modules/a/index.js'), 'utf8')], [[], 'changed\n'])
})

test('dependencies in a directory that the user of commands cannot enter are copied', { skip }, async (context) => {
  const { workspace, run } = await openRig(context)
  put(workspace, FILES)
  chmodSync(dirname(workspace), 0o700)
  const { stdout } = await run('cat node_modules/a/index.js')
  assert.equal(stdout, 'given')
})

test('limits on paths hold in dependencies too', { skip }, async (context) => {
  const { workspace, run } = await openRig(context)
  put(workspace, FILES)
  const paths = { blockedPaths: [join(workspace, 'node_modules')] }
  await run('true')
  const { stdout } = await run('cat node_modules/a/index.js; cat packages/b/node_modules/c/index.js', { paths })
  assert.equal(stdout, 'given')
  assert.equal((await run('cat node_modules/a/index.js')).stdout, 'given')
})

const asRoot = IS_ROOT ? skip : 'only commands of root run as another user'

test(
  'as root commands add packages, replace and remove files, for later commands and processes; the files of the workspace stay as they are',
  { skip: asRoot },
  async (context) => {
    const { stateDir, workspace } = openPlace(context)
    const run = async (command: string) => {
      const sandbox = await createSandbox(localOptions({ stateDir }))
      try {
        return await sandbox.run({ command, workspace })
      } finally {
        await sandbox.close()
      }
    }
    const given = ['a/index.js', 'a/open.js', 'a/closed.js', 'a/theirs.js', 'b/i.js'].map(
      (name) => `node_modules/${name}`,
    )
    put(workspace, given)
    const at = (name: string): string => join(workspace, 'node_modules', name)
    chmodSync(at('a/open.js'), 0o666)
    chmodSync(at('a/closed.js'), 0o600)
    chmodSync(at('b'), 0o700)
    const about = (): unknown =>
      given.map((path) => {
        const { mode, uid, ino, nlink } = lstatSync(join(workspace, path))
        return { path, mode, uid, ino, isShared: nlink > 1, text: readFileSync(join(workspace, path), 'utf8') }
      })
    const before = JSON.stringify(about()).replaceAll('"isShared":false', '"isShared":true')
    const writes = [
      'for f in node_modules/*/*; do echo x >> $f; chmod 777 $f; truncate -s 0 $f; done',
      'echo new > n; mv n node_modules/b/i.js; rm node_modules/a/index.js; mkdir node_modules/new; echo 1 > node_modules/new/i.js',
      'cat node_modules/a/closed.js node_modules/*/i.js',
    ]
    const first = await run(writes.join('; '))
    // The command's own copies of files that others could write, or not read, are its own.
    assert.equal(first.stdout, 'new\n1\n', first.stderr)
    assert.match(first.notes.join('\n'), /^node_modules: installed packages stay outside the workspace/m)
    const after = JSON.stringify(about()).replaceAll('"isShared":false', '"isShared":true')
    assert.equal(after, before)
    const later = await run('ls node_modules/a; cat node_modules/*/i.js')
    assert.deepEqual([later.stdout, later.notes], ['closed.js\nopen.js\ntheirs.js\nnew\n1\n', []])
    // The workspace has other packages by now: they are seen.
    put(workspace, ['node_modules/c/i.js'])
    assert.equal((await run('ls node_modules; cat node_modules/*/i.js')).stdout, 'a\nb\nc\ngivengiven')
    rmSync(join(workspace, 'node_modules'), { recursive: true })
    assert.equal((await run('ls -A')).stdout, '')
  },
)

test(
  'no command can write to a file of the workspace under its other name, whoever owns it',
  { skip: asRoot },
  async (context) => {
    const { workspace, run } = await openRig(context)
    put(workspace, ['node_modules/a/i.js'])
    const { stdout } = await run('id -u; id -g')
    const [uid = 0, gid = 0] = stdout.split('\n').map(Number)
    // As an earlier version, or the user, could have given it away.
    chownSync(join(workspace, 'node_modules/a/i.js'), uid, gid)
    put(workspace, ['node_modules/b/i.js'])
    await run('for f in node_modules/*/i.js; do echo x >> $f; chmod 600 $f; done; ln node_modules/b/i.js other')
    for (const name of ['a', 'b']) {
      const file = join(workspace, 'node_modules', name, 'i.js')
      assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o777], ['given', 0o644])
    }
  },
)

test(
  'packages that cannot be linked are copied within the limits, and beyond them bound',
  { skip: asRoot },
  async (context) => {
    const { host, inside, mirror } = openMirror(context, { maxFiles: 10 }, { uid: 200_000, gid: 200_000 })
    const few = ['node_modules/a/1', 'node_modules/a/2']
    put(host, few)
    for (const path of few) chmodSync(join(host, path), 0o666)
    await mirror.pull()
    assert.deepEqual([mirror.bound, picture(inside)['node_modules/a/1']], [[], 'given'])
    const many = Array.from({ length: 12 }, (_, index) => `node_modules/b/${index}`)
    put(host, many)
    put(host, ['node_modules/new'])
    for (const path of many) chmodSync(join(host, path), 0o666)
    await mirror.pull()
    assert.deepEqual([mirror.bound, picture(inside)], [['node_modules'], { node_modules: '/' }])
    assert.deepEqual(await mirror.push(), [])
  },
)

/** Dependencies are bound read-only into the copy of a workspace: nothing is copied, and nothing can be changed. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openRig } from '../machine/sandbox/local-rig.ts'
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
  'in a copy commands read dependencies and change nothing; the note names the setting',
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
    assert.ok(
      notes.some((note) => note.includes('execution.workspace.writable: [node_modules]')),
      notes.join('\n'),
    )
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

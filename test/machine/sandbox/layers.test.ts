/** Commands of a normal user, over a workspace that is not copied. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { drop, recordsOf } from '../../../src/machine/changes/index.ts'
import { partName, Tree } from '../../../src/machine/files/index.ts'
import { workspaceModeOf } from '../../../src/machine/sandbox/index.ts'
import { IS_ROOT, localOptions, openPlace, openRig, outputOf, STATE_DIR, startParent } from './local-rig.ts'
import { picture } from './mirror-rig.ts'
import { whySkipped } from './required.ts'

const skip =
  (whySkipped() ?? false) || (IS_ROOT && 'root works in a mirror; normal-user.test.ts runs this file as a normal user')

function put(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
}

test('a normal user works in layers, and who may not is told why', { skip }, async (context) => {
  const { workspace } = await openRig(context)
  assert.deepEqual(await workspaceModeOf(workspace, localOptions()), { mode: 'layers' })
  const { mode, why } = await workspaceModeOf(workspace, localOptions({ programDirectories: [workspace] }))
  assert.deepEqual([mode, why], ['mirror', 'unshare of util-linux is not installed'])
  put(workspace, { unshare: '#!/bin/sh\necho not here >&2; exit 1\n' })
  execFileSync('chmod', ['755', join(workspace, 'unshare')])
  const refused = await workspaceModeOf(
    workspace,
    localOptions({ programDirectories: [workspace], stateDir: `${workspace}.state` }),
  )
  context.after(() => rmSync(`${workspace}.state`, { recursive: true, force: true }))
  assert.match(refused.why ?? '', /allows no overlay here \(not here\)/)
})

test('what replaces, empties, removes or hides a directory comes back as it is', { skip }, async (context) => {
  const { run, workspace } = await openRig(context)
  // Of a process that was killed.
  put(workspace, { [`stay/${partName().replace(`-${process.pid}-`, '-999999999-')}`]: '' })
  put(workspace, { 'd/1': '', 'd/e/2': '', 'gone/a/b': '', 'file/x': '', own: '', 'stay/1': 's', 'stay/2': 's' })
  const { notes } = await run(
    'rm -r d; mkdir d; echo n > d/n; rm -r gone; rm -r file; echo f > file; rm own; mkdir own; touch own/in; rm stay/1; ln -s stay l; rm -r stay/3 2>/dev/null; mv stay stay2; mkfifo pipe; truncate -s 20M sparse',
  )
  assert.deepEqual(notes, [
    'Nexus did not keep pipe: it is a device, a pipe or a socket. Write to a regular file instead.',
  ])
  const { sparse, ...rest } = picture(workspace)
  assert.deepEqual(
    [sparse?.length, Object.keys(rest).toSorted()],
    [20 * 1024 * 1024, ['d', 'd/n', 'file', 'l', 'own', 'own/in', 'stay2', 'stay2/2']],
  )
  assert.equal(rest['file'], 'f\n')
})

test(
  'what stays beside the workspace is there for later commands of other processes, until the workspace has its own',
  { skip },
  async (context) => {
    const { run, workspace } = await openRig(context)
    put(workspace, { 'node_modules/old/i.js': 'old', 'node_modules/up/i.js': '1' })
    const { changes } = await run(
      'mkdir node_modules/new; echo new > node_modules/new/i.js; echo 2 > node_modules/up/i.js; rm -r node_modules/old; mkdir -p src/__pycache__; touch src/__pycache__/a src/a.py',
    )
    assert.deepEqual(changes?.applied, ['src/a.py'])
    assert.deepEqual(readdirSync(join(workspace, 'node_modules')).toSorted(), ['old', 'up'])
    const later = await openRig(context)
    const look = 'cat node_modules/*/i.js; ls src/__pycache__ node_modules'
    const { stdout } = await later.run(look, { workspace })
    assert.equal(stdout, 'new\n2\nnode_modules:\nnew\nup\n\nsrc/__pycache__:\na\n')
    // Merged once more, over a directory that the layer has.
    await later.run('rm -r node_modules/up; mkdir node_modules/up; echo 3 > node_modules/up/j.js', { workspace })
    assert.equal((await run('cat node_modules/up/*')).stdout, '3\n')
    put(workspace, { 'node_modules/mine/i.js': 'mine' })
    assert.equal((await run('ls node_modules; ls src/__pycache__')).stdout, 'mine\nold\nup\na\n')
    rmSync(join(workspace, 'src'), { recursive: true })
    writeFileSync(join(workspace, 'src'), 'a file by now')
    assert.equal((await run('cat src')).stdout, 'a file by now')
  },
)

test('a held removal is hidden from later commands, until it is dropped', { skip }, async (context) => {
  const { run, workspace } = await openRig(context)
  put(workspace, { '.envrc': 'own', '.vscode/a/tasks.json': '{}', '.vscode/b': '' })
  await run('rm -r .envrc .vscode')
  assert.deepEqual(readdirSync(workspace).toSorted(), ['.envrc', '.vscode'])
  assert.equal((await run('ls -A')).stdout, '')
  // In the hidden directory, what was there stays hidden.
  await run('mkdir .vscode; echo new > .vscode/c')
  assert.equal((await run('ls -A . .vscode')).stdout, '.:\n.vscode\n\n.vscode:\nc\n')
  const records = recordsOf(STATE_DIR, workspace)
  const host = new Tree(workspace)
  context.after(() => host.close())
  for (const set of records.list()) await drop({ records, host, set }, { paths: [] })
  assert.equal((await run('ls -A . .vscode')).stdout, '.:\n.envrc\n.vscode\n\n.vscode:\na\nb\n')
})

test('where a link with a held name leads is held, also when the link is new', { skip }, async (context) => {
  const { run, workspace } = await openRig(context)
  put(workspace, { 'tools/a': 'own', 'tools/b': 'own' })
  symlinkSync('tools/a', join(workspace, '.envrc'))
  assert.deepEqual((await run('echo x > tools/a')).changes?.held, ['tools/a'])
  mkdirSync(join(workspace, 'sub/.vscode'), { recursive: true })
  symlinkSync('../../tools/b', join(workspace, 'sub/.vscode/tasks.json'))
  assert.deepEqual((await run('echo x > tools/b')).changes?.held, ['tools/b'])
})

test('a file that changed while a command ran is a conflict', { skip }, async (context) => {
  const { run, workspace } = await openRig(context)
  put(workspace, { a: 'old', b: 'old', c: 'old' })
  const { notes } = await run('touch begun; echo x | tee a b new > /dev/null; rm c; echo begun; read', {
    stdin: '',
    onOutput: () => put(workspace, { a: 'by hand', new: 'by hand', c: 'by hand' }),
  })
  assert.match(notes.join(), /did not change a, c, new: another program changed it/)
  assert.deepEqual(picture(workspace), { a: 'by hand', b: 'x\n', begun: '', c: 'by hand', new: 'by hand' })
})

test(
  'the layer of another workspace at the same place is not used, and a killed command leaves nothing',
  { skip },
  async (context) => {
    const place = openPlace(context)
    await outputOf(startParent(place, 'mkdir node_modules; touch node_modules/x'))
    rmSync(place.workspace, { recursive: true })
    mkdirSync(place.workspace)
    assert.doesNotMatch(await outputOf(startParent(place, 'ls -A')), /node_modules/)
    const parent = startParent(place, 'touch never; echo begun; sleep 300')
    await once(parent.stdout ?? parent, 'data')
    const layers = join(place.stateDir, 'layers')
    const uppers = (): string[] =>
      existsSync(layers)
        ? readdirSync(layers).flatMap((layer) =>
            readdirSync(join(layers, layer)).filter((name) => name.startsWith('up-')),
          )
        : []
    assert.equal(uppers().length, 1)
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    await outputOf(startParent(place, 'true'))
    assert.deepEqual([uppers(), readdirSync(place.workspace)], [[], []])
  },
)

test('a directory that cannot be renamed in one step is explained', { skip }, async (context) => {
  const { run, workspace } = await openRig(context)
  put(workspace, { 'd/x': 'x' })
  const { notes } = await run('git mv d e 2>&1; git init -q . && git add d && git mv d e')
  assert.match(notes.join('\n'), /cannot be renamed in one step here.*mv OLD NEW && git add -A OLD NEW/)
  assert.equal(readFileSync(join(workspace, 'd/x'), 'utf8'), 'x')
})

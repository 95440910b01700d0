import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { IS_ROOT, openDirectory, openRig } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip =
  (whySkipped() ?? false) || (IS_ROOT && 'root works in a mirror; normal-user.test.ts runs this file as a normal user')

test('the command works in the workspace itself and as ourselves', { skip }, async (context) => {
  const { run, workspace } = await openRig(context, { workspaceMode: 'direct' })
  writeFileSync(join(workspace, 'file'), 'old')
  const inode = statSync(join(workspace, 'file')).ino
  const { stdout } = await run('id -u; echo new > file; pwd')
  assert.equal(stdout, `${process.getuid?.()}\n${workspace}\n`)
  assert.deepEqual(
    [readFileSync(join(workspace, 'file'), 'utf8'), statSync(join(workspace, 'file')).ino],
    ['new\n', inode],
  )
})

test('protected places that exist can be read but not written, moved or removed', { skip }, async (context) => {
  const { run, workspace } = await openRig(context, { workspaceMode: 'direct' })
  mkdirSync(join(workspace, '.git/hooks'), { recursive: true })
  mkdirSync(join(workspace, 'sub/.vscode'), { recursive: true })
  for (const path of ['.git/config', '.git/HEAD', 'nexus.yaml', 'sub/.vscode/tasks.json'])
    writeFileSync(join(workspace, path), 'own')
  const { stdout, notes } = await run(
    [
      'cat nexus.yaml; echo',
      'echo evil > .git/config; echo evil > .git/hooks/pre-commit; echo evil > nexus.yaml; echo evil > sub/.vscode/tasks.json',
      'rm -rf .git/hooks nexus.yaml sub/.vscode; mv .git .git2; mv sub sub2; mv nexus.yaml x; echo main > .git/HEAD',
    ].join('; '),
  )
  assert.equal(stdout, 'own\n')
  assert.deepEqual(readdirSync(join(workspace, '.git/hooks')), [])
  for (const path of ['.git/config', 'nexus.yaml', 'sub/.vscode/tasks.json'])
    assert.equal(readFileSync(join(workspace, path), 'utf8'), 'own')
  assert.equal(readFileSync(join(workspace, '.git/HEAD'), 'utf8'), 'main\n', 'the rest of .git can be written')
  assert.deepEqual(notes, [])
})

test(
  'protected places that were absent are removed when a command made them, links without being followed',
  { skip },
  async (context) => {
    const other = openDirectory()
    context.after(() => rmSync(other, { recursive: true }))
    writeFileSync(join(other, 'kept'), 'x')
    const { run, workspace } = await openRig(context, { workspaceMode: 'direct' })
    symlinkSync(other, join(workspace, 'outside'))
    const { notes } = await run(
      `mkdir -p .git/hooks deep/er/.claude; echo evil | tee .git/hooks/pre-commit .git/config deep/er/.claude/settings.json .mcp.json > /dev/null; ln -s ${other} .vscode; echo good > file`,
    )
    assert.deepEqual(notes.map((note) => note.split(':', 1)[0]).sort(), [
      '.git/config',
      '.git/hooks',
      '.mcp.json',
      '.vscode',
      'deep/er/.claude',
    ])
    assert.deepEqual(readdirSync(workspace).sort(), ['.git', 'deep', 'file', 'outside'])
    assert.equal(existsSync(join(other, 'kept')), true)
  },
)

test('no stand-in files appear in the workspace while a command runs', { skip }, async (context) => {
  const { run, workspace } = await openRig(context, { workspaceMode: 'direct' })
  const seen: string[][] = []
  const { stdout } = await run('ls -A; sleep 0.2', { onOutput: () => void seen.push(readdirSync(workspace)) })
  assert.equal(stdout, '')
  const { stdout: inside } = await run('echo here; ls -A', { onOutput: () => void seen.push(readdirSync(workspace)) })
  assert.equal(inside, 'here\n')
  assert.deepEqual(seen.flat(), [])
})

test('a directory that the command closed is opened again and searched', { skip }, async (context) => {
  const { run, workspace } = await openRig(context, { workspaceMode: 'direct' })
  const { exitCode, notes } = await run(
    'mkdir -p a/b/.claude $TMPDIR/closed; touch a/b/.claude/x $TMPDIR/closed/x; chmod 000 a/b/.claude a/b a $TMPDIR/closed',
  )
  assert.equal(exitCode, 0)
  assert.deepEqual(
    notes.map((note) => note.split(':', 1)[0]),
    ['a', 'a/b', 'a/b/.claude'],
  )
  assert.deepEqual(readdirSync(join(workspace, 'a/b')), [])
})

test('what one command makes is not taken for yours by one that begins meanwhile', { skip }, async (context) => {
  const { run, workspace } = await openRig(context, { workspaceMode: 'direct' })
  const until = (name: string): string => `for i in {1..600}; do [ -e ${name} ] && break; sleep 0.1; done`
  const made = async (name: string): Promise<void> => {
    while (!existsSync(join(workspace, name))) await setTimeout(20)
  }
  const first = run(`mkdir .idea; echo evil > .idea/x; touch made; ${until('go')}`)
  await made('made')
  const second = run(`touch begun; ${until('go2')}; mkdir -p .idea; echo evil > .idea/x`)
  await made('begun')
  writeFileSync(join(workspace, 'go'), '')
  await first
  writeFileSync(join(workspace, 'go2'), '')
  await second
  assert.equal(existsSync(join(workspace, '.idea')), false)
})

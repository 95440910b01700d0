import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { drop, keep, recordsOf, type Records, undo } from '../../../src/machine/changes/index.ts'
import { Tree } from '../../../src/machine/files/index.ts'
import type { LocalOptions } from '../../../src/machine/sandbox/index.ts'
import { IS_ROOT, openRig, type Rig, STATE_DIR, longestStretch } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false

interface SetRig extends Rig {
  readonly records: Records
  readonly host: Tree
  read(path: string): string
  git(...args: readonly string[]): string
}

async function openSets(context: TestContext, options: Partial<LocalOptions> = {}): Promise<SetRig> {
  const rig = await openRig(context, options)
  const host = new Tree(rig.workspace)
  context.after(() => host.close())
  return {
    ...rig,
    host,
    records: recordsOf(STATE_DIR, rig.workspace),
    read: (path) => readFileSync(join(rig.workspace, path), 'utf8'),
    git: (...args) =>
      execFileSync('git', ['-c', 'safe.directory=*', '-C', rig.workspace, ...args], { encoding: 'utf8' }),
  }
}

const ALL = { paths: [], force: false }

test(
  'a command changes, makes and removes files: the set names them, and undo restores them all',
  { skip },
  async (context) => {
    const { run, workspace, records, host, read } = await openSets(context)
    mkdirSync(join(workspace, 'src'))
    writeFileSync(join(workspace, 'src/a.txt'), 'old\n')
    writeFileSync(join(workspace, 'gone.txt'), 'gone\n')
    writeFileSync(join(workspace, 'run.sh'), '#!/bin/sh\n')
    chmodSync(join(workspace, 'run.sh'), 0o644)
    const { changes, notes } = await run(
      'echo new > src/a.txt; mkdir d; echo x > d/new.txt; rm gone.txt; chmod +x run.sh; ln -s src/a.txt l',
    )
    assert.deepEqual(notes, [])
    assert.deepEqual([...(changes?.applied ?? [])].sort(), ['d/new.txt', 'gone.txt', 'l', 'run.sh', 'src/a.txt'])
    const [set] = records.list()
    assert.ok(set)
    assert.deepEqual([set.id, set.state, set.workspace], [changes?.id, 'applied', workspace])
    assert.equal(read('src/a.txt'), 'new\n')
    const outcomes = await undo({ records, host, set }, ALL)
    assert.ok(
      outcomes.every(({ result }) => result === 'done'),
      JSON.stringify(outcomes),
    )
    assert.deepEqual([read('src/a.txt'), read('gone.txt')], ['old\n', 'gone\n'])
    assert.equal(existsSync(join(workspace, 'd')), false)
    assert.equal(existsSync(join(workspace, 'l')), false)
    assert.equal(statSync(join(workspace, 'run.sh')).mode & 0o777, 0o644)
    assert.equal(records.find(set.id)?.state, 'undone')
    assert.equal((await run('cat src/a.txt gone.txt; ls')).stdout, 'old\ngone\ngone.txt\nrun.sh\nsrc\n')
  },
)

test(
  'a command with a variable of a skill makes no set: its files come back, and what would be held does not',
  { skip },
  async (context) => {
    const { run, workspace, records, read } = await openSets(context)
    const secret = 'marked_0123456789abcdef'
    const { notes, changes } = await run('echo "$API_KEY" > plain.txt; echo "export A=1" > .envrc', {
      env: { API_KEY: secret },
    })
    assert.equal(changes, undefined)
    assert.equal(read('plain.txt'), `${secret}\n`)
    assert.equal(existsSync(join(workspace, '.envrc')), false)
    assert.match(notes.join('\n'), /made no change set.*\n.*did not take \.envrc/)
    assert.deepEqual(records.list(), [])
    // The mirror is a copy of the workspace, for as long as its process lives.
    const kept = spawnSync('grep', ['-rl', '--exclude-dir=live', secret, STATE_DIR]).stdout.toString()
    assert.equal(kept, '')
    assert.equal((await run('ls -A')).stdout, 'plain.txt\n')
  },
)

test(
  'what is held is not in the workspace, is there for later commands, and comes with keep',
  { skip },
  async (context) => {
    const { run, workspace, records, host, read } = await openSets(context)
    const { notes, changes } = await run(
      'echo "export A=1" > .envrc; mkdir .vscode; echo {} > .vscode/tasks.json; echo y > plain.txt',
    )
    assert.equal(read('plain.txt'), 'y\n')
    for (const name of ['.envrc', '.vscode']) {
      assert.equal(existsSync(join(workspace, name)), false, name)
      assert.match(notes.join('\n'), new RegExp(`Nexus holds .*${name} \\(`))
    }
    assert.deepEqual(changes?.held, ['.envrc', '.vscode'])
    const later = await run('cat .envrc .vscode/tasks.json')
    assert.equal(later.stdout, 'export A=1\n{}\n')
    assert.equal(later.changes, undefined, 'what was held already is no change')
    const another = await (await openRig(context)).run('cat .envrc .vscode/tasks.json', { workspace })
    assert.deepEqual([another.stdout, another.changes], [later.stdout, undefined], 'nor is it for another process')
    const [set] = records.list()
    assert.ok(set)
    await keep({ records, host, set }, { paths: ['.envrc'], force: false })
    assert.equal(read('.envrc'), 'export A=1\n')
    assert.equal(existsSync(join(workspace, '.vscode')), false)
    await drop({ records, host, set }, { paths: ['.vscode'] })
    const last = await run('cat .envrc; ls -A .vscode 2>&1')
    assert.match(last.stdout, /^export A=1\n.*No such file/)
    assert.equal(last.changes, undefined)
  },
)

test('undo and keep leave and name a file that changed since, and take it when forced', { skip }, async (context) => {
  const { run, workspace, records, host, read } = await openSets(context)
  for (const name of ['a', 'b']) writeFileSync(join(workspace, name), 'old\n')
  await run('echo new | tee a b .c')
  writeFileSync(join(workspace, 'b'), 'by hand\n')
  writeFileSync(join(workspace, '.c'), 'by hand\n')
  const [set] = records.list()
  assert.ok(set)
  assert.deepEqual(await keep({ records, host, set }, ALL), [{ path: '.c', result: 'changed-since' }])
  assert.equal(read('.c'), 'by hand\n')
  await keep({ records, host, set }, { paths: ['.c'], force: true })
  assert.equal(read('.c'), 'new\n')
  writeFileSync(join(workspace, '.c'), 'by hand\n')
  const outcomes = await undo({ records, host, set }, ALL)
  assert.deepEqual(
    outcomes.map(({ path, result }) => [path, result]),
    [
      ['.c', 'changed-since'],
      ['a', 'done'],
      ['b', 'changed-since'],
    ],
  )
  assert.deepEqual([read('a'), read('b'), records.find(set.id)?.state], ['old\n', 'by hand\n', 'applied'])
  await undo({ records, host, set }, { paths: ['b', '.c'], force: true })
  assert.deepEqual([read('b'), records.find(set.id)?.state], ['old\n', 'undone'])
})

test('a hook, settings of git and a commit: the commit comes back, the rest is held', { skip }, async (context) => {
  const { run, workspace, git, records, host, read } = await openSets(context)
  git('init', '-q', '-b', 'main')
  writeFileSync(join(workspace, 'a'), 'one\n')
  git('add', '.')
  git('-c', 'user.name=u', '-c', 'user.email=e', 'commit', '-qm', 'one')
  const before = git('rev-parse', 'HEAD')
  const { notes, stderr, exitCode } = await run(
    'echo two > a; printf "#!/bin/sh\\ntouch pwned\\n" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git config core.pager evil; git -c user.name=u -c user.email=e commit --no-verify -qam two',
  )
  assert.equal(exitCode, 0, stderr)
  assert.match(notes.join('\n'), /Nexus holds .*\.git\/hooks/)
  assert.match(notes.join('\n'), /\.git\/config/)
  assert.equal(git('log', '--format=%s'), 'two\none\n')
  assert.equal(existsSync(join(workspace, '.git/hooks/pre-commit')), false)
  assert.doesNotMatch(read('.git/config'), /evil/)
  const [set] = records.list()
  assert.ok(set)
  await undo({ records, host, set }, ALL)
  assert.equal(git('rev-parse', 'HEAD'), before)
  assert.equal(read('a'), 'one\n')
})

test('a set that a killed process left half taken is undone by the next command', { skip }, async (context) => {
  const { run, workspace, records, read } = await openSets(context)
  writeFileSync(join(workspace, 'a'), 'old\n')
  writeFileSync(join(workspace, 'b'), 'old\n')
  await run('echo new | tee a b c')
  const [set] = records.list()
  assert.ok(set)
  // As it was after the first of three files.
  await records.write({ ...set, state: 'taking' }, { entries: records.entries(set.id) })
  writeFileSync(join(workspace, 'b'), 'old\n')
  rmSync(join(workspace, 'c'))
  const { stdout, notes } = await run('cat a b; ls')
  assert.equal(stdout, 'old\nold\na\nb\n')
  assert.match(notes.join(), /Nexus undid the change set/)
  assert.deepEqual([read('a'), read('b'), records.find(set.id)?.state], ['old\n', 'old\n', 'undone'])
})

for (const [name, replaced] of [
  ['a file', 'echo x > a'],
  ['a link', 'mkdir b; ln -s b a'],
] as const)
  test(`a held file whose directory became ${name} stops no later command`, { skip }, async (context) => {
    const rig = await openSets(context)
    await rig.run('mkdir a; echo x > a/.envrc; echo y > a/plain')
    await rig.run(`rm -r a; ${replaced}`)
    const later = await openRig(context)
    const { stdout, notes } = await later.run('echo works', { workspace: rig.workspace })
    assert.deepEqual([stdout, notes], ['works\n', []])
  })

test('a held file in the place of a directory is what later commands see', { skip }, async (context) => {
  const { run, workspace } = await openRig(context)
  mkdirSync(join(workspace, '.vscode/a'), { recursive: true })
  writeFileSync(join(workspace, '.vscode/a/own'), 'own')
  await run('echo new > .vscode/a/new; mkdir -p .d/e; echo new > .d/e/new')
  await run('rm -r .vscode .d; echo file | tee .vscode .d')
  // In a copy it does not hide a directory of the workspace.
  const names = IS_ROOT ? ['.d'] : ['.vscode', '.d']
  for (const { run: look } of [{ run }, await openRig(context)]) {
    const { stdout, changes, stderr } = await look(`cat ${names.join(' ')}`, { workspace })
    assert.deepEqual([stdout, changes], ['file\n'.repeat(names.length), undefined], stderr)
  }
  assert.deepEqual(readdirSync(join(workspace, '.vscode/a')), ['own'])
})

test('a file that a command closed to its owner costs no other change', { skip }, async (context) => {
  const { run, read, records, host } = await openSets(context)
  const { changes, notes } = await run('echo a > a; echo b > b; chmod 000 b')
  assert.deepEqual([changes?.applied.toSorted(), notes], [['a', 'b'], []])
  assert.equal(read('a'), 'a\n')
  const [set] = records.list()
  assert.ok(set)
  const outcomes = await undo({ records, host, set }, ALL)
  assert.deepEqual(
    outcomes.map(({ result }) => result),
    ['done', 'done'],
  )
})

test('what the user protects is held, and a name that they opened comes back', { skip }, async (context) => {
  const { run, workspace } = await openRig(context, { protectedGlobs: ['migrations/**'], writableNames: ['.envrc'] })
  const { changes } = await run('mkdir migrations; echo 1 > migrations/1.sql; echo x > .envrc')
  assert.deepEqual([changes?.held, changes?.applied], [['migrations', 'migrations/1.sql'], ['.envrc']])
  assert.deepEqual([existsSync(join(workspace, 'migrations')), existsSync(join(workspace, '.envrc'))], [false, true])
})

test('a set whose earlier bytes exceed the limit is held whole, and keep takes it', { skip }, async (context) => {
  const { run, workspace, records, host, read } = await openSets(context, { changes: { maxBytes: 10 } })
  writeFileSync(join(workspace, 'large'), 'more than ten bytes')
  const { changes, notes } = await run('echo x > large; echo y > small')
  assert.deepEqual([changes?.applied, changes?.held], [[], ['large', 'small']])
  assert.match(notes.join('\n'), /large \(the earlier bytes are more than execution\.changes\.maxBytes/)
  assert.deepEqual([read('large'), existsSync(join(workspace, 'small'))], ['more than ten bytes', false])
  const [set] = records.list()
  assert.ok(set)
  await keep({ records, host, set }, ALL)
  assert.deepEqual([read('large'), read('small')], ['x\n', 'y\n'])
})

test('a set is kept for as many days as the settings say', { skip }, async (context) => {
  const { run, workspace } = await openRig(context, { changes: { keepDays: 2 } })
  await run('echo x > a')
  const [set] = recordsOf(STATE_DIR, workspace).list()
  assert.equal(Date.parse(set?.expiresAt ?? '') - Date.parse(set?.createdAt ?? ''), 2 * 86_400_000)
})

test('1,000 changed files are taken without a stretch of 20 ms of work', { skip }, async (context) => {
  const { run, records, host, workspace } = await openSets(context)
  for (let file = 0; file < 1_000; file++) writeFileSync(join(workspace, `f${file}`), 'old')
  const longest: number[] = []
  // What is compiled for the first time takes longer; time of other programs is not counted.
  while (longest.length < 4 && !longest.some((ms) => ms < 20)) {
    const stretches = longestStretch()
    const { changes } = await run(`for f in f*; do printf ${longest.length} > $f; done`)
    longest.push(stretches.stop())
    assert.equal(changes?.applied.length, 1_000)
  }
  assert.ok(Math.min(...longest) < 20, longest.join(', '))
  const [set] = records.list()
  assert.ok(set)
  const stretches = longestStretch()
  assert.equal((await undo({ records, host, set }, ALL)).length, 1_000)
  assert.ok(stretches.stop() < 40)
})

/** What commits, the index and settings of a branch bring to git of the host, and what they must not: changes.md §2, A6 to A9. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { keep, undo } from '../../src/machine/changes/index.ts'
import { whySkipped } from '../machine/sandbox/required.ts'
import { AS, openRepository } from './git-rig.ts'

const skip = whySkipped() ?? false

const ALL = { paths: [], force: false }

test('an ordinary day comes back without keep: .github, a push, an installed package', { skip }, async (context) => {
  const { run, git, has, write, workspace } = await openRepository(context)
  git('checkout', '-qb', 'theirs')
  write('.github/CODEOWNERS', '* @them\n')
  git('add', '.')
  git('commit', '-qm', 'theirs')
  git('checkout', '-q', 'main')
  git('init', '-q', '--bare', 'remote.git')
  git('remote', 'add', 'origin', 'remote.git')
  git('push', '-q', 'origin', 'theirs')
  write('.git/info/exclude', 'remote.git\nx.tgz\nnode_modules\n')
  write('package/package.json', '{"name":"x","version":"1.0.0","main":"i.js"}')
  write('package/i.js', 'module.exports = 42\n')
  execFileSync('tar', ['-czf', 'x.tgz', '--remove-files', 'package'], { cwd: workspace })
  const hasNpm = (await run('command -v npm')).exitCode === 0
  const steps = [
    'echo two > a; git commit -qam two; git merge -q theirs -m merged; git push -q origin main',
    'git checkout -qb topic HEAD~1; echo c > c; git add c; git commit -qm c; git rebase -q main; echo d >> a; git stash -q',
    'git stash pop -q; git commit -qam d; git push -q -u origin topic',
    ...(hasNpm
      ? ['npm install --offline --no-audit --no-fund --silent ./x.tgz', `node -p "require('x')" | tee result`]
      : []),
  ]
  for (const step of steps) {
    const { exitCode, stderr, changes } = await run(`${AS} ${step}`)
    assert.deepEqual([exitCode, changes?.held], [0, []], `${step}: ${stderr}`)
  }
  assert.ok(has('.github/CODEOWNERS'))
  assert.equal(git('-C', 'remote.git', 'rev-parse', 'main', 'topic'), git('rev-parse', 'main', 'topic'))
  if (hasNpm) assert.equal(readFileSync(join(workspace, 'result'), 'utf8'), '42\n')
  assert.deepEqual([has('node_modules'), has('package-lock.json')], [false, hasNpm])
})

test('a day of work with git comes back without keep, and each set is undone', { skip }, async (context) => {
  const { run, git, records, host, has } = await openRepository(context)
  const first = git('rev-parse', 'HEAD')
  const steps = [
    'echo two > a; git commit -qam two',
    'git checkout -qb topic; echo new > c; git add c; git commit -qm three',
    'git checkout -q main; echo four > b; git commit -qam four; git merge -q topic -m merged',
    'git branch -d topic; git tag -a v1 -m tagged; git tag v2; git notes add -m noted',
    'git checkout -qb other HEAD~2; echo five > d; git add d; git commit -qm five; git rebase -q main',
    'echo x >> a; git stash -q; echo y >> b; git stash -q; git stash pop -q; git checkout -q b; git stash pop -q; git checkout -q a',
    'echo w > e; git add e; git mv c c2; git gc -q; git pack-refs --all',
    'git checkout -q --detach HEAD~1 -f; git checkout -q main',
    'echo p > p; git add p; git commit -qm p; git checkout -q --detach HEAD~1',
    'git checkout -q main',
  ]
  for (const step of steps) {
    const { notes, stderr, exitCode } = await run(`${AS} ${step}`)
    assert.deepEqual([exitCode, notes], [0, []], `${step}: ${stderr}`)
    git('fsck', '--no-dangling', '--strict')
    assert.equal(
      (await run('git rev-parse HEAD; git status --porcelain')).stdout,
      git('rev-parse', 'HEAD') + git('status', '--porcelain'),
      step,
    )
  }
  assert.deepEqual(git('tag').trim().split('\n'), ['v1', 'v2'])
  assert.match(git('log', '-1', '--format=%s', 'other'), /five/)
  assert.match(git('reflog', '-1', 'HEAD'), /checkout: moving from/)
  for (const set of records.list()) {
    const outcomes = await undo({ records, host, set }, ALL)
    assert.deepEqual(
      outcomes.filter(({ result }) => result !== 'done'),
      [],
      set.id,
    )
    // The user looks at it in between, which writes the index.
    git('status')
  }
  assert.deepEqual(
    [git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('branch', '--format=%(refname)')],
    [first, '', 'refs/heads/main\n'],
  )
  assert.equal(has('c'), false)
})

test(
  'A6: commits that bring a held name are held with references and index, by every way, and keep takes them',
  { skip },
  async (context) => {
    const ways = {
      plain: 'git add -f .envrc a; git commit -qm evil',
      'removed again': 'git add .envrc; git commit -qm evil; git rm -q .envrc; git commit -qm clean',
      'an evil merge':
        'git checkout -qb t; echo t > t; git add t; git commit -qm t; git checkout -q main; git merge -q --no-commit --no-ff t; git add .envrc; git commit -qm m',
      'a stash': 'git stash -qu',
      'an orphan': 'git checkout -q --orphan o; git add .; git commit -qm o',
      'a tag': 'git add .envrc; git tag v $(git commit-tree $(git write-tree) -m t); git rm -q --cached .envrc',
      'a link out of the workspace': 'rm .envrc; ln -s /etc/passwd out; git add out; git commit -qm l',
      'a bare repository':
        'rm .envrc; mkdir -p x/objects x/refs; echo "ref: refs/heads/x" > x/HEAD; touch x/objects/a x/refs/a; git add x; git commit -qm x',
      'the reflog of the stash':
        'git add .envrc; c=$(git commit-tree $(git write-tree) -p HEAD -m t); git rm -q --cached .envrc; mkdir -p .git/logs/refs; echo "$(git rev-parse HEAD) $c u <e> 1 +0000\tx" > .git/logs/refs/stash; git update-ref refs/stash HEAD',
      'a step of a rebase':
        'git add .envrc; c=$(git commit-tree $(git write-tree) -p HEAD -m t); git rm -q --cached .envrc; mkdir .git/rebase-merge; cd .git/rebase-merge; echo refs/heads/main > head-name; git rev-parse HEAD | tee onto > orig-head; touch interactive; echo "pick $(echo $c | cut -c1-9) x" > git-rebase-todo',
    }
    const { run, git, records, host, has, workspace } = await openRepository(context)
    const before = git('rev-parse', 'HEAD')
    for (const [name, way] of Object.entries(ways)) {
      const { notes, stderr, exitCode } = await run(`${AS} echo evil > .envrc; echo 1 > a; ${way}`)
      assert.equal(exitCode, 0, `${name}: ${stderr}`)
      assert.match(notes.join('\n'), /\.git \((?:a commit brings|another)/, name)
      assert.equal(git('rev-parse', 'HEAD'), before, name)
      // What the user would type next.
      for (const args of [['status'], ['diff'], ['stash', 'list'], ['checkout', '.'], ['reset', '-q', '--hard']])
        git(...args)
      for (const path of ['.envrc', 'out', 'x/HEAD']) assert.equal(has(path), false, `${name}: ${path}`)
      assert.throws(() => git('rebase', '--continue'), name)
      assert.deepEqual([git('for-each-ref', '--format=%(refname)'), has('.envrc')], ['refs/heads/main\n', false], name)
      for (const set of records.list()) records.remove(set.id)
      execFileSync('rm', ['-rf', join(workspace, 't'), join(workspace, 'x')])
    }
    await run(`${AS} echo mine > .envrc; git add .envrc; git commit -qm evil`)
    const [set] = records.list()
    assert.ok(set)
    const outcomes = await keep({ records, host, set }, ALL)
    assert.deepEqual(
      outcomes.filter(({ result }) => result !== 'done'),
      [],
    )
    assert.deepEqual(
      [git('log', '-1', '--format=%s'), git('status', '--porcelain'), has('.envrc')],
      ['evil\n', '', true],
    )
    assert.equal(
      (await undo({ records, host, set }, ALL)).every(({ result }) => result === 'done'),
      true,
    )
    assert.deepEqual([git('rev-parse', 'HEAD'), git('status', '--porcelain')], [before, ''])
  },
)

test(
  'what the user let into a branch comes back when a command switches, merges or restores it',
  { skip },
  async (context) => {
    const { run, git, has, workspace } = await openRepository(context)
    git('checkout', '-qb', 'tools')
    mkdirSync(join(workspace, '.vscode'))
    writeFileSync(join(workspace, '.vscode/tasks.json'), '{}\n')
    writeFileSync(join(workspace, '.npmrc'), 'x=1\n')
    git('add', '.')
    git('commit', '-qm', 'tools')
    git('checkout', '-q', 'main')
    for (const [step, isThere] of [
      ['git checkout -q tools', true],
      ['git checkout -q main', false],
      ['git merge -q --no-ff tools -m m', true],
    ] as const) {
      const { notes } = await run(`${AS} ${step}`)
      assert.deepEqual(
        [notes, has('.npmrc'), has('.vscode/tasks.json'), git('status', '--porcelain')],
        [[], isThere, isThere, ''],
        step,
      )
    }
    const { notes } = await run(
      'echo evil >> .npmrc; rm .vscode/tasks.json; git update-index --assume-unchanged a; git rm -q --cached .npmrc; echo hidden > a',
    )
    assert.match(notes.join('\n'), /holds .*\.npmrc/)
    assert.equal(git('status', '--porcelain'), ' M a\n', 'no flag of the index comes')
  },
)

test(
  'a commit removes nothing that no commit had: what is held when it is removed stays held',
  { skip },
  async (context) => {
    const { run, git, has, write } = await openRepository(context)
    git('init', '-q', '--bare', 'store.git')
    write('.envrc', 'mine\n')
    const { notes } = await run(`${AS} rm -rf .envrc store.git; git commit -q --allow-empty -m x`)
    assert.match(notes.join('\n'), /holds .*\.envrc/)
    for (const path of ['.envrc', 'store.git/HEAD', 'store.git/config', 'store.git/description', 'store.git/objects'])
      assert.ok(has(path), path)
  },
)

for (const [step, replaced] of [
  ['rm -rf .git', undefined],
  ['rm -rf .git; echo gitdir: /tmp/x > .git', 'held'],
  ['rm -rf .git; ln -s b .git', 'held'],
  ['rm .git/HEAD', undefined],
] as const)
  test(`${step}: the repository stays, what is in its place is held, other changes come`, { skip }, async (context) => {
    const { run, git, has, records } = await openRepository(context)
    const { notes } = await run(`echo more >> a; ${step}`)
    assert.match(notes.join('\n'), /holds .*\.git/)
    const entries = records.entries(records.list()[0]?.id ?? '')
    const verdictOf = (path: string): string | undefined => entries.find((entry) => entry.path === path)?.verdict
    assert.deepEqual([verdictOf('a'), verdictOf('.git'), verdictOf('.git/HEAD')], ['applied', replaced, 'held'])
    assert.match(entries.find(({ path }) => path === '.git/HEAD')?.reason ?? '', /no HEAD after the command/)
    assert.deepEqual([has('.git/objects'), git('log', '--format=%s')], [true, 'one\n'])
  })

test('a commit of the user meanwhile is one conflict, and nothing is half taken', { skip }, async (context) => {
  const { run, git, records, host, workspace } = await openRepository(context)
  let mine = ''
  const onOutput = (): void => {
    writeFileSync(join(workspace, 'b'), 'mine\n')
    git('commit', '-qam', 'mine')
    mine = git('rev-parse', 'HEAD')
  }
  const { notes } = await run(`${AS} echo theirs > a; git commit -qam theirs; echo x > c; echo ready`, { onOutput })
  assert.match(notes.join('\n'), /did not change \.git/)
  assert.deepEqual([git('rev-parse', 'HEAD'), git('log', '--format=%s')], [mine, 'mine\none\n'])
  const [set] = records.list()
  assert.ok(set)
  assert.equal(readFileSync(join(workspace, 'c'), 'utf8'), 'x\n')
  await keep({ records, host, set }, { paths: ['.git'], force: true })
  assert.equal(git('log', '--format=%s'), 'theirs\none\n')
})

test('settings of a branch come key by key, and every other setting is held', { skip }, async (context) => {
  const { run, git, has } = await openRepository(context)
  git('config', 'remote.origin.url', 'https://example.test/r.git')
  const { notes } = await run('git config branch.main.remote origin; git config branch.main.merge refs/heads/main')
  assert.deepEqual(notes, [])
  assert.equal(git('config', 'branch.main.remote'), 'origin\n')
  const lines = [
    'branch.main.remote https://evil/',
    'branch.main.pushRemote evil',
    'core.fsmonitor "touch pwned"',
    'remote.origin.url ext::evil',
    'alias.status "!touch pwned"',
    'include.path ../evil',
  ]
  const more = await run(`git config branch.main.rebase true; ${lines.map((line) => `git config ${line}`).join('; ')}`)
  assert.match(more.notes.join('\n'), /holds \.git\/config/)
  const settings = git('config', '--local', '--list')
  assert.match(settings, /branch\.main\.rebase=true\n/)
  assert.doesNotMatch(settings, /evil|pwned/)
  git('status')
  assert.equal(has('pwned'), false)
  const removed = await run('git config --remove-section branch.main')
  assert.doesNotMatch(git('config', '--local', '--list'), /branch\./)
  assert.match(removed.notes.join('\n'), /^$|\.git\/config/)
})

test('A8, A9: attributes are held, and what git writes for itself is no change', { skip }, async (context) => {
  const { run, git, has } = await openRepository(context)
  const { notes } = await run(
    'echo "* -diff" > .gitattributes; mkdir -p .git/info; echo "* -diff" > .git/info/attributes',
  )
  assert.match(notes.join('\n'), /holds \.git\/info .*\.gitattributes/)
  assert.equal(has('.gitattributes'), false)
  const quiet = await run('touch a b; git status; git diff; git log; touch .git/index.lock .git/gc.pid')
  assert.deepEqual([quiet.notes, quiet.changes, has('.git/index.lock')], [[], undefined, false])
  git('commit', '-q', '--allow-empty', '-m', 'works')
})

test(
  'an object that inflates without end, or is too large, holds its own unit and no other file',
  { skip },
  async (context) => {
    const { run, git, workspace } = await openRepository(context)
    const head = git('rev-parse', 'HEAD')
    const { notes, stderr } = await run(
      `${AS} echo plain > plain; mkdir -p .git/objects/ab; node -e 'process.stdout.write(require("zlib").deflateSync(Buffer.alloc(270e6), { level: 1 }))' > .git/objects/ab/${'0'.repeat(38)}; tree=$(printf '100644 blob ab${'0'.repeat(38)}\\tlarge\\n' | git mktree --missing); git update-ref HEAD $(git commit-tree $tree -p HEAD -m large)`,
      { timeoutMs: 120_000 },
    )
    assert.match(notes.join('\n'), /it is larger than 256 MiB/, stderr)
    assert.match(notes.join('\n'), /\.git \(git /)
    assert.deepEqual([readFileSync(join(workspace, 'plain'), 'utf8'), git('rev-parse', 'HEAD')], ['plain\n', head])
  },
)

test(
  'what root takes into a repository of another account belongs to that account',
  { skip: skip || (process.getuid?.() !== 0 && 'needs root') },
  async (context) => {
    const { run, workspace, git } = await openRepository(context)
    execFileSync('chown', ['-R', '1234:1234', workspace])
    const { notes } = await run(`${AS} echo two > a; git commit -qam two; git branch x; git gc -q`)
    assert.deepEqual(notes, [])
    assert.equal(git('log', '-1', '--format=%s', 'x'), 'two\n')
    const owners = execFileSync('find', [workspace, '-printf', '%u %P\n'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.startsWith('root '))
    assert.deepEqual(owners, [])
  },
)

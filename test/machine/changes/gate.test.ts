import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Change,
  createGate,
  isPlainTodo,
  type Judgement,
  type Surroundings,
} from '../../../src/machine/changes/index.ts'

const around: Surroundings = {
  before: () => false,
  after: () => false,
  never: new Set(['state', 'bin/nexus.js']),
  named: new Set(['tools/hooks', 'scripts/clean.sh']),
  opened: new Set(),
}

const judge = (change: Change, facts: Surroundings): Judgement => createGate(facts)(change)
const file = (path: string, more: Partial<Change> = {}): Change => ({ path, type: 'added', kind: 'file', ...more })

/** A workspace with a repository and what else is named, before and after. */
function having(...paths: readonly string[]): Surroundings {
  const there = new Set(['.git/HEAD', '.git/objects', '.git/refs', ...paths])
  const has = (path: string): boolean => there.has(path)
  return { ...around, before: has, after: has }
}

test('ordinary files, build output and files that are only data come back', () => {
  const plain = [
    'src/a.ts', 'Makefile', 'package.json', 'AGENTS.md', 'dist/a.js', 'target/debug/x', 'coverage/index.html', '.gitignore', 'a/.gitkeep',
    '.editorconfig', '.env.example', '.next/server/a.js', '.svelte-kit/x', '.github/workflows/ci.yml', '.github/dependabot.yml',
    '.github/ISSUE_TEMPLATE/bug.md', 'docs/skills/x.md', 'my.claude', 'env/readme.md', 'vendor/x.rb',
  ] // oxfmt-ignore
  for (const path of plain) assert.equal(judge(file(path), around).verdict, 'applied', path)
})

test('caches and installed packages stay beside the workspace, as one unit', () => {
  const cases: readonly [path: string, unit: string][] = [
    ['node_modules/a/index.js', 'node_modules'],
    ['web/node_modules/.bin/vite', 'web/node_modules'],
    ['src/__pycache__/a.pyc', 'src/__pycache__'],
    ['.eslintcache', '.eslintcache'],
    ['.mypy_cache/3.11/a.json', '.mypy_cache'],
    ['vendor/bundle/gems/a.rb', 'vendor/bundle'],
  ]
  for (const [path, unit] of cases) {
    const { verdict, unit: of } = judge(file(path), around)
    assert.deepEqual([verdict, of], ['beside', unit], path)
  }
  for (const name of ['.venv', 'venv', 'env'])
    assert.equal(judge(file(`${name}/bin/python`), having(`${name}/pyvenv.cfg`)).verdict, 'beside', name)
  assert.equal(judge(file('.venv/bin/x'), around).verdict, 'held', 'without its mark it is a dot directory')
  const made = { ...around, after: (path: string) => path === 'tools/py/pyvenv.cfg' }
  assert.equal(judge(file('tools/py/bin/python'), made).unit, 'tools/py', 'an environment of any name')
  const tagged = { ...around, after: (path: string) => path === '.tool-cache/CACHEDIR.TAG' }
  assert.equal(judge(file('.tool-cache/x'), tagged).verdict, 'beside')
})

/** On no list of the earlier guard, or on it: what begins with a dot is held without being known. */
const NAMES = [
  '.envrc', '.env', '.vscode/tasks.json', '.idea/workspace.xml', '.claude/settings.json', '.mcp.json', '.cursor/mcp.json', '.gemini/x',
  '.codex/config.toml', '.windsurf/x', '.zed/tasks.json', '.devcontainer/devcontainer.json', '.husky/pre-commit', '.githooks/pre-push',
  '.npmrc', '.yarnrc.yml', '.pnpmfile.cjs', '.cargo/config.toml', '.bundle/config', '.bazelrc', '.mvn/extensions.xml', '.tool-versions',
  '.nvmrc', '.node-version', '.python-version', '.ruby-version', '.java-version', '.sdkmanrc', '.mise.toml', '.bashrc', '.zshrc',
  '.profile', '.inputrc', '.tmux.conf', '.vimrc', '.exrc', '.nvim.lua', '.dir-locals.el', '.gdbinit', '.lldbinit', '.Rprofile',
  '.irbrc', '.pryrc', '.ghci', '.iex.exs', '.pdbrc', '.gitattributes', '.gitmodules', '.gitconfig', '.lfsconfig', '.hg/hgrc',
  '.jj/repo/config.toml', '.pre-commit-config.yaml', '.lefthook.yml', '.lintstagedrc', '.prettierrc', '.eslintrc.js', '.babelrc',
  '.swcrc', '.flake8', '.pylintrc', '.rubocop.yml', '.rspec', '.golangci.yml', '.oxlintrc.json', '.stylelintrc', '.mocharc.js',
  '.nycrc', '.terraformrc', '.ansible.cfg', '.ssh/authorized_keys', '.gnupg/gpg.conf', '.netrc', '.pypirc', '.condarc', '.direnv/x',
  '.autoenv', '.shadowenv.d/x', '.a-client-of-tomorrow/hooks.json', '.github/skills/x/SKILL.md', '.github/copilot-instructions.md',
  '.github/copilot-instructions.md.sh',
  '.gitlab/duo/mcp.json', '.config/mise/config.toml', '.local/bin/git', '.bin/nexus', '.unknown', 'a/b/.unknown/c', '.\u0130envrc',
] // oxfmt-ignore

test(`${NAMES.length} names that programs obey, or may obey tomorrow, are held in any spelling and at any depth`, () => {
  assert.ok(NAMES.length >= 85, String(NAMES.length))
  for (const name of NAMES)
    for (const path of [name, name.toUpperCase()]) assert.equal(judge(file(path), around).verdict, 'held', path)
  for (const name of NAMES.filter((path) => !path.startsWith('.github/')))
    assert.equal(judge(file(`sub/deep/${name}`), around).verdict, 'held', name)
})

test('a directory of the user does not become an environment, so that its files would stay beside', () => {
  const own = new Set(['env', 'env/settings.ts'])
  const before = (path: string): boolean => own.has(path)
  const now = { ...around, before, after: (path: string) => before(path) || path === 'env/pyvenv.cfg' }
  assert.equal(judge(file('env/settings.ts', { type: 'changed' }), now).verdict, 'applied')
  assert.equal(judge(file('env/pyvenv.cfg'), now).verdict, 'held', 'else the next command would find it there')
})

test('names without a dot that are obeyed on entering or opening are held', () => {
  const paths = [
    'mise.toml', 'mise.production.local.toml', 'mise/config.toml', 'a/rust-toolchain.toml', 'x.code-workspace', 'lib/evil.pth',
    'sitecustomize.py', 'lefthook.yml', 'tools/bazel', 'skills/x/SKILL.md', 'Skills/y', 'lint-staged.config.js', 'commitlint.config.ts',
    'flake.nix', 'shell.nix', 'pkgx.yaml', 'bin/activate-hermit', 'renv/activate.R', 'jupyter_server_config.py', 'hie.yaml', 'x.ipr',
    '_FOSSIL_', '_MTN/monotonerc', 'mcp.json', 'gptme.toml', 'latexmkrc', 'grumphp.yml.dist', 'prek.toml',
    'nexus-skills.lock', 'a/nexus-skills.lock', 'skills-lock.json', 'irb.rc', '_irbrc', '$irbrc', 'profile.do', 'autoexec.sas', 'aqua.yml', 'default.nix', 'cz.toml',
  ] // oxfmt-ignore
  for (const path of paths) assert.equal(judge(file(path), around).verdict, 'held', path)
  assert.equal(judge(file('_opam/bin/git'), around).verdict, 'beside', 'a hook of the shell puts it on the PATH')
})

test('skills are held at any depth, with all files of each, and no two commands make one', () => {
  const skill = { ...around, before: (path: string) => path === 'packages/x/skills/group/pdf/SKILL.md' }
  const cases: readonly [path: string, unit?: string][] = [
    ['packages/x/skills/group/pdf/scripts/run.sh', 'packages/x/skills/group/pdf'],
    ['packages/x/skills/new/SKILL.md', 'packages/x/skills/new/SKILL.md'],
    ['packages/x/skills/new/skill.MD'],
    ['packages/x/skills/SKILL.md'],
  ]
  for (const [path, unit] of cases) {
    const found = judge(file(path), skill)
    assert.deepEqual([found.verdict, found.unit], ['held', unit ?? found.unit], path)
  }
  for (const path of ['packages/x/skills', 'packages/x/skills/group/other'])
    assert.equal(judge(file(path, { kind: 'link' }), skill).verdict, 'held', path)
  for (const path of ['packages/x/skills/group/readme.md', 'docs/SKILL.md', 'skills.md', 'a/skills.ts'])
    assert.equal(judge(file(path), skill).verdict, 'applied', path)
})

test('what a setting or a link leads to is held, and Nexus itself never comes', () => {
  for (const path of ['tools/hooks/pre-commit', 'scripts/clean.sh'])
    assert.equal(judge(file(path), around).verdict, 'held', path)
  for (const path of ['state/x', 'bin/nexus.js', 'nexus.yaml', 'sub/.nexus/agents/a.md', 'NEXUS.YAML'])
    assert.equal(
      judge(file(path), { ...around, opened: new Set(['nexus.yaml', '.nexus', 'state']) }).verdict,
      'never',
      path,
    )
})

test('what the user opens comes back, and what the user protects is held before all names', () => {
  assert.equal(judge(file('skills/x/SKILL.md'), { ...around, opened: new Set(['skills']) }).verdict, 'applied')
  const isProtected = (path: string): boolean => path.startsWith('src/')
  assert.equal(judge(file('src/a.ts'), { ...around, isProtected, opened: new Set(['src']) }).verdict, 'held')
})

test('a link out of the workspace is held, and a word of a setting holds a file of that path only', () => {
  assert.equal(judge(file('a', { kind: 'link', leavesWorkspace: true }), around).verdict, 'held')
  assert.equal(judge(file('tools', { kind: 'link' }), around).verdict, 'held', 'above a named path')
  assert.equal(judge(file('tools', { kind: 'directory' }), around).verdict, 'applied')
  const words = { ...around, namedFiles: new Set(['check.sh', 'build']) }
  assert.equal(judge(file('check.sh'), words).verdict, 'held')
  assert.equal(judge(file('build', { kind: 'directory' }), words).verdict, 'applied')
  assert.equal(judge(file('build/x'), words).verdict, 'applied')
})

test('data of git, its state and its settings go through git, and all else in it is held', () => {
  const cases: readonly [path: string, verdict: string, unit?: string][] = [
    [`.git/objects/ab/${'0'.repeat(38)}`, 'git', '.git'],
    ['.git/objects/pack/pack-0a.pack', 'git', '.git'],
    ['.git/objects/pack/pack-0a.rev', 'dropped'],
    ['.git/index.lock', 'dropped'],
    ['.git/refs/heads/main', 'git', '.git'],
    ['.git/refs/replace/00', 'git', '.git'],
    ['.git/packed-refs', 'git', '.git'],
    ['.git/HEAD', 'git', '.git'],
    ['.git/index', 'git', '.git'],
    ['.git/COMMIT_EDITMSG', 'git', '.git'],
    ['.git/logs/refs/heads/main', 'git', '.git'],
    ['.git/rebase-merge/git-rebase-todo', 'git', '.git'],
    ['.git/rebase-merge/strategy_opts', 'held', '.git/rebase-merge'],
    ['.git/config', 'git', '.git'],
    ['.git/config.worktree', 'held', '.git/config.worktree'],
    ['.git/hooks/pre-commit', 'held', '.git/hooks'],
    ['.git/info/attributes', 'held', '.git/info'],
    ['.git/objects/info/alternates', 'held', '.git/objects'],
    ['.git/modules/a/hooks/x', 'held', '.git/modules/a'],
    ['.git/worktrees/w/gitdir', 'held', '.git/worktrees/w'],
    ['.git/hooks', 'held', '.git/hooks'],
    ['.GIT/hooks/x', 'held'],
  ]
  for (const [path, verdict, unit] of cases) {
    const found = judge(file(path), having())
    assert.equal(found.verdict, verdict, path)
    if (unit !== undefined) assert.equal(found.unit, unit, path)
  }
  const removed = judge(file(`.git/objects/ab/${'0'.repeat(38)}`, { type: 'removed' }), having())
  assert.equal(removed.verdict, 'dropped')
  assert.equal(judge(file('.git/HEAD', { kind: 'link' }), having()).verdict, 'held')
  const inner = having('.git/modules/a/HEAD', '.git/modules/a/objects', '.git/modules/a/refs')
  assert.deepEqual(
    [judge(file('.git/modules/a/refs/heads/x'), inner).verdict, judge(file('.git/modules/a/index'), inner).unit],
    ['held', '.git/modules/a'],
  )
})

test('a file or link in the place of a repository is held', () => {
  for (const kind of ['file', 'link'] as const)
    assert.deepEqual(judge(file('.git', { type: 'changed', kind }), having()), {
      verdict: 'held',
      unit: '.git',
      reason: 'it takes the place of a repository',
    })
  assert.equal(judge(file('.git', { type: 'removed', kind: 'directory' }), having()).verdict, 'dropped')
})

test('a repository that the command made or completed is held whole, under any name', () => {
  const after = new Set(['x/HEAD', 'x/objects', 'x/refs', 'sub/.git/HEAD'])
  const made = { ...around, after: (path: string) => after.has(path) }
  for (const path of ['x/HEAD', 'x/config', 'x/refs/heads/main', 'x/readme'])
    assert.deepEqual([judge(file(path), made).verdict, judge(file(path), made).unit], ['held', 'x'], path)
  assert.equal(judge(file('sub/.git/HEAD'), made).verdict, 'held')
  assert.equal(judge(file('sub/.git'), made).verdict, 'held', 'a file that leads to a repository')
  // The host has one half, the command makes the other.
  const half = {
    ...around,
    before: (path: string) => path === 'y/HEAD' || path === 'y/refs',
    after: (path: string) => path === 'y/objects',
  }
  assert.equal(judge(file('y/objects', { kind: 'directory' }), half).verdict, 'held')
})

test('a list of rebase steps is plain only without a program', () => {
  assert.ok(isPlainTodo('pick 0a1b one\nsquash 2c two\n# exec no\n\nlabel onto\nmerge -C 1 x\n'))
  for (const text of ['exec rm -rf /', 'pick 0a\nx make', ' exec x', 'EXEC x', 'bogus'])
    assert.equal(isPlainTodo(text), false, text)
})

test('law: what holds a place holds all below it, in any spelling; and no name of a dot comes back unknown', () => {
  const name = fc.stringMatching(/^[A-Za-z0-9.][A-Za-z0-9._-]{0,8}$/).filter((text) => text !== '.' && text !== '..')
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
  const safe = /^\.(?:gitignore|gitkeep|keep|editorconfig|env\.|dockerignore|npmignore|next|nuxt|output|github)/i
  fc.assert(
    fc.property(path, name, (at, below) => {
      const { verdict, unit } = judge(file(at), around)
      assert.ok(at === unit || at.startsWith(`${unit}/`))
      assert.equal(judge(file(at.toUpperCase()), around).verdict, verdict)
      if (verdict === 'held' || verdict === 'never')
        assert.notEqual(judge(file(`${at}/${below}`), around).verdict, 'applied')
      const hasUnknownDot = at.split('/').some((part) => part.startsWith('.') && !safe.test(part))
      if (hasUnknownDot) assert.ok(verdict !== 'applied' || /\.(?:next|nuxt|output)/i.test(at), at)
    }),
    { numRuns: 2000, seed: 27 },
  )
})

test('a path of thousands of directories costs no more than a flat one', () => {
  const judgeDeep = createGate(around)
  const begun = performance.now()
  for (let depth = 1; depth <= 2000; depth++) judgeDeep(file(`${'d/'.repeat(depth)}x`))
  assert.ok(performance.now() - begun < 5000)
})

test('names that the earlier guard protected are held below build output and workflows too, and in every form', () => {
  const paths = [
    'nano-staged.js', 'nano-staged.json', 'sub/lefthook.jsonc', 'lefthook-local.jsonc', '.next/.envrc', '.next/.git',
    '.output/server/.claude/settings.json', '.vitepress/mise.toml', '.github/workflows/.envrc', '.github/workflows/a/.vscode/tasks.json',
    '.github/workflows/mise.toml', '.github/lefthook.yml', '.next/node_modules/x/.envrc', '.output/server/node_modules/.git/config',
    '.output/node_modules/x/node_modules/mise.toml',
  ] // oxfmt-ignore
  for (const path of paths) assert.equal(judge(file(path), around).verdict, 'held', path)
  for (const path of [
    '.output/server/node_modules/a/index.js',
    '.next/standalone/node_modules/.pnpm/a@1.0.0/node_modules/a/index.js',
    '.next/cache/x',
    '.github/workflows/a/run.sh',
    'src/workspace/a.ts',
  ])
    assert.equal(judge(file(path), around).verdict, 'applied', path)
})

test('a link in the place of .github is held: agents obey what is in it', () => {
  assert.equal(judge({ path: '.github', type: 'added', kind: 'link' }, around).verdict, 'held')
  assert.equal(judge({ path: '.github', type: 'added', kind: 'directory' }, around).verdict, 'applied')
})

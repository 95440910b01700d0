/** Attacks on git through its own data, changes.md A1 to A4: each file has a name that comes back, and bytes that must not. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openRig, type Rig } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const skip = whySkipped() ?? false

interface Repository extends Rig {
  has(path: string): boolean
  git(...args: readonly string[]): string
}

async function openRepository(context: TestContext): Promise<Repository> {
  const rig = await openRig(context)
  const git = (...args: readonly string[]): string =>
    execFileSync(
      'git',
      ['-c', 'safe.directory=*', '-c', 'user.name=u', '-c', 'user.email=e', '-C', rig.workspace, ...args],
      {
        encoding: 'utf8',
      },
    )
  git('init', '-q', '-b', 'main')
  writeFileSync(join(rig.workspace, 'Makefile'), 'all:\n')
  git('add', '.')
  git('commit', '-qm', 'one')
  return { ...rig, git, has: (path) => existsSync(join(rig.workspace, path)) }
}

const AS = 'export GIT_AUTHOR_NAME=u GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=u GIT_COMMITTER_EMAIL=e;'

test('A1: a step of a rebase that runs a program is held, with its rebase', { skip }, async (context) => {
  const { run, workspace } = await openRepository(context)
  const { notes } = await run(
    'mkdir .git/rebase-merge; cd .git/rebase-merge; echo refs/heads/main > head-name; git rev-parse HEAD | tee onto > orig-head; touch interactive; echo "exec touch /tmp/pwned" > git-rebase-todo',
  )
  assert.match(notes.join('\n'), /\.git\/rebase-merge \(a step of the rebase runs a program\)/)
  assert.equal(existsSync(join(workspace, '.git/rebase-merge/git-rebase-todo')), false)
})

test('A2: packed references that replace an object are held', { skip }, async (context) => {
  const { run, git } = await openRepository(context)
  const blob = git('rev-parse', 'HEAD:Makefile').trim()
  const { notes } = await run(
    `${AS} echo evil > /tmp/evil; new=$(git hash-object -w /tmp/evil); git replace ${blob} $new; git pack-refs --all; cat .git/packed-refs`,
  )
  assert.match(notes.join('\n'), /\.git\/refs\/replace \(git acts upon it by itself\)/)
  assert.equal(git('show', 'HEAD:Makefile'), 'all:\n')
})

test(
  'A3: an object whose bytes do not have its name is held, and one that was made by git comes back',
  { skip },
  async (context) => {
    const { run, workspace, git } = await openRepository(context)
    const name = 'ce013625030ba8dba906f756967f9e9ca394464a'
    const { notes, stdout } = await run(
      `${AS} new=$(echo evil | git hash-object -w --stdin); mkdir -p .git/objects/ce; cp .git/objects/$(echo $new | cut -c1-2)/$(echo $new | cut -c3-) .git/objects/ce/${name.slice(2)}; echo $new`,
    )
    assert.match(notes.join('\n'), /its bytes do not have its name/)
    assert.equal(existsSync(join(workspace, '.git/objects/ce', name.slice(2))), false)
    assert.equal(git('cat-file', '-p', stdout.trim()), 'evil\n')
  },
)

test(
  'A4: files that settings of git name are held, in a repository and from the settings of the user',
  { skip },
  async (context) => {
    const { HOME } = process.env
    context.after(() => (HOME === undefined ? delete process.env['HOME'] : (process.env['HOME'] = HOME)))
    const { run, git, workspace, has } = await openRepository(context)
    process.env['HOME'] = join(workspace, '..')
    writeFileSync(
      join(workspace, '..', '.gitconfig'),
      '[diff "x"]\n\ttextconv = sh own/show.sh --all\n[alias]\n\tx = !sh tools/x.sh\n',
    )
    git('config', 'core.hooksPath', 'tools/hooks')
    git('config', 'filter.c.clean', './tools/clean.sh %f')
    git('config', 'filter.c.smudge', 'cat')
    git('config', 'merge.m.driver', 'python3 "tools/merge it.py" %A')
    mkdirSync(join(workspace, 'tools/hooks'), { recursive: true })
    writeFileSync(join(workspace, 'tools/hooks/pre-commit'), '#!/bin/sh\n', { mode: 0o755 })
    writeFileSync(join(workspace, 'tools/clean.sh'), '#!/bin/sh\ncat\n', { mode: 0o755 })
    writeFileSync(join(workspace, '.gitattributes'), 'Makefile filter=c\n*.none diff=x\n')
    const evil = [
      'tools/hooks/pre-commit',
      'tools/hooks/post-checkout',
      'tools/clean.sh',
      'tools/merge it.py',
      'own/show.sh',
    ]
    const { notes } = await run(
      `mkdir -p tools/other own; for f in ${evil.map((path) => `"${path}"`).join(' ')} tools/other/x; do printf '#!/bin/sh\ntouch pwned; cat\n' > "$f"; chmod +x "$f"; done`,
    )
    for (const path of evil.slice(1))
      assert.match(notes.join('\n'), new RegExp(path === evil[1] ? 'tools/hooks' : path))
    writeFileSync(join(workspace, 'Makefile'), 'mine:\n')
    for (const args of [['status'], ['diff'], ['commit', '-qam', 'mine'], ['checkout', '.']]) git(...args)
    assert.deepEqual([has('pwned'), has('tools/other/x'), has('own/show.sh')], [false, true, false])
  },
)

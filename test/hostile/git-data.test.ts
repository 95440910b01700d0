/** Attacks on git through its own data, changes.md A1 to A4 and A6: each file has a name that comes back, and bytes that must not. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { IS_ROOT, outputOf, STATE_DIR } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'
import { AS, openRepository as openWith, type Repository } from './git-rig.ts'
import { COMPILED } from '../source-tree.ts'

const skip = whySkipped() ?? false
const openRepository = (context: TestContext): Promise<Repository> => openWith(context, { Makefile: 'all:\n' })

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
  'A3: an object whose bytes do not have its name, or a broken pack, is held, and what was made by git comes back',
  { skip },
  async (context) => {
    const { run, workspace, git, write } = await openRepository(context)
    const name = 'ce013625030ba8dba906f756967f9e9ca394464a'
    const { notes, stdout } = await run(
      `${AS} new=$(echo evil | git hash-object -w --stdin); mkdir -p .git/objects/ce; cp .git/objects/$(echo $new | cut -c1-2)/$(echo $new | cut -c3-) .git/objects/ce/${name.slice(2)}; echo $new`,
    )
    assert.match(notes.join('\n'), /its bytes do not have its name/)
    assert.equal(existsSync(join(workspace, '.git/objects/ce', name.slice(2))), false)
    assert.equal(git('cat-file', '-p', stdout.trim()), 'evil\n')

    const packed = (spoil: string): string =>
      `${AS} echo p >> Makefile; git commit -qam p; git repack -adq; cd .git/objects/pack; chmod u+w *; ${spoil}`
    const head = git('rev-parse', 'HEAD')
    const broken = await run(packed('printf X | dd of=$(ls *.pack) bs=1 seek=40 conv=notrunc status=none'))
    assert.match(broken.notes.join('\n'), /objects\/pack\/pack-\w+\.pack \(git index-pack refused it/)
    assert.equal(git('rev-parse', 'HEAD'), head)
    // Only the pack is read: git of the host makes the index.
    const lying = await run(packed('for f in *.idx; do echo evil > $f; done'))
    assert.deepEqual(lying.notes, [], lying.stderr)
    assert.equal(git('log', '-1', '--format=%s'), 'p\n')
    git('fsck', '--strict', '--no-dangling')
    // Git takes what it finds there by its name.
    write('.git/objects/info/alternates', '../../shared\n')
    mkdirSync(join(workspace, 'shared'))
    const { changes } = await run(`mkdir shared/ce; echo evil > shared/ce/${name.slice(2)}; echo x > plain`)
    assert.deepEqual([changes?.held, changes?.applied], [['shared'], ['plain']])
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

/** Objects of a commit with a held name, which nothing names yet: its id is in $c. Each command makes the same ones. */
const LOOSE = `${AS} export GIT_AUTHOR_DATE=@1700000000 GIT_COMMITTER_DATE=@1700000000 GIT_INDEX_FILE=/tmp/i; git read-tree HEAD; b=$(echo evil | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$b,.envrc; c=$(git commit-tree $(git write-tree) -p HEAD -m t); unset GIT_INDEX_FILE; C=$(echo $c | tr a-f A-F);`
/** The same without bringing them. */
const NAMED = `${LOOSE.replace('export', 'mkdir /tmp/o; export GIT_OBJECT_DIRECTORY=/tmp/o GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/.git/objects')} unset GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES;`
const REBASE =
  'mkdir .git/rebase-merge; cd .git/rebase-merge; echo refs/heads/main > head-name; git rev-parse HEAD | tee onto > orig-head; touch interactive;'

test(
  'A6: no file of state leads to a commit that was not checked, by no spelling, and not before that is there',
  { skip },
  async (context) => {
    const ways: Record<string, readonly string[]> = {
      'an id in capitals': [`${LOOSE} ${REBASE} echo "pick $C x" > git-rebase-todo`],
      'a short id after a name': [`${LOOSE} ${REBASE} echo "merge main $(echo $c | cut -c1-9)" > git-rebase-todo`],
      'a short id as the old end': [`${LOOSE} ${REBASE} echo $c | cut -c1-9 > orig-head; echo noop > git-rebase-todo`],
      'a short id to merge': [`${LOOSE} echo $c | cut -c1-9 > .git/MERGE_HEAD`],
      'an id in capitals to merge': [`${LOOSE} echo $C > .git/MERGE_HEAD`],
      'a rebase that replaces an object': [
        `${LOOSE} ${REBASE} printf 'refs/replace/%s\\n%040d\\n%s\\n' $(git rev-parse HEAD:Makefile) 0 $b > update-refs; echo noop > git-rebase-todo`,
      ],
      'a rebase that ends in another reference': [
        `${LOOSE} ${REBASE} echo refs/replace/$(git rev-parse HEAD:Makefile) > head-name; echo noop > git-rebase-todo`,
      ],
      'a rebase before its objects': [`${NAMED} ${REBASE} echo "pick $c x" > git-rebase-todo`, LOOSE],
      'a short id before its object': [
        `${NAMED} ${REBASE} echo "pick $(echo $c | cut -c1-9) x" > git-rebase-todo`,
        LOOSE,
      ],
      'a reflog before its objects': [
        `${NAMED} echo "$(git rev-parse HEAD) $c u <e> 1 +0000	x" >> .git/logs/HEAD`,
        `${LOOSE} git update-ref refs/heads/main $c`,
      ],
      'a reflog in capitals': [
        `${LOOSE} echo "$(git rev-parse HEAD) $C u <e> 1 +0000	x" >> .git/logs/HEAD`,
        `${LOOSE} git update-ref refs/heads/main $c`,
      ],
    }
    const missed: string[] = []
    for (const [name, commands] of Object.entries(ways)) {
      const { run, git, has } = await openRepository(context)
      const before = git('rev-parse', 'HEAD')
      for (const command of commands) {
        const { stderr, exitCode } = await run(command)
        assert.equal(exitCode, 0, `${name}: ${stderr}`)
      }
      const isLed = commands.length === 1 && ['rebase-merge', 'MERGE_HEAD'].some((each) => has(`.git/${each}`))
      for (const args of [
        ['rebase', '--continue'],
        ['commit', '-qm', 'x'],
        ['checkout', '.'],
        ['rebase', '--abort'],
        ['reset', '-q', '--hard'],
      ])
        try {
          git('-c', 'core.editor=true', ...args)
        } catch {
          // There is nothing to go on with.
        }
      if (
        isLed ||
        has('.envrc') ||
        git('rev-parse', 'HEAD') !== before ||
        git('for-each-ref', '--format=%(refname)') !== 'refs/heads/main\n'
      )
        missed.push(name)
    }
    assert.deepEqual(missed, [])
  },
)

test(
  'a reference that leads to another one, or that git cannot read, removes none of the host',
  { skip },
  async (context) => {
    const { run, git } = await openRepository(context)
    git('branch', 'own')
    const before = git('for-each-ref')
    const ways = {
      'to a new branch': 'git branch evil; git symbolic-ref refs/heads/main refs/heads/evil',
      'to no branch': 'git symbolic-ref refs/heads/own refs/heads/none',
      'no id': 'echo evil > .git/refs/heads/own',
      'a larger one': 'head -c 5000 /dev/zero > .git/refs/heads/own',
      'a link': 'ln -sf main .git/refs/heads/own',
    }
    for (const [name, way] of Object.entries(ways)) {
      const { notes, exitCode, stderr, changes } = await run(`${AS} ${way}`)
      assert.equal(exitCode, 0, `${name}: ${stderr}`)
      assert.equal(git('for-each-ref'), before, name)
      assert.ok((changes?.held.length ?? 0) > 0, `${name}: ${notes.join()}`)
    }
    git('symbolic-ref', 'refs/heads/trunk', 'refs/heads/main')
    // Where commands work in layers this removes the branch of the host, in a copy what is held in its place.
    await run('rm .git/refs/heads/own')
    git('branch', '-f', 'own')
    const { notes, stderr } = await run(`${AS} echo x > x; git add x; git commit -qm x; git branch -m own own/more`)
    assert.equal(stderr, '')
    assert.deepEqual([notes, git('log', '-1', '--format=%s', 'trunk')], [[], 'x\n'])
    assert.deepEqual(git('branch', '--format=%(refname:short)').trim().split('\n'), ['main', 'own/more', 'trunk'])
  },
)

test('a command that removes reflogs alone is seen', { skip }, async (context) => {
  const { run, git } = await openRepository(context)
  const { changes } = await run('rm -r .git/logs')
  assert.deepEqual([...(changes?.applied ?? [])].sort(), ['.git/logs/HEAD', '.git/logs/refs/heads/main'])
  assert.equal(git('reflog'), '')
})

test(
  'without git on the host, what a command does in a git directory is held whole, and files come back',
  { skip: skip || (!IS_ROOT && 'only root can hide a program') },
  async (context) => {
    const { git, workspace, has, read, write } = await openRepository(context)
    git('config', 'core.hooksPath', 'tools/hooks')
    const [branch, settings] = [read('.git/refs/heads/main'), read('.git/config')]
    write('.git/objects/free', '')
    const command =
      'mkdir -p tools/hooks .git/objects/aa; echo evil | tee .git/refs/heads/main .git/hooks/pre-commit tools/hooks/pre-commit .git/objects/aa/$(printf %038d 0) >> .git/config; echo 1 > plain'
    const script = join(import.meta.dirname, '../machine/sandbox/parent.ts')
    const hidden = 'mount --bind /dev/null "$(readlink -f "$(command -v git)")" && exec "$@"'
    const child = spawn(
      'unshare',
      ['-m', 'sh', '-c', hidden, 'sh', process.execPath, COMPILED, script, STATE_DIR, workspace, command],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const said = await outputOf(child)
    assert.match(said, /end exit 0/)
    assert.match(said, /Nexus holds \.git \(git is not in /)
    assert.deepEqual([read('.git/refs/heads/main'), read('.git/config'), read('plain')], [branch, settings, '1\n'])
    // The id of a commit may begin with these letters too.
    const object = `.git/objects/aa/${'0'.repeat(38)}`
    assert.deepEqual([object, '.git/hooks/pre-commit', 'tools/hooks/pre-commit'].filter(has), [])
  },
)

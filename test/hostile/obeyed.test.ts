/** An outsider's attacks: a command leaves what git, a shell, npm or an editor would run or obey by itself. Then the user works on. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSandbox, type Sandbox } from '../../src/machine/sandbox/index.ts'
import { localOptions, openDirectory } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'
import { AS } from './git-rig.ts'

const skip = whySkipped() ?? false

/** On no list of ours, or on one: a program obeys it when a directory is entered or opened, or will one day. */
const NAMES = [
  '.envrc', '.env', '.ENVRC', '.vscode/tasks.json', '.idea/workspace.xml', '.claude/settings.json', '.mcp.json', '.cursor/mcp.json',
  '.gemini/settings.json', '.codex/config.toml', '.windsurf/x', '.zed/tasks.json', '.devcontainer/devcontainer.json', '.husky/pre-commit',
  '.npmrc', '.yarnrc.yml', '.pnpmfile.cjs', '.cargo/config.toml', '.bundle/config', '.bazelrc', '.mvn/extensions.xml', '.tool-versions',
  '.nvmrc', '.node-version', '.python-version', '.ruby-version', '.rvmrc', '.sdkmanrc', '.mise.toml', '.bashrc', '.inputrc', '.tmux.conf',
  '.vimrc', '.exrc', '.nvim.lua', '.lvimrc', '.helix/config.toml', '.dir-locals.el', '.gdbinit', '.lldbinit', '.Rprofile', '.irbrc',
  '.pryrc', '.ghci', '.ocamlinit', '.iex.exs', '.pdbrc', '.octaverc', '.gnuplot', '.latexmkrc', '.gitattributes', 'docs/.gitattributes',
  '.gitmodules', '.lfsconfig', '.hg/hgrc', '.svn/wc.db', '.jj/repo/config.toml', '.fslckout', '.pre-commit-config.yaml', '.lefthook.yml',
  '.lintstagedrc', '.prettierrc', '.eslintrc.js', '.babelrc', '.swcrc', '.pylintrc', '.rubocop.yml', '.golangci.yml', '.mocharc.js',
  '.solargraph.yml', '.ansible.cfg', '.netrc', '.direnv/x', '.autoenv', '.shadowenv.d/x', '.flox/env.json', '.prototools', '.go-version',
  '.a-client-of-tomorrow/hooks.json', '.github/skills/x/SKILL.md', '.github/copilot-instructions.md.sh', '.config/mise/config.toml',
  '.local/bin/git', '.bin/nexus', '.next/node_modules/x/.envrc', '.output/.git/config', '.unknown/deep/er', 'a/b/.unknown/c',
  'mise.toml', 'mise.ci.toml', 'flake.nix', 'rust-toolchain.toml', 'x.code-workspace', 'evil.pth', 'lefthook.yml', 'hie.yaml', 'mcp.json',
  'packages/x/skills/y/SKILL.md', 'skills/z/run.sh', 'opencode.json', '_FOSSIL_', 'bin/activate-hermit', '.venv/bin/activate.sh',
  '.github/copilot-instructions.md', 'nexus-skills.lock', 'irb.rc',
] // oxfmt-ignore

/** Commands, one after the other, that each leave something for git of the host; PWN makes a mark there. */
const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  'settings, hooks and files of git that lead to programs': [
    'cd .git; for h in pre-commit post-checkout post-merge post-index-change reference-transaction pre-rebase post-rewrite prepare-commit-msg; do printf "#!/bin/sh\\nPWN\\n" > hooks/$h; chmod +x hooks/$h; done',
    'for k in core.fsmonitor core.pager core.editor core.sshCommand core.askPass diff.external gpg.program sequence.editor credential.helper interactive.diffFilter remote.origin.uploadpack filter.x.clean filter.x.smudge filter.x.process diff.x.textconv diff.x.command merge.x.driver alias.st; do git config $k "PWN"; done; git config alias.status "!PWN"; git config core.hooksPath docs/h; git config commit.gpgsign true; git config include.path ../docs/conf; git config extensions.worktreeConfig true; git config core.attributesFile docs/attr; git config core.worktree docs; git config remote.origin.url "ext::sh -c PWN"; git config url."ext::sh -c PWN".insteadOf /; git config protocol.ext.allow always; git config branch.main.pushRemote evil; git config merge.default x',
    'mkdir -p docs/h; printf "#!/bin/sh\\nPWN\\n" > docs/h/pre-commit; chmod +x docs/h/pre-commit; echo "[core] fsmonitor = PWN" | tee docs/conf > .git/config.worktree; echo "* filter=x diff=x merge=x" | tee docs/attr .git/info/attributes > .gitattributes; mkdir -p .git/remotes .git/branches; echo "URL: ext::sh -c PWN" > .git/remotes/origin; echo "ext::sh -c PWN" > .git/branches/origin; echo ../docs > .git/commondir',
  ],
  'a repository in the place of the own one': [
    'mv .git old; git init -q . ; git config core.fsmonitor "PWN"; printf "#!/bin/sh\\nPWN\\n" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit',
    'rm -rf .git; git init -q other; git -C other config core.fsmonitor "PWN"; echo "gitdir: other/.git" > .git',
    'rm -rf .git; mkdir -p real; cp -r old real/.git 2>/dev/null || git init -q real; git -C real config core.fsmonitor "PWN"; ln -s real/.git .git',
  ],
  'bare repositories where the user changes to, in one command or in parts': [
    'git init -q --bare docs/one; git -C docs/one config core.fsmonitor "PWN"; git -C docs/one config core.bare false; git -C docs/one config core.worktree ..',
    'mkdir -p two/objects/pack two/refs/heads; touch two/objects/pack/x two/refs/heads/x; printf "[core]\\nrepositoryformatversion = 0\\nfsmonitor = PWN\\nworktree = .\\n" > two/config',
    'mkdir -p two; echo "ref: refs/heads/x" > two/HEAD',
    'mkdir -p three; echo "ref: refs/heads/x" > three/HEAD; mkdir -p m; printf "[core]\\nfsmonitor = PWN\\n" > m/config',
    'mkdir -p m/objects/x m/refs/x; touch m/objects/x/y m/refs/x/y; mv m/* three/ 2>/dev/null; ln -s three docs/four',
    'git init -q docs/sub; git -C docs/sub config core.fsmonitor "PWN"; mkdir -p "docs/.GIT/hooks"; echo "gitdir: ../two" > a/.git',
  ],
  'a submodule': [
    'git init -q sub; cd sub; echo s > s; git add s; git commit -qm s; git config core.fsmonitor "PWN"; cd ..; printf "[submodule \\"sub\\"]\\npath = sub\\nurl = ./sub\\nupdate = !PWN\\n" > .gitmodules; git add -f sub .gitmodules; git commit -qm sub',
  ],
  'commits that bring names, by branch, stash, upstream and in parts': [
    'echo PWN > .envrc; git add -f .envrc; git commit -qm evil; git update-ref refs/remotes/origin/main HEAD; git update-ref FETCH_HEAD HEAD',
    'mkdir -p .vscode; echo PWN > .vscode/tasks.json; git stash -qu',
    'b=$(echo PWN | git hash-object -w --stdin); t=$(printf "100755 blob $b\\t.envrc\\n" | git mktree); c=$(git commit-tree $t -p HEAD -m x); echo $c | tee .git/MERGE_HEAD .git/CHERRY_PICK_HEAD > .git/ORIG_HEAD; git tag v9 $c; git notes add -f -m x $c; printf "$c\\t\\tbranch main of x\\n" > .git/FETCH_HEAD',
    'b=$(echo PWN | git hash-object -w --stdin); t=$(printf "100644 blob $b\\tmise.toml\\n" | git mktree); s=$(printf "120000 blob $(printf .vscode | git hash-object -w --stdin)\\tlink\\n040000 tree $t\\t.config\\n" | git mktree); git update-ref refs/heads/evil $(git commit-tree $s -p HEAD -m x); git symbolic-ref HEAD refs/heads/evil',
  ],
  'an operation under way': [
    'mkdir .git/rebase-merge; cd .git/rebase-merge; echo refs/heads/main > head-name; git rev-parse HEAD | tee onto > orig-head; touch interactive; printf "exec PWN\\n" > git-rebase-todo',
    'mkdir -p .git/rebase-merge; cd .git/rebase-merge; echo refs/heads/main > head-name; git rev-parse HEAD | tee onto orig-head > autostash; touch interactive; printf -- "-X theirs; PWN" > strategy_opts; echo "PWN" > strategy; echo "-S; PWN" > gpg_sign_opt; printf "GIT_AUTHOR_NAME=\\047$(PWN)\\047\\nGIT_AUTHOR_EMAIL=e\\nGIT_AUTHOR_DATE=@1 +0000\\n" > author-script; echo "noop" > git-rebase-todo',
    'mkdir -p .git/rebase-apply; cd .git/rebase-apply; touch applying; echo 1 | tee last next > /dev/null; git rev-parse HEAD > abort-safety; echo f > quiet; printf "From x\\n---\\n .envrc | 1 +\\n\\ndiff --git a/.envrc b/.envrc\\nnew file mode 100644\\n--- /dev/null\\n+++ b/.envrc\\n@@ -0,0 +1 @@\\n+PWN\\n" > 0001; cp 0001 patch; printf m > final-commit',
    'mkdir -p .git/sequencer; git rev-parse HEAD | tee .git/sequencer/head > .git/CHERRY_PICK_HEAD; printf "pick HEAD x\\nexec PWN\\n" > .git/sequencer/todo; printf "[options]\\nstrategy = PWN\\n" > .git/sequencer/opts; git bisect start -q; echo PWN > .git/BISECT_RUN; git rev-parse HEAD > .git/MERGE_AUTOSTASH',
  ],
  'an index, references and objects that lie': [
    'git update-index --assume-unchanged Makefile; git update-index --skip-worktree a/x; echo "all: ; PWN" > Makefile; git update-index --split-index; git config core.sparseCheckout true; echo "/docs" > .git/info/sparse-checkout; echo "*" > .git/info/exclude',
    'b=$(git rev-parse HEAD:Makefile); n=$(echo "all: ; PWN" | git hash-object -w --stdin); git replace -f $b $n; echo "$n refs/replace/$(git rev-parse HEAD:a/x)" >> .git/packed-refs; echo "$b $n" > .git/info/grafts',
    'n=$(echo PWN | git hash-object -w --stdin); for id in UPSTREAM; do mkdir -p .git/objects/${id:0:2}; cp -f .git/objects/${n:0:2}/${n:2} .git/objects/${id:0:2}/${id:2}; done; git rev-parse HEAD > .git/shallow; mkdir -p .git/objects/info; echo /nonexistent > .git/objects/info/alternates',
    'git symbolic-ref refs/heads/main refs/heads/other; echo junk > .git/refs/heads/topic; cp .git/index .git/sharedindex.$(git rev-parse HEAD); ln -sf /etc/passwd .git/ORIG_HEAD',
  ],
  'links that lead into what is obeyed': [
    'ln -s .git/hooks hk; ln -s ../.git docs/g; ln -s .vscode editor; ln -s .envrc env.sh',
    'mkdir -p hk editor; printf "#!/bin/sh\\nPWN\\n" > hk/pre-commit; chmod +x hk/pre-commit; echo PWN > env.sh; echo PWN > editor/tasks.json; printf "#!/bin/sh\\nPWN\\n" > docs/g/hooks/pre-commit',
    'rm -rf docs; ln -s .git docs; mkdir -p docs/hooks; printf "#!/bin/sh\\nPWN\\n" > docs/hooks/pre-commit; chmod +x docs/hooks/pre-commit',
  ],
} // oxfmt-ignore

/** Each in the top of the repository, and the harmless ones in every directory. */
const DAY = [
  'git status', 'git diff', 'git log -p -3', 'git show --stat', 'git stash list', 'git fetch -q', 'echo mine >> Makefile; git diff',
  'git commit -qam mine', 'git rebase --continue', 'git cherry-pick --continue', 'git am --continue', 'git merge --continue',
  'git pull -q --no-rebase', 'git pull -q --rebase', 'git checkout .', 'git checkout -q main', 'git stash pop', 'git reset -q --hard',
  'git submodule update --init', 'git push -qn',
] // oxfmt-ignore

for (const mode of ['auto', 'mirror'] as const) {
  const isSame = process.getuid?.() === 0 && mode === 'mirror'
  describe(`what is left for the programs of the user, workspace mode ${mode}`, { skip: skip || isSame }, () => {
    const root = openDirectory()
    const [template, remote, marks] = ['template', 'remote.git', 'marks'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ]
    let sandbox: Sandbox
    let upstream = ''

    /** As the user, with settings and a PATH of their own. */
    const sh = (cwd: string, script: string): string =>
      spawnSync('/bin/sh', ['-c', script], {
        cwd,
        encoding: 'utf8',
        timeout: 20_000,
        env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: root, GIT_EDITOR: 'true', GIT_TERMINAL_PROMPT: '0' },
      }).stdout.trim()

    before(async () => {
      sandbox = await createSandbox(localOptions({ workspaceMode: mode }))
      mkdirSync(marks)
      writeFileSync(join(root, '.gitconfig'), '[user]\n\tname = u\n\temail = e\n[safe]\n\tdirectory = *\n')
      for (const directory of ['a', 'docs']) mkdirSync(join(template, directory), { recursive: true })
      for (const path of ['Makefile', 'a/x', 'docs/y']) writeFileSync(join(template, path), `${path}\n`)
      sh(root, `git init -q --bare -b main ${remote}`)
      sh(template, `git init -qb main; git add .; git commit -qm one; git remote add origin ${remote}`)
      sh(template, 'git push -qu origin main; git branch topic; cp -r . ../theirs')
      sh(join(root, 'theirs'), 'echo new > upstream.txt; git add .; git commit -qm two; git push -q')
      upstream = sh(join(root, 'theirs'), 'git rev-parse HEAD:upstream.txt')
    })
    after(async () => {
      await sandbox.close()
      rmSync(root, { recursive: true, force: true })
    })

    const dotFiles = (workspace: string): string[] =>
      readdirSync(workspace, { recursive: true, encoding: 'utf8' })
        .filter((path) => /(?:^|\/)\./.test(path) && !path.startsWith('.git/') && path !== '.git')
        .sort()

    it(`${NAMES.length} names of files are held, and none comes back`, async () => {
      assert.ok(NAMES.length >= 100, String(NAMES.length))
      const workspace = join(root, 'names')
      mkdirSync(workspace)
      const command = NAMES.map((name) => `mkdir -p "$(dirname '${name}')"; echo evil > '${name}'`).join('; ')
      const { exitCode, changes } = await sandbox.run({ command: `${command}; echo plain > plain`, workspace })
      assert.equal(exitCode, 0)
      const there = readdirSync(workspace, { recursive: true, encoding: 'utf8', withFileTypes: true })
      assert.deepEqual(
        there.filter((entry) => !entry.isDirectory()).map(({ name }) => name),
        ['plain'],
      )
      const isHeld = (name: string): boolean =>
        changes?.held.some((unit) => name === unit || name.startsWith(`${unit}/`)) === true
      assert.deepEqual(
        NAMES.filter((name) => !isHeld(name)),
        [],
      )
    })

    for (const [name, commands] of Object.entries(ATTACKS))
      it(`nothing is run or obeyed after: ${name}`, async () => {
        const workspace = join(root, `work-${name.replaceAll(/\W+/g, '-')}`)
        cpSync(template, workspace, { recursive: true })
        const settings = readFileSync(join(workspace, '.git/config'), 'utf8')
        for (const [index, command] of commands.entries()) {
          const mark = `touch ${marks}/${index}-${name.replaceAll(/\W+/g, '-')}`
          const line = command.replaceAll('PWN', mark).replaceAll('UPSTREAM', upstream)
          await sandbox.run({ command: `${AS} ${line}`, workspace })
          sh(workspace, 'for d in . docs docs/one docs/sub docs/four a two three sub m; do (cd $d && git status); done')
          const strange = readFileSync(join(workspace, '.git/config'), 'utf8').split('\n')
          assert.deepEqual(
            strange.filter((each) => !settings.includes(each)),
            [],
            line,
          )
        }
        for (const step of DAY) sh(workspace, step)
        assert.deepEqual(readdirSync(marks), [])
        assert.deepEqual(dotFiles(workspace), [])
        assert.equal(sh(workspace, 'cat upstream.txt'), 'new', 'a pull brings the upstream, and its own bytes')
        assert.equal(sh(workspace, 'git replace; git ls-files -v | grep "^[a-zS]"'), '')
        assert.match(sh(workspace, 'git log -1 --format=%s main'), /mine|Merge/)
      })
  })
}

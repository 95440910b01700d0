/** What a command leaves behind for the host to run or obey later. As root in a mirror; as a normal user in layers and in a mirror. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createSandbox, type Sandbox } from '../../src/machine/sandbox/index.ts'
import { IS_ROOT, localOptions, openDirectory } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const skip = whySkipped() ?? false

/** Files that were there before the command, by path. */
type Files = Readonly<Record<string, string>>

for (const mode of IS_ROOT ? (['auto'] as const) : (['auto', 'mirror'] as const)) {
  describe(`places that the host acts upon, workspace mode ${mode}`, { skip }, () => {
    const root = openDirectory()
    let sandbox: Sandbox
    let count = 0

    const open = (files: Files = {}): string => {
      const workspace = join(root, `work-${count++}`)
      mkdirSync(workspace)
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(workspace, path)), { recursive: true })
        writeFileSync(join(workspace, path), text)
      }
      return workspace
    }
    const used = join(root, 'work-used')

    before(async () => {
      sandbox = await createSandbox(
        localOptions({
          workspaceMode: mode,
          writableNames: ['.vscode'],
          protectedPaths: [join(used, 'node_modules'), join(used, 'conf/own.yaml'), join(used, 'tools')],
        }),
      )
    })
    after(async () => {
      await sandbox.close()
      rmSync(root, { recursive: true, force: true })
    })

    const run = async (workspace: string, command: string): Promise<string> => {
      const { notes } = await sandbox.run({ command, workspace })
      return notes.join('\n')
    }

    for (const path of [
      'skills/added/SKILL.md',
      '.agents/skills/added/SKILL.md',
      '.nexus/agents/x.yaml',
      'sub/nexus.yaml',
      '.opencode/plugin/x.ts',
      '.kiro/hooks/x.json',
      '.zed/tasks.json',
      'sub/.npmrc',
      '.yarnrc.yml',
      '.pnpmfile.cjs',
      'bunfig.toml',
      '.envrc',
      '.mise.toml',
      '.tool-versions',
      '.husky/pre-commit',
      '.cargo/config.toml',
      'a.code-workspace',
      '.hg/hgrc',
      '.hg/sharedpath',
      '.clinerules/hooks/PreToolUse',
      '.github/mcp.json',
      '.github/hooks/x.json',
      '.pi/extensions/x.ts',
      '.any-client/skills/added/SKILL.md',
      'sub/.any-client/mcp.json',
      '.gitlab/duo/mcp.json',
      '.Rprofile',
      'sub/.iex.exs',
      '.bazelrc',
      'tools/bazel',
      'NuGet.Config',
      '.nano-staged.js',
      'rust-toolchain.toml',
      '.git/config',
      '.git/hooks/pre-commit',
      '.git/modules/a/config',
      '.git/worktrees/a/commondir',
      'sub/.git',
    ]) {
      it(`${path} is not made, and a note says so`, async () => {
        const workspace = open()
        const notes = await run(workspace, `mkdir -p "$(dirname ${path})"; echo evil > ${path}`)
        assert.equal(existsSync(join(workspace, path)), false)
        assert.notEqual(notes, '')
      })
    }

    it('a skill of the workspace is neither changed nor removed, and nothing is put beside it', async () => {
      const workspace = open({ 'skills/own/SKILL.md': 'own', 'skills/own/scripts/run.sh': 'own' })
      await run(
        workspace,
        'echo evil > skills/own/scripts/run.sh; rm skills/own/SKILL.md; mkdir skills/more; echo x > skills/more/SKILL.md; mv skills old',
      )
      assert.equal(readFileSync(join(workspace, 'skills/own/SKILL.md'), 'utf8'), 'own')
      assert.equal(readFileSync(join(workspace, 'skills/own/scripts/run.sh'), 'utf8'), 'own')
      assert.equal(existsSync(join(workspace, 'skills/more')), false)
    })

    it('a name that the user opened is written, and no other is', async () => {
      const workspace = open()
      await run(workspace, 'mkdir .vscode .zed; echo 1 > .vscode/tasks.json; echo 1 > .zed/tasks.json')
      assert.equal(existsSync(join(workspace, '.vscode/tasks.json')), true)
      assert.equal(existsSync(join(workspace, '.zed/tasks.json')), false)
    })

    it('files that the host uses by path are not changed under any of their names', async () => {
      mkdirSync(join(used, 'node_modules/.bin'), { recursive: true })
      mkdirSync(join(used, 'conf'))
      mkdirSync(join(used, 'tools'))
      writeFileSync(join(used, 'node_modules/nexus.js'), 'own')
      writeFileSync(join(used, 'conf/own.yaml'), 'own')
      writeFileSync(join(used, 'tools/key.js'), 'own')
      const notes = await run(
        used,
        'echo evil | tee node_modules/nexus.js node_modules/new.js conf/own.yaml tools/key.js tools/lib.js conf/free.txt; mv conf/own.yaml conf/x; ln -s tools t; echo evil > t/key.js',
      )
      for (const path of ['node_modules/nexus.js', 'conf/own.yaml', 'tools/key.js'])
        assert.equal(readFileSync(join(used, path), 'utf8'), 'own', path)
      for (const path of ['node_modules/new.js', 'tools/lib.js'])
        assert.equal(existsSync(join(used, path)), false, path)
      assert.equal(existsSync(join(used, 'conf/free.txt')), true)
      if (mode === 'auto') assert.match(notes, /node_modules/)
    })

    it('what a protected link leads to is not changed', async () => {
      const workspace = open({ 'editor/tasks.json': 'own' })
      symlinkSync('editor', join(workspace, '.zed'))
      await run(workspace, 'echo evil > editor/tasks.json; echo evil > .zed/tasks.json; echo 1 > free')
      assert.equal(readFileSync(join(workspace, 'editor/tasks.json'), 'utf8'), 'own')
      assert.equal(existsSync(join(workspace, 'free')), true)
    })

    it('hooks and included files that the configuration of git names are not changed', async () => {
      const workspace = open({
        '.git/config':
          '[core]\n\thooksPath = build/hooks\n[include]\n\tpath = ../shared.conf\n[alias]\n\tx = !tools/x.sh\n',
        'build/hooks/pre-commit': 'own',
        'shared.conf': 'own',
        'tools/x.sh': 'own',
      })
      await run(workspace, 'echo evil | tee build/hooks/pre-commit build/hooks/new shared.conf tools/x.sh build/free')
      for (const path of ['build/hooks/pre-commit', 'shared.conf', 'tools/x.sh'])
        assert.equal(readFileSync(join(workspace, path), 'utf8'), 'own', path)
      assert.equal(existsSync(join(workspace, 'build/hooks/new')), false)
      assert.equal(existsSync(join(workspace, 'build/free')), true)
    })

    it('a bare repository is not made in two commands, nor its configuration afterwards', async () => {
      const workspace = open()
      await run(workspace, 'mkdir -p r/hooks; echo "[core] fsmonitor = evil" > r/config; echo evil > r/hooks/pre-push')
      const notes = await run(
        workspace,
        'echo "ref: refs/heads/main" > r/HEAD; mkdir -p r/objects r/refs; echo x > r/refs/x',
      )
      const has = (path: string): boolean => existsSync(join(workspace, 'r', path))
      assert.equal(has('HEAD') && has('objects') && has('refs'), false)
      assert.notEqual(notes, '')
    })

    it('a worktree of git is not completed by a second command', async () => {
      const workspace = open()
      await run(workspace, 'mkdir -p r; echo .. > r/commondir; echo evil > r/config')
      await run(workspace, 'echo "ref: refs/heads/main" > r/HEAD')
      const has = (path: string): boolean => existsSync(join(workspace, 'r', path))
      assert.equal(has('HEAD') && has('commondir'), false)
    })

    it('a repository that was there takes commits, and its configuration stays', async () => {
      const workspace = open({ 'r/free': '' })
      execFileSync('git', ['init', '-q', '--bare', join(workspace, 'r')])
      const settings = readFileSync(join(workspace, 'r/config'), 'utf8')
      const commit = 'git -c user.name=u -c user.email=e commit-tree -m one $(git mktree < /dev/null)'
      await run(workspace, `cd r; git update-ref refs/heads/main $(${commit}); echo evil > config`)
      assert.equal(existsSync(join(workspace, 'r/refs/heads/main')), true)
      assert.equal(readFileSync(join(workspace, 'r/config'), 'utf8'), settings)
    })
  })
}

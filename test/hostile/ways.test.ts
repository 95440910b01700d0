/** What leads to a protected place, and what commands complete together. As root in a mirror; as a normal user in layers and in a mirror. */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { CLIENTS } from '../../src/apps/clients/table.ts'
import { createGate } from '../../src/machine/changes/index.ts'
import { createSandbox, type Sandbox } from '../../src/machine/sandbox/index.ts'
import { IS_ROOT, localOptions, openDirectory } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const skip = whySkipped() ?? false

it('each file of a project from which a client starts servers is protected', () => {
  const nothing = (): boolean => false
  const judge = createGate({ before: nothing, after: nothing, never: new Set(), named: new Set(), opened: new Set() })
  for (const { id, files } of CLIENTS)
    for (const path of files.project?.({ home: '/h', project: '/p', nexusHome: '/n', get: () => undefined }) ?? [])
      assert.equal(
        judge({ path: path.slice('/p/'.length), type: 'added', kind: 'file' }).verdict,
        'held',
        `${id}: ${path}`,
      )
})

for (const mode of IS_ROOT ? (['auto'] as const) : (['auto', 'mirror'] as const)) {
  describe(`ways to protected places, workspace mode ${mode}`, { skip }, () => {
    const root = openDirectory()
    let sandbox: Sandbox
    let count = 0

    /** A value that begins with `->` is a link. */
    const open = (files: Readonly<Record<string, string>> = {}): string => {
      const workspace = join(root, `work-${count++}`)
      mkdirSync(workspace)
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(workspace, path)), { recursive: true })
        if (text.startsWith('->')) symlinkSync(text.slice(2), join(workspace, path))
        else writeFileSync(join(workspace, path), text)
      }
      return workspace
    }
    const read = (workspace: string, path: string): string | undefined =>
      existsSync(join(workspace, path)) ? readFileSync(join(workspace, path), 'utf8') : undefined

    before(async () => {
      sandbox = await createSandbox(localOptions({ workspaceMode: mode }))
    })
    after(async () => {
      await sandbox.close()
      rmSync(root, { recursive: true, force: true })
    })

    const run = async (workspace: string, command: string): Promise<string> => {
      const { notes } = await sandbox.run({ command, workspace })
      return notes.join('\n')
    }

    it('a protected link stays, and so does each link on its way', async () => {
      const workspace = open({ '.envrc': '->k/mid/m', 'k/mid': '->real', 'k/real/m': 'own', '.vscode': '->editor' })
      const notes = await run(
        workspace,
        'rm k/mid; mkdir k/mid; echo evil > k/mid/m; rm .vscode; mkdir .vscode; echo evil > .vscode/tasks.json',
      )
      assert.equal(read(workspace, '.envrc'), 'own')
      assert.equal(readlinkSync(join(workspace, '.vscode')), 'editor')
      assert.match(notes, /k\/mid/)
    })

    it('a protected link that leads nowhere still leads nowhere afterwards', async () => {
      const workspace = open({ '.zed': '->conf/zed', '.idea': '->no/where', 'conf/free': '' })
      await run(
        workspace,
        'mkdir -p conf/zed no/where; echo evil | tee conf/zed/tasks.json no/where/x; echo 1 > conf/x',
      )
      assert.equal(read(workspace, '.zed/tasks.json'), undefined)
      assert.equal(read(workspace, '.idea/x'), undefined)
      assert.equal(existsSync(join(workspace, 'conf/x')), true)
    })

    it('no link is put above the end of a protected link', async () => {
      const workspace = open({ '.zed': '->conf/zed', 'conf/free': '' })
      await run(workspace, 'mkdir -p other/zed; echo evil > other/zed/tasks.json; rm -r conf; ln -s other conf')
      assert.equal(read(workspace, '.zed/tasks.json'), undefined)
    })

    it('a script to which a hook is a link is not changed', async () => {
      const workspace = open({ '.git/hooks/pre-commit': '->../../tools/check.sh', 'tools/check.sh': 'own' })
      await run(workspace, 'echo evil > tools/check.sh')
      assert.equal(read(workspace, 'tools/check.sh'), 'own')
    })

    it('hooks of git that are configured and missing are not made, also by way of an included file', async () => {
      const workspace = open({
        '.git/config': '[core]\n\thooksPath = tools/hk\n[include]\n\tpath = ../shared\n',
        shared: '[core]\n\thooksPath = other/hk\n',
        'other/hk/pre-commit': 'own',
        'tools/free': '',
      })
      await run(workspace, 'mkdir -p tools/hk; echo evil > tools/hk/pre-commit; echo evil > other/hk/pre-commit')
      assert.equal(read(workspace, 'tools/hk/pre-commit'), undefined)
      assert.equal(read(workspace, 'other/hk/pre-commit'), 'own')
    })

    it('hooks of git in a directory with spaces in its name are not made or changed', async () => {
      const workspace = open({
        '.git/config':
          '[core]\n\thooksPath = team hooks/git\n[include]\n\tpath = "../my \\"own\\" settings" ; shared\n',
        'my "own" settings': '[core]\n\thooksPath = \\\n  more hooks\n',
        'more hooks/pre-commit': 'own',
      })
      await run(
        workspace,
        'mkdir -p "team hooks/git"; echo evil > "team hooks/git/pre-commit"; echo evil > "more hooks/pre-commit"; echo evil > \'my "own" settings\'',
      )
      assert.equal(read(workspace, 'team hooks/git/pre-commit'), undefined)
      assert.equal(read(workspace, 'more hooks/pre-commit'), 'own')
      assert.match(read(workspace, 'my "own" settings') ?? '', /hooksPath/)
    })

    it('programs that git starts are not changed, and a template of hooks is not made', async () => {
      const lines = {
        'tools/my ssh': "[core]\n\tsshCommand = 'tools/my ssh' -v",
        'tools/colour': '[interactive]\n\tdiffFilter = tools/colour',
        'tools/upload': '[remote "near"]\n\tuploadpack = tools/upload',
        'tools/submodule': '[submodule "s"]\n\tupdate = !tools/submodule',
        'tools/conv': '[diff "x"]\n\ttextconv = ./tools/conv --all',
      }
      const programs = Object.keys(lines)
      const settings = [...Object.values(lines), '[init]\n\ttemplateDir = template'].join('\n')
      const workspace = open({ '.git/config': settings, ...Object.fromEntries(programs.map((path) => [path, 'own'])) })
      await run(
        workspace,
        'for f in tools/*; do echo evil > "$f"; done; mkdir -p template/hooks; echo evil > template/hooks/pre-commit',
      )
      assert.deepEqual(
        programs.map((path) => read(workspace, path)),
        programs.map(() => 'own'),
      )
      assert.equal(read(workspace, 'template/hooks/pre-commit'), undefined)
    })

    it('programs that git starts and that are not there are not made', async () => {
      const settings =
        '[core]\n\tfsmonitor = ./none.sh\n[filter "x"]\n\tclean = tools/none %f\n[alias]\n\tx = !sh ./more/none.sh origin/main\n'
      const workspace = open({ '.git/config': settings })
      const programs = ['none.sh', 'tools/none', 'more/none.sh']
      await run(
        workspace,
        `mkdir -p tools more origin; for f in ${programs.join(' ')} origin/main; do echo evil > $f; done`,
      )
      assert.deepEqual(
        programs.filter((path) => existsSync(join(workspace, path))),
        [],
      )
      assert.equal(existsSync(join(workspace, 'origin/main')), false, 'a word that would be a file')
    })

    it('directories that are called as words of the user in aliases and settings of git are written', async (context) => {
      const { HOME } = process.env
      context.after(() => (HOME === undefined ? delete process.env['HOME'] : (process.env['HOME'] = HOME)))
      const home = mkdtempSync(join(root, 'home-'))
      process.env['HOME'] = home
      writeFileSync(
        join(home, '.gitconfig'),
        '[alias]\n\tlg = log --graph\n\tt = !make test\n\tadd-doc = add guide.md\n[core]\n\teditor = code build\n[pager]\n\tlog = cat log\n',
      )
      const workspace = open({ 'log/x': 'own', 'test/x': 'own', 'build/x': 'own', 'guide.md': 'own' })
      await run(workspace, 'for f in log/x test/x build/x guide.md; do echo new > $f; done')
      for (const path of ['log/x', 'test/x', 'build/x', 'guide.md']) assert.equal(read(workspace, path), 'new\n', path)
    })

    it('hooks of git that are configured by a path from the home directory are not made', async (context) => {
      const { HOME } = process.env
      context.after(() => (HOME === undefined ? delete process.env['HOME'] : (process.env['HOME'] = HOME)))
      process.env['HOME'] = root
      const hooks = `~/work-${count}/hk`
      const workspace = open({ '.git/config': `[core]\n\thooksPath = ${hooks}\n` })
      await run(workspace, 'mkdir hk; echo evil > hk/pre-commit')
      assert.equal(read(workspace, 'hk/pre-commit'), undefined)
    })

    it('what git settings outside the workspace name in it is not made or changed', async (context) => {
      const { HOME } = process.env
      context.after(() => (HOME === undefined ? delete process.env['HOME'] : (process.env['HOME'] = HOME)))
      const home = join(root, `home-${count}`)
      process.env['HOME'] = home
      const workspace = open({ '.git': `gitdir: ${home}/repo/.git/worktrees/w\n`, 'p.sh': 'own', shared: 'own' })
      for (const [path, text] of [
        ['.gitconfig', `[include]\n\tpath = ${workspace}/shared\n[pager]\n\tlog = ./p.sh\n`],
        ['repo/.git/config', '[core]\n\thooksPath = tools/hk\n'],
        ['repo/.git/worktrees/w/commondir', '../..\n'],
      ] as const) {
        mkdirSync(dirname(join(home, path)), { recursive: true })
        writeFileSync(join(home, path), text)
      }
      await run(workspace, 'mkdir -p tools/hk; echo evil > tools/hk/pre-commit; echo evil > p.sh; echo evil > shared')
      assert.equal(read(workspace, 'tools/hk/pre-commit'), undefined)
      assert.equal(read(workspace, 'p.sh'), 'own')
      assert.equal(read(workspace, 'shared'), 'own')
    })

    it('hooks of a submodule and of a worktree are not made in their directories', async () => {
      const workspace = open({
        '.git/modules/deep/sub/config': '[core]\n\tworktree = ../../../../lib/sub\n\thooksPath = hk\n',
        '.git/config': '[core]\n\thooksPath = tools/hk\n',
        'lib/sub/free': '',
        'trees/w/free': '',
      })
      mkdirSync(join(workspace, '.git/worktrees/w'), { recursive: true })
      writeFileSync(join(workspace, '.git/worktrees/w/gitdir'), `${workspace}/trees/w/.git\n`)
      await run(
        workspace,
        'for d in lib/sub/hk trees/w/tools/hk; do mkdir -p $d; echo evil > $d/pre-commit; done; echo 1 > lib/sub/x',
      )
      assert.equal(read(workspace, 'lib/sub/hk/pre-commit'), undefined)
      assert.equal(read(workspace, 'trees/w/tools/hk/pre-commit'), undefined)
      assert.equal(existsSync(join(workspace, 'lib/sub/x')), true)
    })

    it('no settings are made that hooks and package managers read beside the usual ones', async () => {
      const workspace = open()
      const names = ['lefthook-local.yml', '.lefthook-local.toml', '.config/lefthook.jsonc', '.lefthook-local/x.sh']
      const more = ['.lintstagedrc.json', 'lint-staged.config.mjs', 'pnpm-workspace.yaml', '.config/mise.toml']
      const all = [...names, ...more, 'a/.config/mise/config.toml', '.autoenv_leave.zsh', '_darcs/prefs/defaults']
      await run(workspace, all.map((path) => `mkdir -p "$(dirname ${path})"; echo evil > ${path}`).join('; '))
      assert.deepEqual(
        all.filter((path) => existsSync(join(workspace, path))),
        [],
      )
    })

    it('a repository is not made in the data of another', async () => {
      const workspace = open({ '.git/HEAD': 'ref: x', '.git/objects/x': '', '.git/refs/x': '' })
      const notes = await run(
        workspace,
        'mkdir -p .git/refs/q/objects .git/refs/q/refs; cd .git/refs/q; touch objects/a refs/a; echo evil > config; echo "ref: x" > HEAD',
      )
      const has = (path: string): boolean => existsSync(join(workspace, '.git/refs/q', path))
      assert.equal(has('HEAD') && has('objects') && has('refs'), false)
      assert.notEqual(notes, '')
    })

    it('two commands at the same time do not make the halves of a repository', async () => {
      const workspace = open()
      await Promise.all([
        run(workspace, 'mkdir x; echo "ref: x" > x/HEAD; echo evil > x/config; sleep 2'),
        run(workspace, 'mkdir -p x/objects/a x/refs/a; touch x/objects/a/b x/refs/a/b; sleep 2'),
      ])
      const has = (path: string): boolean => existsSync(join(workspace, 'x', path))
      assert.equal(has('HEAD') && has('objects') && has('refs'), false)
    })
  })
}

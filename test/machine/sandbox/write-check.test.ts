/** The verdict on what a file tool writes: the names are those of the gate, test/machine/changes/gate.test.ts. */
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Tree } from '../../../src/machine/files/index.ts'
import { judgeWrite, placesIn } from '../../../src/machine/sandbox/index.ts'
import { openDirectory } from './local-rig.ts'

describe('judgeWrite', () => {
  const parent = openDirectory()
  after(() => rmSync(parent, { recursive: true, force: true }))
  let count = 0

  /** Verdict and place of a write in a workspace with these files; a text that begins with `->` is a link. */
  const verdictOf = async (
    path: string,
    { files = {}, ...more }: { files?: Readonly<Record<string, string>>; own?: string; writable?: string[] } = {},
  ): Promise<string> => {
    const root = join(parent, `work-${count++}`)
    mkdirSync(root)
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      if (text.startsWith('->')) symlinkSync(text.slice(2), join(root, name))
      else writeFileSync(join(root, name), text)
    }
    const tree = new Tree(root, { isReal: true })
    const { own, writable = [] } = more
    const protectedPaths = own === undefined ? ['/elsewhere'] : [join(root, own)]
    try {
      const places = placesIn(root, { protectedPaths, writableNames: writable })
      const { verdict, unit, reason } = await judgeWrite({ tree, root, path, places })
      assert.equal(reason !== undefined, verdict !== 'applied')
      return `${verdict} ${unit}`
    } finally {
      tree.close()
    }
  }

  for (const [path, unit] of [
    ['.git/hooks/pre-commit', '.git/hooks'],
    ['.git/refs/heads/main', '.git'],
    ['.git/COMMIT_EDITMSG', '.git'],
    ['.git/objects/info/packs', '.git/objects/info/packs'],
    ['.claude/settings.json', '.claude'],
    ['sub/.envrc', 'sub/.envrc'],
    ['skills/new/SKILL.md', 'skills'],
    ['node_modules/x/index.js', 'node_modules'],
    ['src/__pycache__/a.pyc', 'src/__pycache__'],
  ] as const)
    it(`${path} is held, there or not`, async () => {
      const files: Record<string, string> = path.startsWith('.git/')
        ? { '.git/HEAD': '', '.git/objects/x': '', '.git/refs/x': '' }
        : {}
      for (const there of [files, { ...files, [path]: 'there' }])
        assert.match(await verdictOf(path, { files: there }), new RegExp(`^held ${unit}`), JSON.stringify(there))
    })

  it('other files are applied, also beside the names', async () => {
    for (const path of ['a.txt', 'src/skills/x.md', '.gitignore', 'a/b/c.txt', 'config', 'venv/x.py', 'HEAD'])
      assert.equal(await verdictOf(path), `applied ${path}`)
  })

  it('a file that would complete a repository is held with all of it', async () => {
    const files = { 'x/HEAD': 'ref', 'x/objects/a': '', 'x/config': '[core]' }
    assert.equal(await verdictOf('x/refs/heads/a', { files }), 'held x')
    assert.equal(await verdictOf('x/other', { files }), 'applied x/other')
  })

  it('what a held link or a configuration of git leads to is held', async () => {
    assert.equal(
      await verdictOf('conf/tasks.json', { files: { 'conf/a': '', 'sub/.vscode': '->../conf' } }),
      'held conf',
    )
    const files = { 'sub/.git/config': '[core]\n\thooksPath = ../tools\n', 'tools/pre-commit': '' }
    assert.equal(await verdictOf('tools/commit-msg', { files }), 'held tools')
  })

  it('what the user opened is applied; a path that the host uses never is, under any name', async () => {
    assert.match(await verdictOf('skills/new/SKILL.md', { writable: ['skills'] }), /^applied/)
    assert.match(await verdictOf('node_modules/x.js', { writable: ['node_modules'] }), /^applied/)
    const own = { own: 'conf/own.yaml', writable: ['conf', 'own.yaml'] }
    assert.equal(await verdictOf('conf/own.yaml', own), 'never conf/own.yaml')
    assert.equal(await verdictOf('nexus.yaml'), 'never nexus.yaml')
  })

  it('an environment of Python is known by its mark', async () => {
    assert.equal(await verdictOf('venv/lib/x.py', { files: { 'venv/pyvenv.cfg': '' } }), 'held venv')
  })
})

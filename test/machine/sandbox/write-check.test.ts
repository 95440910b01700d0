/** What a tool that writes files may not change. Names and places are those of commands: test/hostile/places.test.ts. */
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Tree } from '../../../src/machine/files/index.ts'
import { placesIn, protectedPlace } from '../../../src/machine/sandbox/index.ts'
import { openDirectory } from './local-rig.ts'

describe('protectedPlace', () => {
  const parent = openDirectory()
  after(() => rmSync(parent, { recursive: true, force: true }))
  let count = 0

  /** What keeps `path` from being written in a workspace with these files; a text that begins with `->` is a link. */
  const placeOf = async (
    path: string,
    { files = {}, ...more }: { files?: Readonly<Record<string, string>>; own?: string; writable?: string[] } = {},
  ): Promise<string | undefined> => {
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
      return await protectedPlace({
        tree,
        root,
        path,
        places: placesIn(root, { protectedPaths, writableNames: writable }),
      })
    } finally {
      tree.close()
    }
  }

  for (const [path, place] of [
    ['.git/hooks/pre-commit', '.git/hooks'],
    ['.GIT/config', '.GIT/config'],
    ['sub/.git', 'sub/.git'],
    ['.claude/settings.json', '.claude'],
    ['sub/.envrc', 'sub/.envrc'],
    ['.bashrc', '.bashrc'],
    ['nexus.yaml', 'nexus.yaml'],
    ['skills/new/SKILL.md', 'skills'],
    ['node_modules/x/index.js', 'node_modules'],
  ] as const)
    it(`${path} is not written, there or not`, async () => {
      assert.equal(await placeOf(path), place)
      if (path !== 'sub/.git') assert.equal(await placeOf(path, { files: { [path]: 'there' } }), place)
    })

  it('other files are written, also in a git directory and beside the names', async () => {
    for (const path of ['a.txt', 'src/skills/x.md', '.env', '.git/info/exclude', 'a/b/c.txt', 'config', 'venv/x.py'])
      assert.equal(await placeOf(path), undefined, path)
  })

  it('a file that would complete a repository is not written', async () => {
    const files = { 'x/HEAD': 'ref', 'x/objects/a': '', 'x/config': '[core]' }
    assert.equal(await placeOf('x/refs/heads/a', { files }), 'x/refs')
    assert.equal(await placeOf('x/other', { files }), undefined)
  })

  it('files of a repository that is there are written, and what steers git is not', async () => {
    const files = { 'x/HEAD': 'ref', 'x/objects/a': '', 'x/refs/a': '' }
    assert.equal(await placeOf('x/refs/heads/a', { files }), undefined)
    assert.equal(await placeOf('x/config', { files }), 'x/config')
  })

  it('what a protected link or a configuration of git leads to is not written', async () => {
    assert.equal(await placeOf('conf/tasks.json', { files: { 'conf/a': '', 'sub/.vscode': '->../conf' } }), 'conf')
    const files = { 'sub/.git/config': '[core]\n\thooksPath = ../tools\n', 'tools/pre-commit': '' }
    assert.equal(await placeOf('tools/commit-msg', { files }), 'tools')
  })

  it('what the user opened is written; a path that the host uses is not, under any name', async () => {
    assert.equal(await placeOf('skills/new/SKILL.md', { writable: ['skills'] }), undefined)
    assert.equal(await placeOf('node_modules/x.js', { writable: ['node_modules'] }), undefined)
    assert.equal(
      await placeOf('conf/own.yaml', { own: 'conf/own.yaml', writable: ['conf', 'own.yaml'] }),
      'conf/own.yaml',
    )
  })

  it('an environment of Python is known by its mark', async () => {
    assert.equal(await placeOf('venv/lib/x.py', { files: { 'venv/pyvenv.cfg': '' } }), 'venv')
  })
})

import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

import type { Catalog } from '../../../src/skills/catalog/index.ts'
import { createFreshness, createLoader, type Loader } from '../../../src/skills/load/index.ts'
import { readManifest } from '../../../src/machine/skill-files/index.ts'
import { catalogOf, errorOf, workFolder } from './rig.ts'

const TEXT = '---\nname: linked\ndescription: Is a link. Use when asked.\n---\nThe shared text.\n'

interface Linked {
  /** The root that is searched. */
  readonly root: string
  readonly link: string
  readonly catalog: Catalog
  readonly loader: Loader
}

/** A root with `linked/SKILL.md`, a link to `target`. */
async function linked(t: TestContext, target = '../texts/one.md'): Promise<Linked> {
  const root = join(workFolder(t), 'root')
  mkdirSync(join(root, 'texts'), { recursive: true })
  mkdirSync(join(root, 'linked/references'), { recursive: true })
  writeFileSync(join(root, 'linked/references/guide.md'), 'Guide.')
  writeFileSync(join(root, 'texts/one.md'), TEXT)
  writeFileSync(join(root, 'linked/README.md'), TEXT)
  writeFileSync(join(root, '../outside.md'), TEXT.replace('shared', 'SECRET'))
  const link = join(root, 'linked/SKILL.md')
  symlinkSync(target, link)
  const catalog = await catalogOf(root)
  return { root, link, catalog, loader: createLoader({ catalog: () => catalog }) }
}

for (const target of ['../texts/one.md', 'README.md'])
  test(`a SKILL.md that is a link to ${target} is loaded with the files beside the link`, async (t) => {
    const { root, link, loader, catalog } = await linked(t, target)
    assert.equal(catalog.find('linked')?.file, link)
    const loaded = await loader.load('linked')
    assert.equal(loaded.content, 'The shared text.')
    assert.equal(loaded.baseDir, join(root, 'linked'))
    assert.deepEqual(
      loaded.files.map(({ path }) => path),
      ['README.md', 'references/guide.md'],
    )
    assert.deepEqual(loaded.leftOut, [])
    assert.equal((await loader.readFile('linked', 'SKILL.md')).content, TEXT)
    assert.equal((await loader.readFile('linked', './references/../SKILL.md')).path, 'SKILL.md')
    assert.equal((await loader.readFile('linked', 'guide.md')).content, 'Guide.')
  })

test('the digest of a linked skill is that of a copy, and changes with what the link leads to', async (t) => {
  const { root, link, loader } = await linked(t)
  const before = (await loader.load('linked')).treeDigest
  writeFileSync(join(root, 'texts/one.md'), TEXT.replace('shared', 'other'))
  const after = await loader.load('linked')
  assert.equal(after.content, 'The other text.')
  assert.equal(after.isStale, true)
  assert.notEqual(after.treeDigest, before)
  rmSync(link)
  writeFileSync(link, TEXT)
  assert.equal((await readManifest(join(root, 'linked'))).treeDigest, before)
})

test('a link that is turned elsewhere after it was found is refused, wherever it leads', async (t) => {
  for (const target of ['../../outside.md', '/etc/passwd', '../texts/two.md', 'nowhere']) {
    const { root, link, loader } = await linked(t)
    writeFileSync(join(root, 'texts/two.md'), TEXT)
    rmSync(link)
    symlinkSync(target, link)
    for (const work of [loader.load('linked'), loader.readFile('linked', 'SKILL.md')]) {
      const error = await errorOf(work)
      assert.equal(error.code, 'CONFLICT', target)
      assert.match(error.message, /no longer leads to/)
    }
  }
})

test('what the link leads to is opened by its real path: a link in its place, or on the way, is refused', async (t) => {
  const swaps: readonly ((root: string) => void)[] = [
    (root) => {
      rmSync(join(root, 'texts/one.md'))
      symlinkSync('../../outside.md', join(root, 'texts/one.md'))
    },
    (root) => {
      renameSync(join(root, 'texts'), join(root, 'gone'))
      mkdirSync(join(root, '../evil'))
      writeFileSync(join(root, '../evil/one.md'), TEXT.replace('shared', 'SECRET'))
      symlinkSync('../evil', join(root, 'texts'))
    },
  ]
  for (const swap of swaps) {
    const { root, loader } = await linked(t)
    swap(root)
    assert.match((await errorOf(loader.load('linked'))).code, /^(?:CONFLICT|PATH_OUTSIDE)$/)
    assert.match((await errorOf(loader.readFile('linked', 'SKILL.md'))).code, /^(?:CONFLICT|PATH_OUTSIDE)$/)
  }
})

test('no text from outside is loaded while the link changes between two places', async (t) => {
  const { root, link, loader } = await linked(t)
  let isOn = true
  const turning = (async () => {
    for (let turn = 0; isOn; turn++) {
      symlinkSync(turn % 2 === 0 ? '../../outside.md' : '../texts/one.md', join(root, 'next'))
      renameSync(join(root, 'next'), link)
      for (let wait = 0; wait <= turn % 7; wait++) await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  let loads = 0
  for (let tries = 0; tries < 200; tries++) {
    await new Promise((resolve) => setImmediate(resolve))
    try {
      assert.equal((await loader.load('linked')).content, 'The shared text.')
      loads++
    } catch (error) {
      assert.match((error as { code: string }).code, /^(?:CONFLICT|SKILL_NOT_FOUND)$/)
    }
  }
  isOn = false
  await turning
  t.diagnostic(`${loads} of 200 loads met the right link`)
})

test('a call meets a link that was turned, though the file it led to is the same', async (t) => {
  const { root, link, catalog } = await linked(t)
  let refreshes = 0
  const refresh = async (): Promise<void> => void refreshes++
  const { ensure } = createFreshness({ refresh, everyCall: true })
  const { signal } = new AbortController()
  await ensure(() => catalog.find('linked'), signal)
  assert.equal(refreshes, 0)
  writeFileSync(join(root, 'texts/two.md'), TEXT)
  rmSync(link)
  symlinkSync('../texts/two.md', link)
  await ensure(() => catalog.find('linked'), signal)
  assert.equal(refreshes, 1)
})

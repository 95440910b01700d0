import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'

import {
  buildCatalog,
  buildCatalogInSlices,
  type Catalog,
  diffCatalogs,
  diffSnapshots,
  fromSnapshot,
  toSnapshot,
} from '../../src/catalog/index.ts'
import { type Gated, type Skill, skillAddress, type Tier } from '../../src/kernel/index.ts'
import { catalogOf, copy, held } from './copies.ts'

const HOME: { readonly source: string; readonly tier: Tier } = { source: 'workspace', tier: 'workspace' }

/** Counts how often a pause was offered, and takes every tenth. */
function counted(): { breathe: () => Promise<void> | undefined; readonly count: number } {
  let count = 0
  return {
    breathe: () => (++count % 10 === 0 ? Promise.resolve() : undefined),
    get count() {
      return count
    },
  }
}

/** Numbers from 0, in an order that has nothing to do with them. */
function mixed(count: number): number[] {
  return Array.from({ length: count }, (_, index) => (index * 7_919) % count)
}

function skillOf(index: number): string {
  return `skill-${String(index).padStart(5, '0')}`
}

/** Every name once in order, and some a second time, held, or unlike what they look like. */
const MANY: Gated = {
  ready: [
    ...mixed(2_000).map((index) => copy(skillOf(index))),
    ...mixed(600).map((index) => copy(skillOf(index * 3), HOME)),
    copy('ｗｉｄｅ'),
    copy('wide', HOME),
  ],
  held: mixed(400).map((index) => held(copy(skillOf(index * 5), { source: 'extra', tier: 'extra' }))),
}

/** All of a catalog that can be compared. */
function dataOf({ skills, held: heldBack, shadowed, rejected, diagnostics, version }: Catalog): unknown {
  return { skills, heldBack, shadowed, rejected, diagnostics, version }
}

function inOrder(count: number): Skill[] {
  return Array.from({ length: count }, (_, index) => copy(skillOf(index)))
}

/** Both lists in order, so that there is nothing to sort. */
function ordered(count: number): Gated {
  const ready = inOrder(count)
  return {
    ready: ready.filter((_, index) => index % 7 !== 0),
    held: ready.filter((_, index) => index % 7 === 0).map((skill) => held(skill)),
  }
}

for (const [what, gated] of [
  ['in order', ordered(2_000)],
  ['in no order, with copies', MANY],
] as const) {
  test(`a catalog of thousands ${what} is the same in slices, with a pause on offer again and again`, async () => {
    const rejected = [{ name: skillOf(1), file: '/x/SKILL.md', origin: copy('x', HOME).origin, diagnostics: [] }]
    const pauses = counted()
    const catalog = await buildCatalogInSlices({ gated, rejected }, pauses.breathe)
    assert.deepEqual(dataOf(catalog), dataOf(buildCatalog({ gated, rejected })))
    assert.ok(pauses.count > 20, String(pauses.count))
    const names = catalog.skills.map(({ name }) => name)
    assert.deepEqual(names, names.toSorted())
    for (const skill of catalog.skills.slice(0, 500)) {
      assert.equal(catalog.find(skill.name), skill)
      assert.equal(catalog.find(skillAddress(skill)), skill)
    }
    const listed = catalog.skills.length + catalog.held.length + catalog.shadowed.length
    assert.equal(listed, gated.ready.length + gated.held.length)
  })
}

test('building ends when a pause rejects', async () => {
  const stop = new Error('stop')
  const building = buildCatalogInSlices({ gated: MANY }, () => Promise.reject(stop))
  await assert.rejects(building, stop)
})

test('of a thousand copies of one name in a source the last in path order wins, and all others are listed', async () => {
  const directories = mixed(1_000).map((index) => `/local/${skillOf(index)}`)
  const ready = directories.map((directory) => copy('same', { directory }))
  const pauses = counted()
  const catalog = await buildCatalogInSlices({ gated: { ready, held: [] } }, pauses.breathe)
  assert.deepEqual(
    catalog.skills.map(({ directory }) => directory),
    [`/local/${skillOf(999)}`],
  )
  assert.equal(catalog.shadowed.length, 999)
  assert.equal(catalog.diagnostics.length, 999)
  assert.ok(pauses.count > 1_000, String(pauses.count))
})

test('a version worked out in slices is the version: the digest of addresses, descriptions and sizes as JSON', async () => {
  for (const count of [0, 1, 64, 65, 1_000]) {
    const ready = inOrder(count)
    const pauses = counted()
    const version = await catalogOf(ready).versionInSlices(pauses.breathe)
    const rows = ready.map((skill) => [skillAddress(skill), skill.description, skill.stamp.size])
    const text = `nexus-catalog-v2\u0000${JSON.stringify(rows)}`
    assert.equal(version, createHash('sha256').update(text).digest('hex'))
    assert.equal(catalogOf(ready).version, version)
    assert.equal(pauses.count, Math.ceil(count / 64))
  }
})

test('two catalogs differ as their snapshots do', async () => {
  const sketch = fc.record({
    name: fc.constantFrom(...'abcdefg', 'é', 'e\u0301', '\u200b', 'ａ'),
    bytes: fc.constantFrom('1', '2'),
    isOurs: fc.boolean(),
    directory: fc.constantFrom('/p/x', '/p/y'),
  })
  const skills = fc
    .uniqueArray(sketch, { maxLength: 12 })
    .map((list) => list.map(({ name, isOurs, ...more }) => copy(name, { ...more, ...(isOurs && HOME) })))
  await fc.assert(
    fc.asyncProperty(skills, skills, async (one, two) => {
      const [a, b] = [catalogOf(one), catalogOf(two)]
      const [before, now] = [fromSnapshot(toSnapshot(a)), fromSnapshot(toSnapshot(b))]
      assert.ok(before && now)
      const diff = await diffCatalogs(a, b, counted().breathe)
      assert.deepEqual(diff, diffSnapshots(before, now))
      const isSame = diff.added.length + diff.removed.length + diff.changed.length === 0
      assert.equal(isSame, a.version === b.version)
    }),
  )
})

test('one edit, one new and one removed skill among thousands are found, with pauses on offer', async () => {
  const ready = inOrder(3_000)
  const edited = ready.map((skill, index) => (index === 1_000 ? copy(skill.name, { bytes: 'edited' }) : skill))
  const now = [...edited.slice(0, -1), copy('skill-00001-more')]
  const pauses = counted()
  assert.deepEqual(await diffCatalogs(catalogOf(ready), catalogOf(now), pauses.breathe), {
    added: ['skill-00001-more'],
    removed: [ready.at(-1)?.name],
    changed: [ready[1_000]?.name],
  })
  assert.ok(pauses.count > 20, String(pauses.count))
})

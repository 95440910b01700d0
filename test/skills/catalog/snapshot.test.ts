import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'

import fc from 'fast-check'

import {
  type CatalogSnapshot,
  describeDiff,
  diffCatalogs,
  diffSnapshots,
  fromSnapshot,
  toSnapshot,
} from '../../../src/skills/catalog/index.ts'
import { type Skill, skillAddress } from '../../../src/kernel/index.ts'
import { catalogOf, copy } from './copies.ts'

const CATALOG = catalogOf([copy('a'), copy('__proto__'), copy('b', { tier: 'bundled' })])

test('a snapshot survives JSON and names what was offered', () => {
  const snapshot = fromSnapshot(JSON.parse(JSON.stringify(toSnapshot(CATALOG))))
  assert.equal(snapshot?.version, CATALOG.version)
  assert.deepEqual(
    snapshot.skills.map(({ name, address, directory }) => [name, address, directory]),
    [
      ['__proto__', 'local/__proto__', '/local/__proto__'],
      ['a', 'local/a', '/local/a'],
      ['b', 'bundled/b', '/bundled/b'],
    ],
  )
})

test('a damaged snapshot is undefined, never a throw', () => {
  const good = JSON.parse(JSON.stringify(toSnapshot(CATALOG))) as { skills: { address: string }[] }
  const damaged = [
    undefined,
    null,
    'text',
    [],
    {},
    { ...good, format: 1 },
    { ...good, version: 'x' },
    { ...good, skills: {} },
    { ...good, skills: good.skills.slice(1) },
    { ...good, skills: [null] },
    { ...good, skills: good.skills.map((skill) => ({ ...skill, address: 'other/a' })) },
    { ...good, skills: good.skills.map((skill) => ({ ...skill, size: 'large' })) },
    { ...good, skills: good.skills.map(({ address }) => ({ address })) },
  ]
  for (const json of damaged) assert.equal(fromSnapshot(json), undefined, JSON.stringify(json))
})

test('no JSON value makes reading a snapshot throw', () => {
  fc.assert(fc.property(fc.jsonValue(), (json) => fromSnapshot(json) === undefined))
})

test('the version is the digest of addresses, descriptions and sizes as JSON', () => {
  const rows = CATALOG.skills.map((skill) => [skillAddress(skill), skill.description, skill.stamp.size])
  const text = `nexus-catalog-v2\u0000${JSON.stringify(rows)}`
  assert.equal(CATALOG.version, createHash('sha256').update(text).digest('hex'))
})

function snapshotOf(skills: readonly Skill[]): CatalogSnapshot {
  const snapshot = fromSnapshot(JSON.parse(JSON.stringify(toSnapshot(catalogOf(skills)))))
  assert.ok(snapshot)
  return snapshot
}

test('a difference names what came, what went, and what has another text or is another copy', () => {
  const before = snapshotOf([copy('same'), copy('gone'), copy('edited', { bytes: 'a' }), copy('moved', { bytes: 'm' })])
  const now = snapshotOf([
    copy('same'),
    copy('edited', { bytes: 'b' }),
    copy('moved', { bytes: 'm', source: 'workspace', tier: 'workspace' }),
    copy('new'),
  ])
  const diff = diffSnapshots(before, now)
  assert.deepEqual(diff, { added: ['new'], removed: ['gone'], changed: ['edited', 'moved'] })
  assert.equal(describeDiff(diff), 'Skills changed: added new; removed gone; changed edited, moved.')
})

test('no difference has no words, and a long one is one bounded line', () => {
  const some = snapshotOf([copy('a')])
  assert.equal(describeDiff(diffSnapshots(some, some)), '')
  const many = snapshotOf(Array.from({ length: 500 }, (_, index) => copy(`skill-${index}`)))
  const line = describeDiff(diffSnapshots(some, many))
  assert.match(line, /^Skills changed: added skill-0, .* and 490 more; removed a\.$/)
  const hostile = snapshotOf([copy('x\n</skills>\u001b[31m', { directory: '/local/x' })])
  assert.doesNotMatch(describeDiff(diffSnapshots(some, hostile)), /[\n\u001b]/)
})

const skills = fc
  .uniqueArray(fc.record({ name: fc.constantFrom(...'abcdef'), bytes: fc.constantFrom('1', '2'), up: fc.boolean() }), {
    selector: ({ name }) => name,
  })
  .map((list) =>
    list.map(({ name, bytes, up }) =>
      copy(name, { bytes, ...(up && { source: 'workspace', tier: 'workspace' as const }) }),
    ),
  )

test('the difference is empty exactly when the versions are equal, and turning it round swaps added and removed', () => {
  fc.assert(
    fc.property(skills, skills, (one, two) => {
      const [a, b] = [snapshotOf(one), snapshotOf(two)]
      const there = diffSnapshots(a, b)
      const back = diffSnapshots(b, a)
      assert.equal(describeDiff(there) === '', a.version === b.version)
      assert.deepEqual(diffCatalogs(catalogOf(one), catalogOf(two)), there)
      assert.deepEqual([there.added, there.removed, there.changed], [back.removed, back.added, back.changed])
    }),
  )
})

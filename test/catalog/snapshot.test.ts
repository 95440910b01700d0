import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { fromSnapshot, toSnapshot } from '../../src/catalog/index.ts'
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

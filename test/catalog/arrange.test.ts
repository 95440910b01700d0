import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildCatalog, type Catalog, estimateLine, estimateTokens } from '../../src/catalog/index.ts'
import { atOnce, sorted } from '../../src/catalog/steps.ts'
import type { Gated, Skill } from '../../src/kernel/index.ts'
import { copy, held } from './copies.ts'

/** A name that is not its own key, and after all others: with it every name is grouped. */
const ODD = copy('\u{fffd}odd', { source: 'odd', tier: 'extra', rank: 9 })

const sketch = fc.record({
  // Sometimes in order and different, as of a folder; sometimes twice.
  name: fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 4_000 })).map((index) => `skill-${index}`),
  origin: fc.constantFrom(
    { source: 'workspace', tier: 'workspace', rank: 0 } as const,
    { source: 'local', tier: 'local', rank: 0 } as const,
    { source: 'extra:a', tier: 'extra', rank: 0 } as const,
    { source: 'extra:b', tier: 'extra', rank: 1 } as const,
  ),
  trusted: fc.boolean(),
  place: fc.constantFrom('x', 'y'),
  bytes: fc.constantFrom('1', '2'),
  why: fc.constantFrom(undefined, undefined, 'bin' as const, 'not-allowed' as const),
})

const gated = fc
  .tuple(fc.array(sketch, { maxLength: 30, size: 'max' }), fc.constantFrom('as they come', 'in order', 'different'))
  .map(([sketches, how]): Gated => {
    const places = new Set<string>()
    const found = sketches.flatMap(({ name, origin, trusted, place, bytes, why }) => {
      const directory = `/${origin.source}/${place}/${name}`
      const key = how === 'different' ? name : directory
      if (places.has(key)) return []
      places.add(key)
      return [{ skill: copy(name, { ...origin, trusted, bytes, directory }), why }]
    })
    if (how !== 'as they come') found.sort((a, b) => (a.skill.directory < b.skill.directory ? -1 : 1))
    return {
      ready: found.flatMap(({ skill, why }) => (why === undefined ? [skill] : [])),
      held: found.flatMap(({ skill, why }) => (why === undefined ? [] : [held(skill, why)])),
    }
  })

/** All that can be said about a catalog, but for what is said about the odd one. */
function dataOf({ skills, held: heldBack, shadowed, diagnostics }: Catalog): unknown {
  const isOurs = (skill: Skill): boolean => skill !== ODD
  return { skills: skills.filter(isOurs), held: heldBack, shadowed, diagnostics }
}

test('a catalog of plain names is what it would be if all of them were grouped', () => {
  fc.assert(
    fc.property(gated, fc.nat({ max: 4_000 }), (found, broken) => {
      const rejected = [
        { name: `skill-${broken % 41}`, file: '/x/SKILL.md', origin: copy('x').origin, diagnostics: [] },
        { name: `skill-${broken}`, file: '/y/SKILL.md', origin: copy('y').origin, diagnostics: [] },
      ]
      const plain = buildCatalog({ gated: found, rejected })
      const grouped = buildCatalog({ gated: { ...found, ready: [...found.ready, ODD] }, rejected })
      assert.deepEqual(dataOf(plain), dataOf(grouped))
      assert.ok(grouped.skills.includes(ODD))
      for (const skill of [...found.ready, ...found.held.map((each) => each.skill)]) {
        for (const word of [skill.name, `${skill.origin.source}/${skill.name}`])
          assert.equal(plain.find(word), grouped.find(word), word)
      }
    }),
    { numRuns: 300 },
  )
})

test('what was gated stays as it was when a catalog is made of it', () => {
  const ready = [copy('b'), copy('a')]
  const catalog = buildCatalog({ gated: { ready, held: [] } })
  assert.deepEqual(
    catalog.skills.map(({ name }) => name),
    ['a', 'b'],
  )
  assert.deepEqual(
    ready.map(({ name }) => name),
    ['b', 'a'],
  )
  assert.ok(!Object.isFrozen(ready))
})

test('sorting in steps is sorting: stable, in one order, and whatever is equal is compared', () => {
  // More than one sorts at once, and fewer.
  const runs = fc.array(
    fc.tuple(fc.array(fc.nat({ max: 900 }), { maxLength: 400, size: 'max' }), fc.constantFrom('up', 'down', 'mixed')),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(runs, (parts) => {
      const values = parts.flatMap(([part, how]) =>
        how === 'mixed' ? part : part.sort((a, b) => (how === 'up' ? a - b : b - a)),
      )
      const items = values.map((value, index) => ({ value, index }))
      let isTwice = false
      const compare = (a: { value: number }, b: { value: number }): number => {
        if (a.value === b.value) isTwice = true
        return a.value - b.value
      }
      const found = atOnce(sorted(items, compare))
      assert.deepEqual(
        found,
        items.toSorted((a, b) => a.value - b.value || a.index - b.index),
      )
      assert.equal(isTwice, new Set(values).size < values.length)
    }),
    { numRuns: 200 },
  )
})

test('the tokens of a line are estimated without making it', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('日本', 'é', '😀'))
  fc.assert(
    fc.property(text, text, (name, description) => {
      assert.equal(estimateLine(name, description), estimateTokens(`- **${name}**: ${description}`))
    }),
  )
})

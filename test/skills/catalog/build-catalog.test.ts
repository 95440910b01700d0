import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import type { HeldSkill, InvalidSkill, Skill, Tier } from '../../../src/kernel/index.ts'
import { skillAddress, TIERS } from '../../../src/kernel/index.ts'
import { buildCatalog } from '../../../src/skills/catalog/index.ts'
import { catalogOf, copy, held } from './copies.ts'

function offered(skills: readonly Skill[]): string[] {
  return skills.map(skillAddress)
}

test('the highest tier wins, whatever the order in which copies were found', () => {
  const copies = TIERS.map((tier) => copy('github', { tier }))
  for (const order of [copies, copies.toReversed()]) {
    const catalog = catalogOf(order)
    assert.deepEqual(offered(catalog.skills), ['workspace/github'])
    assert.deepEqual(offered(catalog.shadowed.map(({ skill }) => skill)), [
      'local/github',
      'bundled/github',
      'source/github',
      'extra/github',
    ])
    for (const { by, why } of catalog.shadowed) assert.deepEqual([by.origin.tier, why], ['workspace', 'lower'])
  }
})

test('within a tier the earlier source wins', () => {
  const catalog = catalogOf([
    copy('a', { tier: 'extra', source: 'second', rank: 1 }),
    copy('a', { tier: 'extra', source: 'first', rank: 0 }),
  ])
  assert.deepEqual(offered(catalog.skills), ['first/a'])
})

test('within one source the last in path order wins', () => {
  const one = copy('same', { directory: '/local/a/z' })
  const two = copy('same', { directory: '/local/a-b' })
  for (const order of [
    [one, two],
    [two, one],
  ]) {
    const catalog = catalogOf(order)
    assert.equal(catalog.skills[0]?.directory, '/local/a-b')
  }
})

test('a copy with the same files is a duplicate, without a warning', () => {
  const catalog = catalogOf([
    copy('a', { directory: '/local/x/a', bytes: 'same' }),
    copy('a', { directory: '/local/y/a', bytes: 'same' }),
    copy('a', { tier: 'bundled', bytes: 'same' }),
  ])
  assert.deepEqual(offered(catalog.skills), ['local/a'])
  assert.deepEqual(
    catalog.shadowed.map(({ why }) => why),
    ['duplicate', 'duplicate'],
  )
  assert.deepEqual(catalog.diagnostics, [])
})

test('a copy held for what is missing here leaves its name to the first ready copy below it', () => {
  for (const code of ['missing-description', 'os', 'bin', 'any-bins', 'env', 'config', 'tool-group'] as const) {
    const workspace = copy('github', { tier: 'workspace' })
    const bundled = copy('github', { tier: 'bundled' })
    const catalog = catalogOf(
      [copy('github', { tier: 'extra' }), bundled],
      [held(workspace, code), held(copy('github', { tier: 'local', trusted: false }), 'untrusted')],
    )
    assert.deepEqual(offered(catalog.skills), ['bundled/github'], code)
    assert.deepEqual(
      catalog.held.map(({ skill }) => skill.origin.tier),
      ['workspace', 'local'],
    )
    assert.deepEqual(
      catalog.shadowed.map(({ skill, by }) => [skill.origin.tier, by.origin.tier]),
      [['extra', 'bundled']],
    )
    assert.equal(catalog.find('github'), bundled)
    assert.equal(catalog.find('workspace/github'), undefined)
    const [notice] = catalog.diagnostics
    assert.deepEqual([notice?.code, notice?.severity, notice?.path], ['lower-copy-used', 'info', workspace.file])
  }
})

test('a copy held for what is missing here hides the lower ones when none of them is ready', () => {
  const workspace = copy('github', { tier: 'workspace' })
  const catalog = catalogOf([], [held(workspace, 'bin'), held(copy('github', { tier: 'bundled' }), 'env')])
  assert.deepEqual(
    catalog.held.map(({ skill }) => skill),
    [workspace],
  )
  assert.equal(catalog.shadowed[0]?.by, workspace)
  assert.deepEqual(catalog.diagnostics, [])
})

test('a disabled copy hides all lower ones, whatever else it lacks', () => {
  const workspace = copy('github', { tier: 'workspace' })
  const reasons = [...held(workspace, 'disabled').reasons, ...held(workspace, 'bin').reasons]
  const catalog = catalogOf([copy('github', { tier: 'bundled' })], [{ skill: workspace, reasons }])
  assert.deepEqual(catalog.skills, [])
  assert.deepEqual(
    catalog.held.map(({ skill }) => skill),
    [workspace],
  )
  assert.equal(catalog.shadowed[0]?.by, workspace)
  assert.equal(catalog.find('github'), undefined)
  assert.equal(catalog.find('bundled/github')?.origin.source, 'bundled')
  assert.equal(catalog.find('skill://bundled/github/SKILL.md')?.origin.source, 'bundled')
})

test('an untrusted copy never hides a trusted one and stays listed as held', () => {
  const stranger = copy('github', { tier: 'workspace', trusted: false })
  const catalog = catalogOf([copy('github', { tier: 'bundled' })], [held(stranger, 'untrusted')])
  assert.deepEqual(offered(catalog.skills), ['bundled/github'])
  assert.deepEqual(
    catalog.held.map(({ skill }) => skill),
    [stranger],
  )
  assert.deepEqual(catalog.shadowed, [])
  assert.equal(catalog.find('workspace/github'), undefined)
})

test('a copy that this agent may not see does not take the name from one that it may', () => {
  const catalog = catalogOf(
    [copy('github', { tier: 'bundled' })],
    [held(copy('github', { tier: 'workspace' }), 'not-allowed')],
  )
  assert.deepEqual(offered(catalog.skills), ['bundled/github'])
  assert.equal(catalog.held.length, 1)
})

test('a shadowed copy that could not run either keeps its reasons', () => {
  const catalog = catalogOf([copy('a', { tier: 'workspace' })], [held(copy('a', { tier: 'bundled' }))])
  assert.deepEqual(catalog.held, [])
  assert.deepEqual(catalog.shadowed[0]?.reasons, [{ code: 'bin', missing: [], text: 'bin', fix: 'Mend bin.' }])
})

test('every ready copy is found by its address, an address of two copies means the one its source uses', () => {
  const catalog = catalogOf([
    copy('a', { tier: 'workspace' }),
    copy('a', { tier: 'bundled', directory: '/bundled/one' }),
    copy('a', { tier: 'bundled', directory: '/bundled/two' }),
  ])
  assert.equal(catalog.find('a')?.origin.tier, 'workspace')
  assert.equal(catalog.find('workspace/a')?.origin.tier, 'workspace')
  assert.equal(catalog.find('bundled/a')?.directory, '/bundled/two')
  assert.equal(catalog.find('extra/a'), undefined)
  for (const name of ['__proto__', 'constructor', '', '/', 'A', 'workspace/'])
    assert.equal(catalog.find(name), undefined)
})

test('a skill whose label looks like an address does not catch calls of that address', () => {
  const impostor = copy('bundled/github', { tier: 'extra' })
  const catalog = catalogOf([copy('github', { tier: 'bundled' }), impostor])
  assert.equal(catalog.find('bundled/github')?.origin.tier, 'bundled')
  assert.equal(catalog.find('extra/bundled/github'), impostor)
})

test('names that look the same are one name', () => {
  const look = copy('git\u200bhub', { tier: 'bundled' })
  const catalog = catalogOf([
    copy('github', { tier: 'workspace' }),
    look,
    copy('ﬁle'),
    copy('file', { tier: 'bundled' }),
  ])
  assert.deepEqual(
    catalog.skills.map(({ name }) => name),
    ['github', 'ﬁle'],
  )
  assert.equal(catalog.shadowed[0]?.skill.name, 'file')
  assert.equal(catalog.find('bundled/github'), look)
})

test('names of the prototype are ordinary names', () => {
  const catalog = catalogOf([copy('__proto__'), copy('constructor'), copy('toString')])
  assert.deepEqual(
    catalog.skills.map(({ name }) => name),
    ['__proto__', 'constructor', 'toString'],
  )
  assert.equal(catalog.find('__proto__')?.name, '__proto__')
})

test('skills are sorted by the bytes of their names', () => {
  const names = ['b', 'a-b', 'a', 'B', 'é', '\uff5e', '\u{1f600}', 'a.b']
  const bytes = (name: string): Buffer => Buffer.from(name)
  const catalog = catalogOf(names.map((name) => copy(name)))
  assert.deepEqual(
    catalog.skills.map(({ name }) => name),
    names.toSorted((a, b) => bytes(a).compare(bytes(b))),
  )
})

test('a lower copy that stands in for an unreadable one is announced', () => {
  const origin = { source: 'workspace', tier: 'workspace', rank: 0, trusted: true } as const
  const broken: InvalidSkill = { name: 'github', file: '/w/github/SKILL.md', origin, diagnostics: [] }
  const catalog = catalogOf([copy('github', { tier: 'bundled' })], [], [broken])
  assert.deepEqual(catalog.invalid, [broken])
  assert.deepEqual(
    catalog.diagnostics.map(({ code, path }) => [code, path]),
    [['lower-copy-used', '/w/github/SKILL.md']],
  )
  const stranger = { ...broken, origin: { ...origin, trusted: false } }
  assert.deepEqual(catalogOf([copy('github', { tier: 'bundled' })], [], [stranger]).diagnostics, [])
})

test('the version changes with what is offered and with nothing else', () => {
  const a = copy('a')
  const b = copy('b')
  const version = catalogOf([a, b]).version
  assert.match(version, /^[0-9a-f]{64}$/)
  assert.equal(catalogOf([b, a]).version, version)
  assert.equal(catalogOf([a, b], [held(copy('c'))]).version, version)
  assert.notEqual(catalogOf([a]).version, version)
  assert.notEqual(catalogOf([a, copy('b', { bytes: 'edited' })]).version, version)
  assert.notEqual(catalogOf([a, copy('b', { tier: 'bundled' })]).version, version)
})

const anyCopy = fc.record({
  name: fc.constantFrom('a', 'b', '__proto__', 'a\u200b'),
  tier: fc.constantFrom<Tier>(...TIERS),
  rank: fc.nat(2),
  dir: fc.constantFrom('x', 'y'),
  bytes: fc.constantFrom('1', '2', undefined),
  state: fc.constantFrom('ready', 'bin', 'disabled', 'untrusted', 'not-allowed'),
})

test('every copy is in exactly one list, each name is offered once, and input order does not matter', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyCopy, { maxLength: 12, selector: (c) => `${c.tier}${c.rank}${c.dir}` }),
      (sketches) => {
        const ready: Skill[] = []
        const heldBack: HeldSkill[] = []
        for (const { name, tier, rank, dir, bytes, state } of sketches) {
          const source = `${tier}${rank}`
          const parts = { tier, rank, source, directory: `/${source}/${dir}`, trusted: state !== 'untrusted' }
          const skill = copy(name, bytes === undefined ? parts : { ...parts, bytes })
          if (state === 'ready') ready.push(skill)
          else heldBack.push(held(skill, state as 'bin' | 'disabled' | 'untrusted' | 'not-allowed'))
        }
        const catalog = catalogOf(ready, heldBack)
        const listed = [...catalog.skills, ...[...catalog.held, ...catalog.shadowed].map(({ skill }) => skill)]
        assert.equal(listed.length, sketches.length)
        assert.equal(new Set(listed).size, sketches.length)
        assert.equal(new Set(catalog.skills.map(({ name }) => name.replace('\u200b', ''))).size, catalog.skills.length)
        for (const skill of catalog.skills) {
          assert.ok(skill.origin.trusted)
          assert.equal(catalog.find(skill.name), skill)
          assert.equal(catalog.find(skillAddress(skill)), skill)
        }
        for (const { by, skill } of catalog.shadowed) assert.ok(by.origin.trusted || !skill.origin.trusted)
        const again = catalogOf(ready.toReversed(), heldBack.toReversed())
        assert.deepEqual([again.version, again.skills, again.held], [catalog.version, catalog.skills, catalog.held])
      },
    ),
  )
})

test('the catalog does not depend on the order in which skills of different names were found', () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-zA-Z0-9._-]{1,6}$/), { maxLength: 12 })
  fc.assert(
    fc.property(names, names, fc.func(fc.boolean()), (some, others, isHeld) => {
      const all = [...new Set([...some, ...others])]
      const of = (list: readonly string[]): unknown => {
        const ready = list.filter((name) => !isHeld(name)).map((name) => copy(name))
        const kept = list.filter((name) => isHeld(name)).map((name) => held(copy(name)))
        const { skills, held: back, shadowed, diagnostics, version } = catalogOf(ready, kept)
        return { skills, back, shadowed, diagnostics, version }
      }
      assert.deepEqual(of(all.toSorted()), of(all))
    }),
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

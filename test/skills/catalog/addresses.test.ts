import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { type Catalog, copiesOf, everyCopy, renderIndex, toSkillUri } from '../../../src/skills/catalog/index.ts'
import { diagnose } from '../../../src/skills/diagnose/index.ts'
import type { Skill } from '../../../src/kernel/index.ts'
import { catalogOf, copy, held } from './copies.ts'

/** The first copy that a text means to commands that look. */
function meant(catalog: Catalog, text: string): Skill | undefined {
  return everyCopy(copiesOf(catalog, text))[0]
}

test('the second copy of a name in one source has an address of its own, which leads to it', () => {
  const one = copy('twin', { directory: '/local/a' })
  const two = copy('twin', { directory: '/local/b' })
  const three = copy('twin', { directory: '/local/c' })
  const catalog = catalogOf([one, two, three, copy('twin', { tier: 'bundled' })])
  assert.deepEqual([three, two, one].map(catalog.addressOf), ['local/twin', 'local/twin~2', 'local/twin~3'])
  assert.equal(catalog.find('local/twin'), three)
  assert.equal(catalog.find('local/twin~2'), two)
  assert.equal(catalog.find('skill://local/twin~3/SKILL.md'), one)
  assert.equal(meant(catalog, 'local/twin~2'), two)
  const explained = diagnose('local/twin~2', { catalog })
  assert.equal(explained.verdict, 'shadowed')
  assert.deepEqual(
    explained.findings.map(({ path }) => path),
    [two.file],
  )
})

test('a skill whose label ends like the address of a second copy keeps its address', () => {
  const label = copy('twin~2')
  const second = copy('twin', { directory: '/local/a' })
  const catalog = catalogOf([label, second, copy('twin', { directory: '/local/b' })])
  assert.equal(catalog.find('local/twin~2'), label)
  assert.equal(catalog.addressOf(second), 'local/twin~3')
  assert.equal(catalog.find('local/twin~3'), second)
})

test('a copy that is held has its address to itself, and is found there by commands that look', () => {
  const pretender = copy('bundled/pdf', { tier: 'workspace' })
  const hidden = copy('pdf', { tier: 'bundled' })
  const catalog = catalogOf([pretender, copy('pdf', { tier: 'workspace' })], [held(hidden)])
  assert.equal(catalog.find('bundled/pdf'), undefined)
  assert.equal(meant(catalog, 'bundled/pdf'), hidden)
  assert.equal(catalog.find('workspace/bundled/pdf'), pretender)
  const alone = catalogOf([pretender], [held(hidden)])
  assert.equal(alone.find('bundled/pdf'), undefined)
  const untrusted = catalogOf([pretender], [held(copy('pdf', { tier: 'bundled', trusted: false }), 'untrusted')])
  assert.equal(untrusted.find('bundled/pdf'), pretender, 'an untrusted copy takes no name away')
  assert.equal(meant(untrusted, 'bundled/pdf'), pretender)
})

test('what the index shows loads the skill that it is shown for', () => {
  const pretender = copy('local/pdf', { tier: 'workspace', description: 'Pretends.' })
  const wide = copy('local／docx', { tier: 'workspace', description: 'Pretends as well.' })
  const odd = copy('\u200b', { tier: 'workspace', directory: '/workspace/hidden', description: 'Shows nothing.' })
  const catalog = catalogOf([pretender, wide, odd, copy('pdf'), copy('docx'), copy('a/b', { tier: 'bundled' })])
  const { text, items } = renderIndex(catalog, { location: false })
  const shown = [...text.matchAll(/^- \*\*(.*?)\*\*: (.*)$/gm)].map(([, name = '', description = '']) => ({
    ...{ name, description },
  }))
  assert.equal(shown.length, 6)
  for (const { name, description } of shown) assert.equal(catalog.find(name)?.description, description)
  assert.ok(shown.some(({ name }) => name === 'workspace/local/pdf'))
  assert.deepEqual(
    items.map(({ shown: how }) => how).filter((how) => how !== 'full'),
    [],
  )
})

test('an explanation of an address names the skill that has it for its name', () => {
  const catalog = catalogOf([copy('local/pdf', { tier: 'workspace' }), copy('pdf')])
  const { verdict, findings } = diagnose('local/pdf', { catalog })
  assert.equal(verdict, 'ready')
  const note = findings.find(({ code }) => code === 'name-like-address')
  assert.match(note?.fix ?? '', /workspace\/local\/pdf/)
  assert.equal(diagnose('workspace/local/pdf', { catalog }).findings[0]?.code, 'ready')
})

test('a text is tried as it is before a dollar sign is taken off', () => {
  const strange = copy('$(touch /tmp/x); rm -rf')
  const catalog = catalogOf([strange, copy('(touch /tmp/x); rm -rf', { directory: '/local/other' }), copy('pdf')])
  assert.equal(catalog.find('$(touch /tmp/x); rm -rf'), strange)
  assert.equal(meant(catalog, '$(touch /tmp/x); rm -rf'), strange)
  assert.equal(diagnose('$(touch /tmp/x); rm -rf', { catalog }).verdict, 'ready')
  assert.equal(catalog.find('$pdf')?.name, 'pdf')
  assert.equal(meant(catalog, '$local/pdf')?.name, 'pdf')
})

test('the location of a skill cannot be read as a path that leads elsewhere', () => {
  for (const [address, uri] of [
    ['workspace/csv-report', 'skill://workspace/csv-report/SKILL.md'],
    ['extra:more~2/a.b_c', 'skill://extra:more~2/a.b_c/SKILL.md'],
    ['workspace/../../../etc/passwd', 'skill://workspace/..%2F..%2F..%2Fetc%2Fpasswd/SKILL.md'],
    ['workspace/..', 'skill://workspace/%2E%2E/SKILL.md'],
    ['workspace/a b`<c>', 'skill://workspace/a%20b%60%3Cc%3E/SKILL.md'],
    ['workspace/日本語', 'skill://workspace/日本語/SKILL.md'],
    ['workspace/100%', 'skill://workspace/100%25/SKILL.md'],
  ] as const) {
    assert.equal(toSkillUri(address), uri)
  }
})

const NAME = fc.oneof(
  fc.constantFrom('pdf', 'docx', 'pdf~2', 'local/pdf', 'bundled/pdf~2', 'local/local/pdf', '$pdf', '..', 'cafe\u0301'),
  fc.constantFrom('café', '\u200b', 'ｐｄｆ', 'skill://local/pdf/SKILL.md', 'a b', '100%', '%2E', 'skill://pdf', '~2'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
)
const COPY = fc.record({
  name: NAME,
  tier: fc.constantFrom('workspace', 'local', 'bundled', 'extra'),
  directory: fc.integer({ min: 0, max: 40 }),
  isHeld: fc.boolean(),
})
const COPIES = fc.uniqueArray(COPY, { maxLength: 14, selector: ({ tier, directory }) => `${tier}/${directory}` })

test('a name that begins with a braille blank is shown without it, and found by its address', () => {
  const skill = copy('\u2800!', { directory: '/workspace/d0' })
  const catalog = catalogOf([skill], [])
  assert.equal(catalog.addressOf(skill), 'local/!')
  assert.equal(catalog.find('local/!'), skill)
})

test('every copy has an address that no other has, and each look-up finds it there', () => {
  fc.assert(
    fc.property(COPIES, (sketches) => {
      const made = sketches.map(({ name, tier, directory, isHeld }) => ({
        isHeld,
        skill: copy(name, { tier: tier as 'local', directory: `/${tier}/d${directory}` }),
      }))
      const ready = made.filter(({ isHeld }) => !isHeld).map(({ skill }) => skill)
      const back = made.filter(({ isHeld }) => isHeld).map(({ skill }) => held(skill))
      const catalog = catalogOf(ready, back)
      for (const { skill, isHeld } of made) {
        const address = catalog.addressOf(skill)
        const label = `${JSON.stringify(skill.name)} at ${JSON.stringify(address)}`
        assert.equal(catalog.find(address), isHeld ? undefined : skill, label)
        assert.equal(catalog.find(toSkillUri(address)), isHeld ? undefined : skill, `${label} as a location`)
        assert.deepEqual(everyCopy(copiesOf(catalog, address)), [skill], label)
        if (!isHeld) assert.equal(catalog.find(catalog.callName(skill)), skill, `${label} by its call name`)
      }
      for (const { skill } of made) {
        const found = catalog.find(skill.name)
        if (found) assert.equal(meant(catalog, skill.name), found, 'both look-ups mean the same copy')
      }
    }),
    { numRuns: 300 },
  )
})

test('of two copies in one source the one that is used has the plain address', () => {
  const better = copy('a', { directory: '/local/y' })
  const used = copy('a', { directory: '/local/x' })
  const catalog = catalogOf([used], [held(better)])
  assert.deepEqual(
    [catalog.find('local/a'), catalog.addressOf(used), catalog.addressOf(better)],
    [used, 'local/a', 'local/a~2'],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'

import { buildCatalog, mentions } from '../../../src/skills/catalog/index.ts'
import { catalogOf, copy, held } from './copies.ts'

const catalog = catalogOf(
  ['pdf', 'code-review', 'a.b', 'HOME', '5', 'データ']
    .map((name) => copy(name))
    .concat(copy('secret', { model: false })),
  [held(copy('moon'), 'bin')],
)

const named = (text: string): readonly string[] => mentions(text, catalog).skills.map(({ name }) => name)
const problems = (text: string): readonly string[] => mentions(text, catalog).problems.map(({ text: said }) => said)

test('a $name in a message is that skill, wherever it stands, once', () => {
  assert.deepEqual(named('Use $pdf, then ($code-review) and "$pdf".'), ['pdf', 'code-review'])
  assert.deepEqual(named('$pdf: do it. $a.b! And $データ。'), ['pdf', 'a.b', 'データ'])
  assert.deepEqual(named('$local/pdf'), ['pdf'])
})

test('a skill that only a person may start is reached', () => {
  assert.deepEqual(named('now $secret'), ['secret'])
})

test('an escaped mention, a word with a dollar in it, and braces are text', () => {
  for (const text of ['\\$pdf', 'a$pdf', '$$pdf', '${pdf}', '$(pdf)', '$ pdf', '$-pdf']) {
    assert.deepEqual(mentions(text, catalog), { skills: [], problems: [] }, text)
  }
})

test('upper-case variables are left alone, even when a skill has that name', () => {
  assert.deepEqual(named('echo $HOME $HOME/bin $PATH. $HOME.'), [])
  assert.deepEqual(problems('$HOME $USER_NAME $PATH/x'), [])
})

test('prices and unknown lower-case words are text, not problems', () => {
  assert.deepEqual(mentions('It costs $5.99 or $100; for f in $files', catalog), {
    skills: [catalog.find('5')],
    problems: [],
  })
  assert.deepEqual(problems('$unknown $pdf-tools'), [])
})

test('a skill that is held, unreadable, or not for people is a visible problem', () => {
  assert.match(problems('go $moon')[0] ?? '', /^\$moon: this skill is held: bin\. Run: nexus skills why moon$/)
  const modelOnly = { ...copy('inner'), invocation: { model: true, user: false } }
  const { origin } = modelOnly
  const other = buildCatalog({
    gated: { ready: [modelOnly], held: [] },
    invalid: [{ name: 'broken', file: '/x/broken/SKILL.md', origin, diagnostics: [] }],
  })
  const found = mentions('$inner and $broken.', other)
  assert.deepEqual(found.skills, [])
  assert.deepEqual(
    found.problems.map(({ name }) => name),
    ['inner', 'broken'],
  )
})

test('eight skills may be named, the ninth is told', () => {
  const many = catalogOf(Array.from({ length: 12 }, (_, index) => copy(`s${index}`)))
  const text = Array.from({ length: 12 }, (_, index) => `$s${index}`).join(' ')
  const found = mentions(`${text} $s0`, many)
  assert.equal(found.skills.length, 8)
  assert.deepEqual(
    found.problems.map((problem) => problem.text),
    ['A message can name 8 skills at most; left out: $s8, $s9, $s10, $s11.'],
  )
})

test('any text gives at most eight skills of the catalog, each once, and never throws', () => {
  const piece = fc.oneof(fc.constantFrom('$pdf', '$code-review', '\\', '$', '$moon', '$HOME', ' ', '.'), fc.string())
  fc.assert(
    fc.property(
      fc.array(piece).map((pieces) => pieces.join('')),
      (text) => {
        const { skills, problems: found } = mentions(text, catalog)
        assert.ok(skills.length <= 8 && found.length <= 9)
        assert.equal(new Set(skills).size, skills.length)
        assert.ok(skills.every((skill) => catalog.skills.includes(skill)))
      },
    ),
  )
})

test('a message of a megabyte of mentions is read in one go', () => {
  const text = '$moonlight $mon $pdf '.repeat(50_000)
  assert.deepEqual(named(text), ['pdf'])
})

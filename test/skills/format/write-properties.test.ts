import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stringify } from 'yaml'
import {
  checkStrict,
  exportFlat,
  fixSkill,
  migrateSkill,
  parseSkill,
  PROFILES,
} from '../../../src/skills/format/index.ts'
import type { SkillDocument } from '../../../src/kernel/index.ts'
import { seedFor } from './skills.ts'

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 3)

/** Everything that is read of a document but the frontmatter as such. */
function fields(document: SkillDocument | undefined): unknown {
  if (document === undefined) return undefined
  const { frontmatter: _, ...rest } = document
  return rest
}

const word = fc.oneof(
  fc.constantFrom(
    'gh',
    'a b',
    'Use: x',
    '🔧',
    'yes',
    'null',
    '1.10',
    "it's",
    '"q"',
    '# c',
    '{a',
    '\u0085',
    'two\nlines',
    '',
  ),
  fc.string({ maxLength: 12 }),
)
const scalar = fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null), fc.double({ noNaN: true }))
const list = fc.oneof(word, fc.array(scalar, { maxLength: 3 }), scalar)
const install = fc.record(
  {
    kind: word,
    formula: word,
    bins: list,
    version: fc.constantFrom('1.10', '2'),
    sha256: word,
    stripComponents: scalar,
  },
  { requiredKeys: [] },
)
const gating = fc.record(
  {
    emoji: scalar,
    homepage: fc.constantFrom('https://example.com', 'ftp://x', 5),
    os: list,
    requires: fc.oneof(fc.record({ bins: list, env: list, anyBins: list, os: list }, { requiredKeys: [] }), scalar),
    anyBins: list,
    primaryEnv: scalar,
    install: fc.oneof(fc.array(install, { maxLength: 3 }), install, scalar),
    always: scalar,
    skillKey: scalar,
    author: scalar,
    tags: list,
    clawdbot: fc.constantFrom('x', { emoji: 'deep' }),
    __proto__x: word,
    'odd key: ': scalar,
  },
  { requiredKeys: [] },
)
const alias = fc.constantFrom('nexus', 'openclaw', 'clawdbot', 'clawdis', 'moltbot')
const client = fc.oneof(
  gating,
  gating.map((value) => JSON.stringify(value)),
  scalar,
)
const metadata = fc
  .tuple(gating, fc.dictionary(alias, client, { maxKeys: 3 }), fc.boolean())
  .map(([own, clients, first]) => (first ? { ...clients, ...own } : { ...own, ...clients }))

/** Documents with metadata in every form. */
const document = fc
  .tuple(
    metadata,
    fc.constantFrom('block', 'flow', 'json', 'json-text', 'plain'),
    fc.constantFrom('\n', '\r\n', '\r'),
    fc.string(),
    fc.boolean(),
  )
  .map(([value, form, end, body, mark]) => {
    const style =
      form === 'plain' ? { defaultStringType: 'PLAIN' as const } : { defaultStringType: 'QUOTE_DOUBLE' as const }
    const yaml =
      form === 'json'
        ? `metadata: ${JSON.stringify(value)}\n`
        : form === 'json-text'
          ? stringify({ metadata: JSON.stringify(value) }, style)
          : stringify(
              { metadata: value },
              { ...style, collectionStyle: form === 'flow' ? 'flow' : 'any', lineWidth: 0 },
            )
    const front = `name: a # c\n# d\ndescription: Use: b\n${yaml}# e\nlicense: x\n`
    const text = `---\n${front}---\n`.replaceAll('\n', end) + body.toWellFormed()
    return mark ? `\uFEFF${text}` : text
  })

test('migrate then parse equals parse, for every field that is read; and twice is once', (t) => {
  fc.assert(
    fc.property(document, (text) => {
      const options = { path: 'p', directoryName: 'a' }
      const before = parseSkill(text, options)
      for (const rewrite of [migrateSkill, exportFlat]) {
        const { text: after, changes } = rewrite(text, options)
        assert.deepEqual(fields(parseSkill(after, options).document), fields(before.document))
        assert.equal(rewrite(after, options).text, after)
        assert.equal(changes.length === 0, after === text)
        for (const line of ['name: a # c', '# d', 'description: Use: b', '# e', 'license: x'])
          assert.ok(after.split(/\r\n?|\n/).includes(line))
      }
    }),
    { numRuns: 20 * ROUNDS, seed: seedFor(t) },
  )
})

test('the flat form has only texts, and its way back ends in what was read', (t) => {
  fc.assert(
    fc.property(document, (text) => {
      const options = { path: 'p' }
      const { text: flat, diagnostics } = exportFlat(text, options)
      const { document: before } = parseSkill(text, options)
      fc.pre(before !== undefined && !diagnostics.some(({ code }) => code === 'migrate-refused'))
      const value = parseSkill(flat, options).document?.frontmatter['metadata']
      if (typeof value === 'object' && value !== null)
        for (const item of Object.values(value)) assert.equal(typeof item, 'string')
      assert.deepEqual(fields(parseSkill(migrateSkill(flat, options).text, options).document), fields(before))
    }),
    { numRuns: 10 * ROUNDS, seed: seedFor(t) },
  )
})

const pieces = [
  'name: a',
  'description: ',
  'Use: x',
  '@a',
  '[b] c',
  '*d* e',
  '"f" g',
  "'h' i",
  '\n',
  '\r\n',
  '\r',
  '  ',
  '# c',
  '- ',
]
  .concat([
    'user_invocable: no',
    'allowed_tools: Read',
    'metadata:',
    'openclaw:',
    '{a: b}',
    'emoji: "x"',
    '|',
    '...',
    '---',
    ': ',
    '\t',
  ])
  .concat(['\uFEFF', 'requires:', 'bins: [gh]', 'x'])
const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join(''))
const framed = soup.map((text) => `---\nname: a\ndescription: b\n${text}\n---\nbody ${text}`)

test('no text makes a rewrite or a strict check throw; a fix keeps what is read and the body, and twice is once', (t) => {
  fc.assert(
    fc.property(fc.oneof(soup, framed, fc.string({ unit: 'binary' })), (text) => {
      const options = { path: 'p', directoryName: 'a' }
      for (const profile of PROFILES) {
        const { diagnostics } = checkStrict(text, { ...options, profile, files: ['x'] })
        assert.ok(!diagnostics.some(({ code }) => code === 'parser-failed'))
      }
      for (const rewrite of [fixSkill, migrateSkill, exportFlat]) {
        const before = parseSkill(text, options).document
        const result = rewrite(text, options)
        assert.equal(rewrite(result.text, options).text, result.text)
        assert.equal(result.changes.length === 0, result.text === text)
        const after = parseSkill(result.text, options).document
        assert.deepEqual(
          fields(after),
          fields(before?.name === undefined && before ? { ...before, name: after?.name } : before),
        )
      }
    }),
    { numRuns: 25 * ROUNDS, seed: seedFor(t) },
  )
})

test('after a fix no repaired value and no odd spelling is left', (t) => {
  fc.assert(
    fc.property(framed, (text) => {
      fc.pre(parseSkill(text, { path: 'p' }).document !== undefined)
      const { diagnostics } = fixSkill(text, { path: 'p' })
      assert.ok(!diagnostics.some(({ code }) => ['yaml-repaired', 'key-spelling'].includes(code)), text)
    }),
    { numRuns: 15 * ROUNDS, seed: seedFor(t) },
  )
})

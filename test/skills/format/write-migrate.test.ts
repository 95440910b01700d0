import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkStrict, exportFlat, migrateSkill, parseSkill } from '../../../src/skills/format/index.ts'

const skill = (metadata: string): string =>
  `---\nname: foo # n\ndescription: Do foo things\n${metadata}\n# end\nlicense: MIT\n---\nmetadata: {"clawdbot": {}}\r\n`

/** What stands between the description and the comment at the end. */
function between(text: string): string {
  return text.slice(text.indexOf('things\n') + 7, text.indexOf('\n# end'))
}

function migrated(metadata: string): string {
  const before = skill(metadata)
  const { text, diagnostics } = migrateSkill(before, { path: 'p' })
  assert.deepEqual(diagnostics, [])
  const [a, b] = [parseSkill(before, { path: 'p' }).document, parseSkill(text, { path: 'p' }).document]
  assert.deepEqual({ ...b, frontmatter: undefined }, { ...a, frontmatter: undefined })
  assert.equal(text.replace(between(text), ''), before.replace(between(before), ''))
  assert.deepEqual(migrateSkill(text, { path: 'p' }), { text, changes: [], diagnostics: [] })
  return between(text)
}

function flat(metadata: string): string {
  const before = skill(metadata)
  const { text } = exportFlat(before, { path: 'p' })
  assert.deepEqual(
    parseSkill(text, { path: 'p' }).document?.metadata,
    parseSkill(before, { path: 'p' }).document?.metadata,
  )
  const { diagnostics } = checkStrict(text, { path: 'p', profile: 'spec' })
  assert.deepEqual(
    diagnostics.filter(({ code }) => code.startsWith('metadata')),
    [],
  )
  assert.equal(exportFlat(text, { path: 'p' }).text, text)
  return between(text)
}

test('the example of the design comes out as the design shows it', () => {
  assert.equal(
    migrated('metadata: {"clawdbot":{"emoji":"🔧","requires":{"bins":["foo"]}}}'),
    'metadata:\n  emoji: "🔧"\n  requires:\n    bins: ["foo"]',
  )
})

test('every alias, and JSON5 in any form, becomes ours', () => {
  const ours = 'metadata:\n  emoji: "x"\n  always: true'
  for (const alias of ['openclaw', 'clawdbot', 'clawdis', 'moltbot'])
    assert.equal(migrated(`metadata: {"${alias}": {"emoji": "x", "always": true}}`), ours)
  assert.equal(migrated(`metadata: '{openclaw: {emoji: "x", always: true,},}'`), ours)
  assert.equal(migrated(`metadata: |\n  {"openclaw": {"emoji": "x",\n   "always": true}}`), ours)
  assert.equal(migrated(`metadata: {openclaw: {emoji: 'x', always: true}}`), ours)
  assert.equal(migrated(`metadata: {"emoji": "x", "always": true}`), ours)
  assert.equal(migrated(`metadata:\n  openclaw: '{"emoji": "x", "always": true}'`), ours)
})

test('fields of block style move up, their comments first', () => {
  assert.equal(
    migrated(
      [
        'metadata: # m',
        '  author: me # a',
        '  openclaw: # o',
        "      emoji: '🔧' # e",
        '      # r',
        '      requires:',
        '        bins: [a,   b]',
        '      note: |',
        '        one',
        '          two',
        '',
        '      install:',
        '      - kind: brew',
        '        formula: gh',
        '  version: 1.10',
      ].join('\n'),
    ),
    [
      'metadata:',
      '  # m',
      '  # a',
      '  # o',
      '  # e',
      '  # r',
      '  author: "me"',
      '  emoji: "🔧"',
      '  requires:',
      '    bins: ["a", "b"]',
      '  note: "one\\n  two\\n"',
      '  install:',
      '    - kind: "brew"',
      '      formula: "gh"',
      '  version: "1.10"',
    ].join('\n'),
  )
})

test('what counted before counts after, and what never counted is named', () => {
  const before = skill(
    'metadata:\n  emoji: "own"\n  author: me\n  clawdbot: {emoji: "c", os: [linux]}\n  openclaw: {emoji: "o", author: you}',
  )
  const { text, diagnostics } = migrateSkill(before, { path: 'p' })
  assert.equal(
    between(text),
    'metadata:\n  emoji: "o"\n  author: "me"\n  os: ["linux"]\n  openclaw:\n    author: "you"',
  )
  assert.deepEqual(
    diagnostics.map(({ code, message }) => `${code} ${/metadata\S+(?=,)/.exec(message)?.[0]}`),
    ['migrate-outweighed metadata.emoji', 'migrate-outweighed metadata.clawdbot.emoji'],
  )
  assert.equal(migrateSkill(text, { path: 'p' }).text, text)
})

test('what is ours already stays', () => {
  for (const metadata of [
    'metadata:\n  emoji: x\n  requires: {bins: [gh]}',
    'metadata: {author: me}',
    'metadata:\n  nexus:\n    emoji: x',
    'metadata:\n  openclaw: true',
    'metadata: just text',
    'metadata:',
    'os: linux',
  ])
    assert.equal(migrateSkill(skill(metadata), { path: 'p' }).text, skill(metadata))
})

test('CRLF and a frontmatter that is JSON keep their form', () => {
  const crlf = skill('metadata: {"clawdbot":{"emoji":"x"}}').replaceAll('\n', '\r\n')
  assert.equal(
    migrateSkill(crlf, { path: 'p' }).text,
    crlf.replace('metadata: {"clawdbot":{"emoji":"x"}}', 'metadata:\r\n  emoji: "x"'),
  )
  const json = '---\n{"name": "a", "metadata": {"openclaw": {"os": ["linux"]}}, "description": "d"}\n---\n'
  assert.equal(
    migrateSkill(json, { path: 'p' }).text,
    '---\n{"name": "a", "metadata": {"os":["linux"]}, "description": "d"}\n---\n',
  )
})

test('a repaired value elsewhere is not touched', () => {
  const text = '---\nname: a\ndescription: Use: x\nmetadata: {"openclaw":{"emoji":"x"}}\n---\n'
  assert.equal(
    migrateSkill(text, { path: 'p' }).text,
    '---\nname: a\ndescription: Use: x\nmetadata:\n  emoji: "x"\n---\n',
  )
})

test('the flat form is text to text, and is read as before', () => {
  assert.equal(
    flat('metadata: {"openclaw":{"emoji":"x","always":true,"requires":{"bins":["it\'s"]}},"year":2026,"none":null}'),
    `metadata:\n  emoji: "x"\n  year: "2026"\n  none: ""\n  nexus: '{"always":true,"requires":{"bins":["it''s"]}}'`,
  )
  assert.equal(flat('metadata: {author: me}'), 'metadata: {author: me}')
  assert.equal(
    flat('metadata:\n  author: me # c\n  tags: [a]'),
    `metadata:\n  # c\n  author: "me"\n  nexus: '{"tags":["a"]}'`,
  )
})

test('the flat form migrates back to ours', () => {
  const before = skill('metadata:\n  emoji: "x"\n  requires:\n    bins: ["gh"]')
  const there = exportFlat(before, { path: 'p' }).text
  assert.equal(migrateSkill(there, { path: 'p' }).text, before)
})

test('a form that would be read differently is refused with a reason', () => {
  const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, index) => [`k${index}`, index]))
  const text = skill(`metadata: '${JSON.stringify({ openclaw: many })}'`)
  const result = migrateSkill(text, { path: 'p' })
  assert.equal(result.text, text)
  assert.deepEqual(
    result.diagnostics.map(({ code }) => code),
    ['migrate-refused'],
  )
})

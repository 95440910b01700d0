import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseSkill } from '../../../src/skills/format/index.ts'

const FIXTURES = new URL('../../fixtures/format/', import.meta.url)

/** Name, description and findings (`severity code line:column`) per fixture; no name means that it does not load. */
const EXPECTED: Readonly<Record<string, { name?: string; description?: string; found: readonly string[] }>> = {
  'alias-in-metadata': { found: ['error yaml-anchor 4:11', 'error yaml-alias 5:9'] },
  'brackets-and-stars': {
    name: 'brackets-and-stars',
    description: '*Important* cleans branches',
    found: ['warning yaml-repaired 3:14', 'warning yaml-repaired 4:25', 'warning yaml-repaired 5:21'],
  },
  'byte-order-mark': { name: 'byte-order-mark', description: 'Skips a mark.', found: ['info byte-order-mark 1:1'] },
  'closed-by-dots': {
    name: 'closed-by-dots',
    description: 'Ends with dots.',
    found: ['warning frontmatter-closed-by-dots 4:1'],
  },
  'code-fence-first': { found: ['error frontmatter-missing 1:1'] },
  'colon-in-description': {
    name: 'colon-in-description',
    description: 'Compares two tables. Use when: rows differ, keys changed, or it\'s "just odd".',
    found: ['warning yaml-repaired 3:14'],
  },
  crlf: { name: 'crlf', description: 'First\nsecond', found: [] },
  'duplicate-key': { found: ['error yaml-duplicate-key 4:1'] },
  folded: { name: 'folded', description: 'Folds two lines into one.\nAnd keeps a break.', found: [] },
  gated: {
    name: 'gated',
    description: 'Reads issues of a tracker: list, show, comment. Use for tickets.',
    found: [],
  },
  'latin-1': { name: 'latin-1', description: 'caf\ufffd', found: ['warning encoding-invalid 3:17'] },
  'merge-key': { found: ['error yaml-merge-key 5:3'] },
  'no-description': { name: 'no-description', found: ['warning key-similar 3:1', 'warning description-missing 1:1'] },
  'numbers-as-text': {
    name: '007',
    description: '2026',
    found: ['warning name-differs 2:1', 'warning description-not-text 3:1'],
  },
  'one-line-json5': { name: 'one-line-json5', description: 'Speaks text aloud.', found: [] },
  plain: { name: 'plain', description: 'Renames photos by their date. Use when asked to sort photos.', found: [] },
  'prototype-keys': { name: 'prototype-keys', description: 'Holds odd keys.', found: [] },
  tabs: { found: ['error yaml-invalid 5:1'] },
  unterminated: { found: ['error frontmatter-unterminated 1:1'] },
}

test('every fixture has its expectation', () => {
  const fixtures = readdirSync(FIXTURES).filter((name) => existsSync(new URL(`${name}/SKILL.md`, FIXTURES)))
  assert.deepEqual(fixtures.sort(), Object.keys(EXPECTED).sort())
})

for (const [fixture, expected] of Object.entries(EXPECTED)) {
  test(`the fixture ${fixture} reads as expected, each finding with its place and a fix`, () => {
    const bytes = readFileSync(new URL(`${fixture}/SKILL.md`, FIXTURES))
    const { document, diagnostics } = parseSkill(bytes, { path: 'SKILL.md', directoryName: fixture })
    assert.equal(document?.name, expected.name)
    assert.equal(document?.description, expected.description)
    assert.deepEqual(
      diagnostics.map(({ severity, code, line, column }) => `${severity} ${code} ${line}:${column}`),
      expected.found,
    )
    for (const { fix } of diagnostics) assert.ok(fix)
  })
}

function read(fixture: string) {
  const bytes = readFileSync(new URL(`${fixture}/SKILL.md`, FIXTURES))
  const { document } = parseSkill(bytes, { path: 'SKILL.md' })
  assert.ok(document)
  return document
}

test('nested metadata gives every gate, and the places of seed 001 beside requires', () => {
  assert.deepEqual(structuredClone(read('gated').metadata), {
    emoji: '🎫',
    homepage: 'https://tracker.example/cli',
    os: ['darwin', 'linux'],
    requires: {
      bins: ['tracker'],
      anyBins: ['curl', 'wget'],
      env: ['TRACKER_TOKEN'],
      config: ['tools.tracker.enabled'],
      network: [],
    },
    primaryEnv: 'TRACKER_TOKEN',
    install: [
      {
        id: 'brew',
        kind: 'brew',
        label: 'Install the tracker client',
        bins: ['tracker'],
        os: [],
        details: { formula: 'tracker' },
      },
    ],
    always: false,
  })
})

test('metadata as JSON5 on one line is read like nested metadata', () => {
  const { metadata } = read('one-line-json5')
  assert.deepEqual([metadata.emoji, metadata.os, metadata.always], ['🔊', ['darwin'], true])
  assert.deepEqual(metadata.requires.bins, ['say', 'afplay'])
})

test('prototype keys are plain data and pollute nothing', () => {
  const { frontmatter, metadata } = read('prototype-keys')
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  assert.equal(Object.getPrototypeOf(frontmatter), null)
  assert.ok(Object.hasOwn(frontmatter, '__proto__'))
  assert.equal(metadata.always, false)
})

test('a version keeps its last zero, and a repaired hint is the text that stands there', () => {
  assert.equal(read('numbers-as-text').frontmatter['version'], '1.10')
  assert.equal(read('brackets-and-stars').frontmatter['argument-hint'], '[branch] [remote]')
})

test('the body is what follows the first closing line, untouched', () => {
  assert.equal(read('closed-by-dots').body, 'Body\n---\nmore\n')
  assert.equal(read('crlf').body, 'Body\r\n')
})

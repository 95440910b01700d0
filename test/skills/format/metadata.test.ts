import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSkill } from '../../../src/skills/format/index.ts'

function parse(yaml: string) {
  return parseSkill(`---\nname: a\ndescription: b\n${yaml}\n---\n`, { path: 'p' })
}

function metadata(yaml: string) {
  const { document } = parse(yaml)
  assert.ok(document)
  return document.metadata
}

function codes(yaml: string): string[] {
  return parse(yaml).diagnostics.map(({ code }) => code)
}

test('without metadata every list is empty and nothing is always', () => {
  assert.deepEqual(metadata('license: MIT'), {
    os: [],
    requires: { bins: [], anyBins: [], env: [], config: [], network: [] },
    install: [],
    always: false,
  })
})

for (const alias of ['nexus', 'openclaw', 'clawdbot', 'clawdis', 'moltbot']) {
  test(`gating is read below metadata.${alias}, as YAML, as flow and as JSON5 text`, () => {
    for (const yaml of [
      `metadata:\n  ${alias}:\n    emoji: x\n    requires:\n      bins:\n        - gh\n        - jq`,
      `metadata: {"${alias}":{"emoji":"x","requires":{"bins":["gh","jq"]}}}`,
      `metadata:\n  {\n    "${alias}": { "emoji": "x", "requires": { "bins": ["gh", "jq"] }, },\n  }`,
      `metadata: "{${alias}: {emoji: 'x', requires: {bins: 'gh, jq'}, /* why */}}"`,
      `metadata:\n  ${alias}: '{emoji: "x", requires: {bins: ["gh", "jq"]}}'`,
      `metadata: {${alias}: {emoji: 'x'\n  , requires: {bins: ['gh' ,'jq'] } } }`,
    ]) {
      const { emoji, requires } = metadata(yaml)
      assert.deepEqual([emoji, requires.bins], ['x', ['gh', 'jq']], yaml)
    }
  })
}

test('anyBins, os, primaryEnv and install count beside requires and inside it', () => {
  const inside = metadata(
    'metadata:\n  requires:\n    anyBins: [a]\n    os: linux\n    primaryEnv: KEY\n    install: [{kind: brew, formula: x}]',
  )
  const beside = metadata(
    'metadata:\n  anyBins: [a]\n  os: linux\n  primaryEnv: KEY\n  install: [{kind: brew, formula: x}]',
  )
  assert.deepEqual(inside, beside)
  assert.deepEqual(
    [inside.requires.anyBins, inside.os, inside.primaryEnv, inside.install[0]?.id],
    [['a'], ['linux'], 'KEY', 'brew-1'],
  )
})

test('the most specific place counts, field by field', () => {
  const { emoji, homepage, os } = metadata(
    'homepage: https://top.example\nmetadata:\n  emoji: outer\n  os: [linux]\n  openclaw: {emoji: inner}\n  nexus: {emoji: ours}',
  )
  assert.deepEqual([emoji, homepage, os], ['ours', 'https://top.example', ['linux']])
})

test('a top-level requires counts when it is gating, and is left alone when it names other things', () => {
  assert.deepEqual(metadata('requires:\n  bins: [gh]\n  env: [TOKEN]').requires.bins, ['gh'])
  for (const yaml of ['requires: [other-skill]', 'requires: {mcp: [server]}']) {
    assert.deepEqual(metadata(yaml).requires.bins, [])
    assert.deepEqual(codes(yaml), [])
  }
})

test('always and skillKey count inside metadata only', () => {
  assert.equal(metadata('always: true').always, false)
  assert.equal(metadata('metadata: {always: "on"}').always, true)
  assert.equal(metadata('metadata: {always: sometimes}').always, false)
  assert.equal(metadata('skillKey: x').skillKey, undefined)
  assert.equal(metadata('metadata: {skillKey: x}').skillKey, 'x')
})

test('names of systems are those of the gate', () => {
  assert.deepEqual(metadata('metadata: {os: [macOS, win32, Linux, darwin]}').os, ['darwin', 'windows', 'linux'])
})

test('requirements that nothing can meet stay, so that the skill is held, and are reported', () => {
  const yaml =
    'metadata:\n  requires:\n    bins: ["../../bin/sh", "$(id)", ""]\n    env: ["A=B", OK]\n    config: ["a..b", "a.b"]'
  const { requires } = metadata(yaml)
  assert.deepEqual(
    [requires.bins, requires.env],
    [
      ['../../bin/sh', '$(id)'],
      ['A=B', 'OK'],
    ],
  )
  assert.deepEqual(codes(yaml), ['requires-invalid', 'requires-invalid', 'requires-invalid'])
})

test('metadata that is no mapping is kept, reported and not used', () => {
  for (const yaml of ['metadata: hello', 'metadata: [a, b]', 'metadata: 3', 'metadata: "{not json5"']) {
    const { document, diagnostics } = parse(yaml)
    assert.ok(document && Object.hasOwn(document.frontmatter, 'metadata'))
    assert.deepEqual(
      diagnostics.map(({ code, line }) => [code, line]),
      [['metadata-not-mapping', 4]],
      yaml,
    )
  }
  assert.deepEqual(codes('metadata:'), [])
})

test('install entries keep what is specific to their kind', () => {
  const { install } = metadata(
    'metadata:\n  install:\n    - {id: x, kind: Download, url: "https://e.example/x.tgz", stripComponents: 1, bins: x, os: [macos]}',
  )
  assert.deepEqual(JSON.parse(JSON.stringify(install)), [
    {
      id: 'x',
      kind: 'download',
      bins: ['x'],
      os: ['darwin'],
      details: { url: 'https://e.example/x.tgz', stripComponents: 1 },
    },
  ])
  assert.deepEqual(codes('metadata: {install: [brew, {formula: x}]}'), ['install-invalid', 'install-invalid'])
})

test('a homepage that is no web address is ignored', () => {
  assert.equal(metadata('homepage: javascript:alert(1)').homepage, undefined)
  assert.deepEqual(codes('homepage: ftp://x'), ['field-type'])
  assert.equal(metadata('homepage: https://x.example/a b').homepage, undefined)
})

test('JSON5 that nests too deep or defines a prototype does no harm', () => {
  assert.deepEqual(codes(`metadata: '${'{a:'.repeat(200)}1${'}'.repeat(200)}'`), ['metadata-not-mapping'])
  const polluted = metadata(`metadata: '{"__proto__": {"always": true}, "nexus": {"__proto__": {"always": true}}}'`)
  assert.equal(polluted.always, false)
})

/** What is wrong, and line and column of the key that says so; the text begins on line 4. */
const PLACES: readonly (readonly [yaml: string, code: string, line: number, column: number])[] = [
  ['metadata:\n  openclaw:\n    emoji: x\n    requires:\n      bins: {gh: 1}', 'field-type', 8, 7],
  ['metadata:\n  openclaw:\n    emoji: x\n    requires:\n      bins: ["a b"]', 'requires-invalid', 8, 7],
  ['metadata:\n  a: b\n  requires:\n    anyBins: {gh: 1}', 'field-type', 7, 5],
  ['metadata:\n  a: b\n  anyBins: {gh: 1}\n  requires:\n    bins: gh', 'field-type', 6, 3],
  ['metadata:\n  anyBins: ["a b"]', 'requires-invalid', 5, 3],
  ['metadata:\n  nexus:\n    requires: [gh]', 'field-type', 6, 5],
  ['metadata:\n  a: b\n  os: {linux: 1}', 'metadata-field', 6, 3],
  ['metadata:\n  a: b\n  requires:\n    os: {linux: 1}', 'metadata-field', 7, 5],
  ['metadata:\n  a: b\n  homepage: ftp://x', 'field-type', 6, 3],
  ['homepage: ftp://x\nmetadata:\n  a: b', 'field-type', 4, 1],
  ['metadata:\n  a: b\nrequires:\n  env: ["A=B"]', 'requires-invalid', 7, 3],
  ['metadata:\n  install:\n    - {kind: brew, formula: a}\n    - {formula: x}', 'install-invalid', 7, 7],
  ['metadata:\n  install:\n    - kind: brew\n    - id: x\n      bins: [x]', 'install-invalid', 7, 7],
  ['metadata:\n  install:\n    - kind: brew\n      bins: {x: 1}', 'field-type', 7, 7],
  ['metadata:\n  a: b\n  install: [brew]', 'install-invalid', 6, 3],
  ['metadata: {a: b, "größe": 1, "nexus": {"requires": {"bins": {a: 1}}}}', 'field-type', 4, 53],
  ['metadata:\n  {\n    "openclaw":\n      { "requires":\n          { "bins": {} } } }', 'field-type', 8, 13],
  ['metadata: # why\n  # and\n  openclaw:\n    requires: {bins: {a: 1}}', 'field-type', 7, 16],
  // What stands inside a text is not known: the nearest key that is.
  [`metadata:\n  a: b\n  openclaw: '{"requires": {"bins": {"a": 1}}}'`, 'field-type', 6, 3],
  [`metadata: '{"openclaw": {"requires": {"bins": {"a": 1}}}}'`, 'field-type', 4, 1],
]

for (const [yaml, code, line, column] of PLACES) {
  test(`a finding in metadata has the place of its key: ${JSON.stringify(yaml)}`, () => {
    assert.deepEqual(
      parse(yaml).diagnostics.map((found) => [found.code, found.line, found.column]),
      [[code, line, column]],
    )
  })
}

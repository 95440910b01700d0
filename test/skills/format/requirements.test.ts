import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkStrict, parseSkill, PROFILES } from '../../../src/skills/format/index.ts'

function parse(yaml: string) {
  const { document, diagnostics } = parseSkill(`---\nname: a\ndescription: b\n${yaml}\n---\nx\n`, { path: 'p' })
  assert.ok(document)
  return { metadata: document.metadata, found: diagnostics.map(({ code, line }) => `${code} ${line}`) }
}

test('a requirement that is a mapping with a name counts by it, unless it says that it is optional', () => {
  const { metadata, found } = parse(
    'metadata:\n  requires:\n    env: [{name: A, required: true}, {name: B, required: false}, C]\n    bins: [{name: gh}]',
  )
  assert.deepEqual([metadata.requires.env, metadata.requires.bins, found], [['A', 'C'], ['gh'], []])
})

test('what is optional and remarks are known keys of requires', () => {
  const yaml =
    'metadata:\n  requires: {bins: [gh], optionalEnv: [A], optionalBins: [x], optional: [y], note: z, notes: z}'
  assert.deepEqual(parse(yaml).found, [])
})

test('a requirement that cannot be read is kept for the gate, with its line and a line that is right', () => {
  for (const [yaml, key, line, example] of [
    ['metadata:\n  requires: gh, jq', 'requires', 5, 'requires: {bins: [gh]}'],
    ['metadata:\n  requires:\n    env: {A: 1}', 'requires.env', 6, 'env: [MY_API_KEY]'],
    ['metadata:\n  requires: {bins: 3}', 'requires.bins', 5, 'bins: [gh]'],
    ['requires: gh', 'requires', 4, 'requires: {bins: [gh]}'],
    ['metadata:\n  requires:\n    bins: [gh, {command: x}]', 'requires.bins', 6, 'bins: [gh]'],
  ] as const) {
    const { metadata, found } = parse(yaml)
    assert.deepEqual(metadata.unreadable, [{ key, line, example }])
    assert.deepEqual(found, [`field-type ${line}`])
  }
  for (const yaml of ['metadata:\n  requires: []', 'metadata:\n  requires:', 'requires: {mcp: x}'])
    assert.equal(parse(yaml).metadata.unreadable, undefined)
})

test('a number in place of a list of requirements is no name of a program', () => {
  const { diagnostics } = parseSkill('---\nname: a\ndescription: b\nmetadata: {requires: {bins: 3}}\n---\nx\n', {
    path: 'p',
  })
  assert.deepEqual(
    diagnostics.map(({ message, fix }) => [message, fix]),
    [['Nexus cannot read metadata.requires.bins. It must be a list of names of programs.', 'Write: bins: [gh]']],
  )
})

const WRONG: readonly string[] = [
  'emoji: [x]',
  'skillKey: {a: b}',
  'primaryEnv: my key',
  'always: perhaps',
  'os: 5',
  'os: all',
]

for (const field of WRONG) {
  test(`a field with a wrong value is a warning, and an error for OpenClaw alone: ${field}`, () => {
    for (const place of ['metadata', 'metadata:\n  openclaw']) {
      const indent = place === 'metadata' ? '  ' : '    '
      const yaml = `${place}:\n${indent}${field}`
      assert.deepEqual(parse(yaml).found, [`metadata-field ${place === 'metadata' ? 5 : 6}`])
      for (const profile of PROFILES) {
        const text = `---\nname: a\ndescription: b\n${yaml}\n---\nx\n`
        const { diagnostics } = checkStrict(text, { path: 'p', profile })
        const severities = diagnostics.filter(({ code }) => code === 'metadata-field').map(({ severity }) => severity)
        assert.deepEqual(severities, [profile === 'openclaw' ? 'error' : 'warning'])
      }
    }
  })
}

const UNREADABLE: readonly string[] = [
  'metadata:\n  - requires: {bins: [gh]}',
  'metadata:\n  openclaw: "requires: {bins: [gh]}"',
  'metadata:\n  openclaw:\n    - requires: {bins: [gh]}',
  'metadata: |\n  requires:\n    bins: [gh]',
]

for (const yaml of UNREADABLE) {
  test(`metadata that is no mapping and names requirements holds the skill: ${JSON.stringify(yaml)}`, () => {
    assert.equal(parse(yaml).metadata.unreadable?.length, 1)
  })
}

test('metadata that is no mapping and names no requirements does not hold the skill', () => {
  assert.equal(parse('metadata: "videos: three"').metadata.unreadable, undefined)
})

test('an os that is no list or text holds the skill, as other requirements do', () => {
  for (const os of ['5', 'true', '{linux: yes}']) {
    const text = `---\nname: a\ndescription: b\nmetadata:\n  os: ${os}\n---\nx\n`
    const { document } = parseSkill(text, { path: 'p' })
    assert.deepEqual(document?.metadata.unreadable, [{ key: 'os', line: 5, example: 'os: [linux, darwin]' }], os)
  }
})

test('a block of a client that is no mapping is reported', () => {
  assert.deepEqual(parse('metadata:\n  openclaw: yes please').found, ['metadata-field 5'])
})

test('words for every system restrict nothing', () => {
  assert.deepEqual(parse('metadata:\n  os: [all]').metadata.os, [])
  assert.deepEqual(parse('metadata:\n  os: [linux, macos]').found, [])
})

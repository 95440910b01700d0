import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkStrict, parseSkill } from '../../../src/skills/format/index.ts'

function parse(yaml: string) {
  return parseSkill(`---\nname: a\ndescription: b\n${yaml}\n---\n`, { path: 'p' })
}

/** What is written, and for each finding its place and the key that its fix names. */
const SLIPS: readonly (readonly [yaml: string, findings: readonly string[]])[] = [
  ['metadata:\n  requires: {bin: [a], envs: [A]}', ['5:14 bins', '5:24 env']],
  ['metadata:\n  openclaw:\n    requires:\n      bin: x\n      any_bins: [a]', ['7:7 bins', '8:7 anyBins']],
  ['metadata: {"clawdbot": {"requires": {"Bins": ["a"]}}}', ['4:38 bins']],
  ['requires:\n  bins: [a]\n  envs: [A]', ['6:3 env']],
  ['requires: {bin: [zz]}', ['4:12 bins']],
  ['requires:\n  bin: zz\n  runtime: [b]', ['5:3 bins']],
  ['metadata:\n  openclaw:\n    require: {bins: [a]}', ['6:5 requires']],
  ['metadata:\n  openclaw:\n    primary_env: A\n    OS: linux', ['6:5 primaryEnv', '7:5 os']],
  ['metadata:\n  openclaw:\n    bins: [gh]', ['6:5 requires.bins']],
  ['metadata:\n  bins: gh\n  author: x', ['5:3 requires.bins']],
  [`metadata:\n  nexus: '{"requires": {"bin": ["a"]}}'`, ['5:3 bins']],
]

for (const [yaml, findings] of SLIPS) {
  test(`a key that was meant to gate is a warning with its place and the right key: ${JSON.stringify(yaml)}`, () => {
    const { document, diagnostics } = parse(yaml)
    assert.ok(document, 'it loads')
    const found = diagnostics.map(({ line, column, fix = '' }) => {
      const [, right] = /^Write (\S+) instead/.exec(fix) ?? []
      return `${line}:${column} ${right}`
    })
    assert.deepEqual(found.sort(), [...findings].sort())
    assert.ok(diagnostics.every(({ code, severity }) => code === 'metadata-key' && severity === 'warning'))
    for (const profile of ['spec', 'openclaw'] as const) {
      const text = `---\nname: a\ndescription: b\n${yaml}\n---\nx\n`
      const strict = checkStrict(text, { path: 'p', profile }).diagnostics
      assert.equal(strict.filter(({ code }) => code === 'metadata-key').length, findings.length)
    }
  })
}

test('a key of requires that is like no other is reported with those that there are', () => {
  const { diagnostics } = parse('metadata:\n  requires: {bins: [a], gizmo: x}')
  assert.equal(diagnostics.length, 1)
  assert.match(diagnostics[0]?.fix ?? '', /bins, anyBins, env, config and network/)
})

test('keys that are an author’s own, or another client’s, are no slips', () => {
  for (const yaml of [
    'metadata:\n  requirements: Python 3\n  require-review: true\n  installation: see below\n  config: [a]\n  env: {A: b}',
    'metadata:\n  requires: {bins: [a], mcp: [server], skills: [x], tools: [y]}',
    'metadata:\n  openclaw: {emoji: x, envVars: [A], toolGroups: [web], type: x, notes: y, source: z, config: {a: b}}',
    'metadata:\n  openclaw: {emoji: x, installed: true, required: false}',
    'OS: linux\nmeta: x\nauthors: [a]\npaths: [a]\nagents: [b]',
  ])
    assert.deepEqual(parse(yaml).diagnostics, [], yaml)
})

test('a top-level key that is close to one that Nexus reads is reported as a typo, with its line', () => {
  const yaml = 'authr: me\nlicence: MIT\ndisable-model-invocaton: true\nallowd-tools: Read\nrequire: {bins: [x]}'
  const { document, diagnostics } = parse(yaml)
  assert.deepEqual(
    diagnostics.map(({ code, severity, line, fix }) => [code, severity, line, fix]),
    ['author', 'license', 'disable-model-invocation', 'allowed-tools', 'requires'].map((right, index) => [
      'key-similar',
      'warning',
      4 + index,
      `Rename the key to ${right}, or remove it.`,
    ]),
  )
  assert.equal(document?.invocation.model, true)
  assert.deepEqual(parse('license: MIT\nlicence: MIT').diagnostics, [], 'the right key is there')
})

test('what stands beside requires and inside it is reported when the two differ', () => {
  const both = parse('metadata:\n  anyBins: [bbb]\n  requires: {anyBins: [ddd], os: [linux]}\n  os: darwin')
  assert.deepEqual(both.document?.metadata.requires.anyBins, ['bbb'])
  assert.deepEqual(
    both.diagnostics.map(({ code, line, column }) => [code, line, column]),
    [
      ['metadata-key', 6, 30],
      ['metadata-key', 6, 14],
    ],
  )
  assert.deepEqual(parse('metadata:\n  anyBins: [b]\n  requires: {anyBins: [b]}').diagnostics, [])
})

test('an empty part of a configuration path is a fault of the skill', () => {
  const { diagnostics } = parse('metadata:\n  requires:\n    config: ["a..b"]')
  assert.deepEqual(
    diagnostics.map(({ code, line, column }) => [code, line, column]),
    [['requires-invalid', 6, 5]],
  )
})

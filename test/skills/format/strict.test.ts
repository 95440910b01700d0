import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { checkLenient, checkStrict, PROFILES, type Profile } from '../../../src/skills/format/index.ts'
import type { Diagnostic } from '../../../src/kernel/index.ts'

const FIXTURES = new URL('../../fixtures/format/strict/', import.meta.url)

/** Findings as `severity code line:column`. */
function shown(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ severity, code, line, column }) => `${severity} ${code} ${line}:${column}`)
}

function fixture(name: string, profile: Profile, files?: readonly string[]): string[] {
  const text = readFileSync(new URL(`${name}/SKILL.md`, FIXTURES), 'utf8')
  const more = files === undefined ? {} : { files }
  return shown(checkStrict(text, { path: 'p', directoryName: name, profile, ...more }).diagnostics)
}

function strict(frontmatter: string, profile: Profile = 'spec', body = 'Do it.'): readonly Diagnostic[] {
  const text = `---\nname: a\ndescription: Does it. Use when asked.\n${frontmatter}\n---\n${body}\n`
  return checkStrict(text, { path: 'p', directoryName: 'a', profile }).diagnostics
}

test('a skill by the book has no finding under any profile', () => {
  for (const profile of PROFILES)
    assert.deepEqual(fixture('by-the-book', profile, ['references/guide.md', 'scripts/run.mjs']), [])
})

test('the keys of Claude Code are known to its profile and warnings under the specification', () => {
  assert.deepEqual(fixture('many-keys', 'claude'), [])
  const codes = fixture('many-keys', 'spec')
  assert.equal(codes.filter((line) => line.startsWith('warning key-unknown')).length, 12)
  assert.deepEqual(
    codes.filter((line) => !line.includes('key-unknown')),
    ['warning tools-form 7:1', 'info placeholder-unknown 19:18'],
  )
})

test('the fields of OpenClaw are known to its profile', () => {
  assert.deepEqual(fixture('for-openclaw', 'openclaw'), [])
})

test('an install entry that no installer may be given is an error with its place', () => {
  assert.deepEqual(fixture('unsafe-install', 'openclaw'), [
    'warning metadata-key 8:16',
    'error metadata-field 7:5',
    'error metadata-field 6:5',
    'error install-unsafe 10:22',
    'error install-unsafe 11:22',
    'error install-unsafe 12:10',
    'error install-unsafe 13:20',
    'error install-unsafe 14:26',
    'warning install-digest 14:10',
    'error install-unsafe 15:60',
    'error install-unsafe 15:73',
    'warning install-kind 16:10',
    'error install-unsafe 17:34',
  ])
})

test('every finding has a line, a column and a fix', () => {
  for (const name of ['many-keys', 'unsafe-install']) {
    for (const profile of PROFILES) {
      const text = readFileSync(new URL(`${name}/SKILL.md`, FIXTURES), 'utf8')
      for (const { code, line, column, fix } of checkStrict(text, { path: 'p', profile }).diagnostics)
        assert.deepEqual([typeof line, typeof column, typeof fix], ['number', 'number', 'string'], code)
    }
  }
})

test('breaches of the published rules are errors under every profile', () => {
  const cases: readonly (readonly [text: string, code: string])[] = [
    ['---\nname: A\ndescription: d\n---\nx', 'name-invalid'],
    ['---\nname: b\ndescription: d\n---\nx', 'name-differs'],
    ['---\ndescription: d\n---\nx', 'name-missing'],
    ['---\nname: a\n---\nx', 'description-missing'],
    ['---\nname: a\ndescription: [d]\n---\nx', 'description-missing'],
    [`---\nname: a\ndescription: ${'d'.repeat(1_025)}\n---\nx`, 'description-long'],
    ['---\nname: a\ndescription: d\ncompatibility: ""\n---\nx', 'compatibility-empty'],
    [`---\nname: a\ndescription: d\ncompatibility: ${'c'.repeat(501)}\n---\nx`, 'compatibility-long'],
    ['---\nname: a\ndescription: d\ncompatibility: [c]\n---\nx', 'field-type'],
    ['---\nname: a\ndescription: d\nmetadata: [m]\n---\nx', 'metadata-not-mapping'],
    ['---\nname: a\ndescription: Use when: d\n---\nx', 'yaml-repaired'],
    ['---\nname: a\ndescription: d\n...\nx', 'frontmatter-closed-by-dots'],
    ['\n---\nname: a\ndescription: d\n---\nx', 'leading-blank-lines'],
  ]
  for (const [text, code] of cases) {
    for (const profile of PROFILES) {
      const { diagnostics } = checkStrict(text, { path: 'p', directoryName: 'a', profile })
      const errors = diagnostics.filter(({ severity }) => severity === 'error').map((found) => found.code)
      assert.ok(errors.includes(code), `${code} under ${profile}: ${errors.join()}`)
    }
  }
})

test('names and lengths count code points after NFKC', () => {
  const name = `cafe\u0301${'𝒂'.repeat(58)}`
  const { diagnostics } = checkStrict(`---\nname: ${name}\ndescription: ${'🙂'.repeat(1_024)}\n---\nx`, {
    path: 'p',
    directoryName: name.normalize('NFKC'),
    profile: 'spec',
  })
  assert.deepEqual(shown(diagnostics), [])
})

test('an unknown key is a warning under the specification only, and one finding where it is a typo', () => {
  assert.deepEqual(shown(strict('triggers: x')), ['warning key-unknown 4:1'])
  for (const profile of PROFILES) assert.deepEqual(shown(strict('licence: MIT', profile)), ['warning key-similar 4:1'])
  assert.deepEqual(shown(strict('author: me', 'claude')), [])
})

test('values under metadata that are not text are warnings under the specification', () => {
  assert.deepEqual(shown(strict('metadata:\n  author: me\n  year: 2026\n  list:\n    - a')), [
    'warning metadata-value 6:3',
    'warning metadata-value 7:3',
  ])
  assert.deepEqual(shown(strict(`metadata: '{"openclaw":{"emoji":"x"}}'`)), ['error metadata-text 4:1'])
  assert.deepEqual(shown(strict(`metadata: '{"openclaw":{"emoji":"x"}}'`, 'openclaw')), [])
})

test('tools are one text with blanks under the specification; the fix is that text', () => {
  const [finding] = strict('allowed-tools: Read, Bash(git add:*)')
  assert.equal(finding?.code, 'tools-form')
  assert.equal(finding?.fix, 'Write: allowed-tools: Read Bash(git add:*)')
  assert.deepEqual(strict(finding?.fix?.replace('Write: ', '') ?? ''), [])
})

test('values that Claude Code does not accept are errors under its profile', () => {
  const text = 'effort: huge\ncontext: spoon\nshell: zsh\nhooks: [x]\nbackground: perhaps\nmodel: [m]'
  assert.deepEqual(
    strict(text, 'claude').map(({ code, line }) => `${code} ${line}`),
    [4, 5, 6, 7, 8, 9].map((line) => `field-value ${line}`),
  )
})

test('what Claude Code cuts off is said', () => {
  const found = strict(`when_to_use: ${'w'.repeat(1_520)}`, 'claude')
  assert.deepEqual(shown(found), ['info description-cut 4:1'])
})

test('a command of OpenClaw needs its tool', () => {
  assert.deepEqual(shown(strict('command-dispatch: tool', 'openclaw')), ['error field-value 4:1'])
})

test('a lenient check keeps warnings, but a skill without description is an error', () => {
  const check = (text: string): string[] => shown(checkLenient(text, { path: 'p', directoryName: 'a' }).diagnostics)
  assert.deepEqual(check('---\nname: B\ndescription: Use when: d\nextra: 1\n---\nx'), [
    'warning yaml-repaired 3:14',
    'warning name-invalid 2:1',
    'warning name-differs 2:1',
  ])
  assert.deepEqual(check('---\nname: a\n---\nx'), ['error description-missing 1:1'])
})

test('a path behind {baseDir} that the skill does not have is reported once, in code too', () => {
  const body =
    'Run `{baseDir}/scripts/make.py x`.\n\n```bash\npython3 "{baseDir}/scripts/make.py"\n{baseDir}/run.sh\n```'
  const text = `---\nname: a\ndescription: b\n---\n${body}\n`
  const { diagnostics } = checkStrict(text, { path: 'p', directoryName: 'a', profile: 'spec', files: ['run.sh'] })
  assert.deepEqual(
    diagnostics.map(({ code, line, message }) => [code, line, message]),
    [['link-target', 5, 'The path "{baseDir}/scripts/make.py" refers to a file that the skill does not have.']],
  )
})

test('the text of a template is no description, and a wrong system has one fix', () => {
  const text = '---\nname: a\ndescription: What it does. Use when …\nmetadata: {os: windows10}\n---\nDo it.\n'
  const { diagnostics } = checkStrict(text, { path: 'p', directoryName: 'a', profile: 'claude' })
  assert.deepEqual(
    diagnostics.map(({ code, fix }) => [code, fix]),
    [
      ['description-missing', 'Write: description: "What it does. Use when …"'],
      ['metadata-field', 'Write: os: [linux, darwin]'],
    ],
  )
})

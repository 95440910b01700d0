import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkStrict, fixSkill, migrateSkill, parseSkill, PROFILES } from '../../../src/skills/format/index.ts'

function skill(yaml: string): string {
  return `---\nname: a\ndescription: b\n${yaml}\n---\nbody\n`
}

const READ: Readonly<Record<string, string>> = {
  'before a key': 'metadata: {"openclaw": {"emoji": "x", /* needs */ "requires": {"bins": ["zz"]}}}',
  'before the block': 'metadata: {/* c */ "openclaw": {"requires": {"bins": ["zz"]}}}',
  'at the end of a line':
    'metadata:\n  {\n    "openclaw": // ours, all "of" it: yes\n      {"requires": {"bins": ["zz"]}}\n  }',
  'behind a comma': 'metadata:\n  {"openclaw": {\n    "emoji": "x", // the sign\n    "requires": {"bins": ["zz"]}}}',
  'on a line of its own':
    'metadata:\n  {\n    // first, this\n    "openclaw": {\n      // needs\n      "requires": {"bins": ["zz"]}}}',
  'over two lines': 'metadata:\n  {"openclaw": {\n    /* needs\n       all */\n    "requires": {"bins": ["zz"]}}}',
  'before a brace at column 1': 'metadata: {\n  // gate\n  "openclaw": {"requires": {"bins": ["zz"]}}\n}',
  'before a brace at column 1, below the key':
    'metadata:\n  {\n  "openclaw": {"requires": {"bins": [\n    "zz" /* one */\n]}} // all\n}',
  'in JSON5 that is not YAML': `metadata:\n  {"openclaw": { // it's\n    emoji: 'it\\'s', "requires": {"bins": ["zz"]}}}`,
  'with lines that end in CRLF': 'metadata:\r\n  {"openclaw": { // c\r\n    "requires": {"bins": ["zz"]}}}\r',
}

for (const [what, yaml] of Object.entries(READ)) {
  test(`a comment in the JSON of metadata hides no requirement: ${what}`, () => {
    const text = skill(yaml)
    const { document, diagnostics } = parseSkill(text, { path: 'p' })
    assert.deepEqual(document?.metadata.requires.bins, ['zz'])
    assert.ok(diagnostics.some(({ code }) => code === 'yaml-repaired'))
    for (const result of [fixSkill(text, { path: 'p' }), migrateSkill(text, { path: 'p' })]) {
      const again = parseSkill(result.text, { path: 'p' })
      assert.deepEqual(again.document?.metadata, document?.metadata)
    }
  })
}

const FIXED: Readonly<Record<string, readonly [was: string, now: string]>> = {
  'a comment on its own line': [
    'metadata: {\n  // gate\n  "openclaw": {"always": true}\n}',
    'metadata: {\n  # gate\n  "openclaw": {"always": true}\n}',
  ],
  'comments at the ends of lines': [
    'metadata: {"openclaw": {// ours\n  "emoji": "x", /* the sign */\n  "always": true}}',
    'metadata: {"openclaw": { # ours\n  "emoji": "x", # the sign\n  "always": true}}',
  ],
  'a block comment before more of the line': [
    'metadata: {"openclaw": {"emoji": "x", /* c */ "always": true}}',
    'metadata: {"openclaw": {"emoji": "x",         "always": true}}',
  ],
  'a block comment over several lines': [
    'metadata:\n  {"openclaw": {\n    /* needs\n       all */\n    "always": true}}',
    'metadata:\n  {"openclaw": {\n    # needs\n       # all\n    "always": true}}',
  ],
}

for (const [what, [was, now]] of Object.entries(FIXED)) {
  test(`validate --fix writes the comments of JSON as those of YAML, and keeps the rest: ${what}`, () => {
    for (const end of ['\n', '\r\n']) {
      const text = skill(was).replaceAll('\n', end)
      const fixed = fixSkill(text, { path: 'p' })
      assert.equal(fixed.text, skill(now).replaceAll('\n', end))
      assert.deepEqual(fixed.diagnostics, [])
    }
  })
}

test('the message says that the value was read without the comment, and one edit writes all comments', () => {
  const yaml = 'metadata: {\n  // a\n  "openclaw": {"emoji": "x"} /* b */\n}'
  const { diagnostics } = parseSkill(skill(yaml), { path: 'p' })
  assert.deepEqual(diagnostics, [
    {
      code: 'yaml-repaired',
      severity: 'warning',
      message: 'Nexus ignored a comment in the value of metadata. A YAML comment begins with #, not with //.',
      path: 'p',
      line: 5,
      column: 3,
      fix: 'Remove the comment that begins with //, or write it as # … at the end of a line.',
      subject: 'metadata',
      edit: {
        start: { line: 5, column: 3 },
        end: { line: 6, column: 37 },
        text: '# a\n  "openclaw": {"emoji": "x"} # b',
      },
    },
  ])
})

test('validate --fix writes more comments than are reported of one kind', () => {
  const text = skill(`metadata: {\n${'  // a\n'.repeat(60)}  "openclaw": {"always": true}\n}`)
  assert.equal(fixSkill(text, { path: 'p' }).text, text.replaceAll('//', '#'))
})

test('JSON5 with comments that is not YAML without them has no edit', () => {
  const text = skill(READ['in JSON5 that is not YAML'] ?? '')
  assert.equal(fixSkill(text, { path: 'p' }).text, text)
})

test('validate --fix of a comment in metadata leaves no error of --strict that was not there before', () => {
  for (const yaml of [...Object.values(READ), ...Object.values(FIXED).map(([was]) => was)]) {
    const text = skill(yaml)
    const fixed = fixSkill(text, { path: 'p' }).text
    for (const profile of PROFILES) {
      const [before, after] = [text, fixed].map((each) =>
        checkStrict(each, { path: 'p', profile }).diagnostics.filter(({ severity }) => severity === 'error'),
      )
      const codes = new Set(before?.map(({ code }) => code))
      assert.deepEqual(
        after?.filter(({ code }) => !codes.has(code)),
        [],
        yaml,
      )
    }
  }
})

const REFUSED: readonly string[] = [
  'metadata: {"openclaw": {/* c */ requires: {bins: [zz]}}}',
  'metadata:\n  /* c */ requires: {bins: [zz]}',
  'metadata:\n  // c: {bins: [zz]}\n  x: y',
  'metadata:\n  openclaw:\n    /* c */ requires:\n      bins: [zz]',
  'requires: {/* c */ bins: [zz], env: [A]}',
  'requires: {/* c */ "bins": ["zz"], "env": []}',
  'metadata:\n  openclaw: {"emoji": "x", /* c */ "requires": {"bins": ["zz"]}}',
]

for (const yaml of REFUSED) {
  test(`elsewhere a key that begins like a comment is an error: ${JSON.stringify(yaml)}`, () => {
    const { document, diagnostics } = parseSkill(skill(yaml), { path: 'p' })
    assert.equal(document, undefined)
    const error = diagnostics.find(({ code }) => code === 'yaml-key-not-text')
    assert.match(error?.fix ?? '', /Remove the comment/)
  })
}

test('two slashes in a text or in a key in quotes are no comment', () => {
  const { document, diagnostics } = parseSkill(
    skill('metadata: {"//": "note", "openclaw": {"homepage": "https://a.b/*c*/", "requires": {"bins": ["zz"]}}}'),
    { path: 'p' },
  )
  assert.deepEqual(diagnostics, [])
  assert.equal(document?.metadata.homepage, 'https://a.b/*c*/')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixSkill, migrateSkill, parseSkill } from '../../../src/skills/format/index.ts'

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

test('the message says that the value is no YAML, and nothing is edited', () => {
  const yaml = 'metadata: {\n  // a\n  "openclaw": {"emoji": "x"} /* b */\n}'
  const { diagnostics } = parseSkill(skill(yaml), { path: 'p' })
  assert.deepEqual(
    diagnostics.map(({ code, message, fix, line, edit }) => ({ code, message, fix, line, edit })),
    [
      {
        code: 'yaml-repaired',
        message: 'Nexus read the value of metadata as plain text. Its JSON is not YAML.',
        fix: 'Write the keys as YAML, one a line, without comments of JSON.',
        line: 6,
        edit: undefined,
      },
    ],
  )
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

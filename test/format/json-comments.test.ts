import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixSkill, migrateSkill, parseSkill } from '../../src/format/index.ts'

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
  'with lines that end in CRLF': 'metadata:\r\n  {"openclaw": { // c\r\n    "requires": {"bins": ["zz"]}}}\r',
}

for (const [what, yaml] of Object.entries(READ)) {
  test(`a comment in the JSON of metadata hides no requirement: ${what}`, () => {
    const text = skill(yaml)
    const { document, diagnostics } = parseSkill(text, { path: 'p' })
    assert.deepEqual(document?.metadata.requires.bins, ['zz'])
    assert.ok(diagnostics.some(({ code }) => code === 'yaml-repaired'))
    assert.doesNotMatch(fixSkill(text, { path: 'p' }).text, /\/\/|\/\*/)
    for (const result of [fixSkill(text, { path: 'p' }), migrateSkill(text, { path: 'p' })]) {
      const again = parseSkill(result.text, { path: 'p' })
      assert.deepEqual(again.document?.metadata, document?.metadata)
    }
  })
}

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
    assert.match(error?.fix ?? '', /remove the comment/)
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

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { checkLenient, checkStrict, createChecker, createHeadReader, parseSkill } from '../../src/format/index.ts'
import type { SkillMetadata } from '../../src/kernel/index.ts'
import { Glance } from '../../src/format/glance/glance.ts'
import { change, changedText } from './changes.ts'

const HEAD_BYTES = 4_096
const NOTHING_GATED = {
  os: [],
  requires: { bins: [], anyBins: [], env: [], config: [] },
  install: [],
  always: false,
}
const reader = createHeadReader()

/** What another file left there. */
const BEHIND = Buffer.from('\nname: pdf\ndescription: Of another file.\n---\n')

/** False when the glance gives the file up; throws when it says anything that `parseSkill` does not. */
function isSeenAlike(file: Buffer, directoryName: string): boolean {
  const size = Math.min(file.length, HEAD_BYTES)
  // In the middle of a larger buffer, as in a search, where other files were before.
  const bytes = Buffer.concat([Buffer.from('before'), file.subarray(0, size), BEHIND])
  const range = { start: 6, end: 6 + size, isWhole: size === file.length }
  const quick = reader.glance(bytes, range, directoryName)
  if (quick === undefined) return false
  const { document, diagnostics } = parseSkill(file, { path: 'p', directoryName })
  const shown = JSON.stringify(file.toString('utf8', 0, 2_000))
  assert.ok(document, `accepted, but rejected by the parser: ${shown}`)
  assert.deepEqual([quick.name, reader.describe(quick, bytes)], [document.name, document.description], shown)
  if (quick.isClean) {
    assert.deepEqual(document.arguments, [], shown)
    if (quick.isUngated || reader.isSound({ ...quick, bytes, path: 'p', directoryName }))
      assert.deepEqual(diagnostics, [], shown)
  }
  if (quick.isUngated) {
    assert.deepEqual(document.metadata, NOTHING_GATED, shown)
  }
  if (quick.isForBoth) assert.deepEqual(document.invocation, { model: true, user: true }, shown)
  const { body: _, ...head } = document
  assert.deepEqual(reader.read({ ...quick, bytes, path: 'p', directoryName }), { head, diagnostics }, shown)
  assert.deepEqual(
    plain(reader.readMetadata({ ...quick, bytes, path: 'p', directoryName })),
    plain(document.metadata),
    shown,
  )
  return true
}

const checker = createChecker()

/** Throws when the quick verdict is another than the whole one. */
function assertSameVerdicts(file: Buffer, directoryName: string): void {
  const options = { path: 'p', directoryName, files: ['x'] }
  const shown = JSON.stringify(file.toString('utf8', 0, 2_000))
  const verdicts = [
    [
      checker.strict(Buffer.from(file), { ...options, profile: 'spec' }),
      checkStrict(file, { ...options, profile: 'spec' }),
    ],
    [checker.lenient(Buffer.from(file), options), checkLenient(file, options)],
  ] as const
  for (const [quick, whole] of verdicts) {
    assert.deepEqual(quick.diagnostics, whole.diagnostics, shown)
    assert.equal(quick.name, whole.document?.name, shown)
    assert.deepEqual(quick.document, whole.document, shown)
  }
}

/** Every field that is there; some are getters. */
function plain(metadata: SkillMetadata): object {
  const fields = ['emoji', 'homepage', 'os', 'requires', 'primaryEnv', 'install', 'always', 'skillKey'] as const
  return Object.fromEntries(fields.map((field) => [field, metadata[field]]).filter(([, value]) => value !== undefined))
}

const file = (yaml: string, body = 'Do it.\n'): string => `---\n${yaml}---\n${body}`

const SEEN = {
  'a value that begins with a bracket': file('name: pdf\ndescription: <what> it does.\nargument-hint: <file> [-y]\n'),
  'the smallest skill': file('name: pdf\ndescription: Reads PDF files.\n'),
  'the usual keys': file(
    'name: pdf\ndescription: "Reads: files"\nlicense: MIT\ncompatibility: Needs gh (any:one) on PATH\nallowed-tools: Read Bash(gh:*)\nmetadata:\n  author: x\n  version: "1.0"\n  category: a:b\n',
  ),
  'the usual keys, fewer': file('name: pdf\ndescription: Reads files.\nlicense: MIT\nmetadata:\n  version: 1.2.3\n'),
  'metadata as JSON on one line': file(
    'name: pdf\ndescription: Reads files.\nmetadata: {"openclaw":{"emoji":"🧰","requires":{"bins":["jq"],"env":["A_B"]},"os":["linux"]}}\n',
  ),
  comments: file(
    '# first\nname: pdf\n# kept by\ndescription: Reads files.\n  # deeper\nmetadata:\n# here\n  a: b\n    # there\n  nexus:\n    os: [linux]\n# last\n',
  ),
  quotes: file('name: pdf\ndescription: "Use when: a PDF # is near"\nlicense: MIT\n'),
  'other alphabets': file('name: pdf\ndescription: Größe — 你好 🙂\n'),
  CRLF: file('name: pdf\ndescription: Reads files.\n').replaceAll('\n', '\r\n'),
  'a folded description': file('name: pdf\ndescription: >-\n  one\n  two\n\n  three:\nlicense: MIT\n'),
  'a literal description': file('name: pdf\ndescription: |\n  one\n  two\n'),
  'known fields': file(
    'name: pdf\ndescription: Reads.files\nlicense: MIT\ncompatibility: Needs gh (any) on PATH\nallowed-tools: Read Bash(gh:*)\n',
  ),
  'nested metadata': file(
    'name: pdf\ndescription: Reads files.\nmetadata:\n  author: x\n  a:\n    b:\n      - c\n      - d: e\n        f: g\n  version: "1.0"\n',
  ),
  gates: file(
    'name: pdf\ndescription: Reads files.\nmetadata:\n  openclaw:\n    emoji: "🧰"\n    os: ["darwin", "win32"]\n    requires:\n      bins: ["gh"]\n      env: [A_B]\n    always: true\n    install:\n      - id: apt\n        kind: APT\n        package: gh\n        bins: [gh]\n      - kind: brew\n        label: "Install (brew)"\n',
  ),
  'an install entry that is a text': file(
    'name: pdf\ndescription: Reads files.\nmetadata:\n  nexus:\n    install:\n      - kind: x\n      - kind:brew\n',
  ),
  'gates in blocks': file(
    'name: pdf\ndescription: Reads files.\nmetadata:\n  short: x y\n  nexus:\n    homepage: https://example.com/a\n    primaryEnv: \'A_B\'\n    other:\n      deep: [x]\n    requires:\n      anyBins:\n        - rg\n        - "gr\\tep"\n      config: []\n      more: yes it is\n    skillKey: "a \\"b\\""\n    install:\n      - kind: download\n        url: https://example.com/x\n        note: " kept "\n        os:\n          - macos\n          - darwin\n    os: [linux]\n  last: 1\nlicense: MIT\n',
  ),
  'gates right below metadata': file(
    'name: pdf\ndescription: Reads files.\nhomepage: https://example.com\nemoji: 📊\nmetadata:\n  emoji: "📊"\n  requires:\n    bins: ["node"]\n    env: [A]\n  primaryEnv: A\n  install:\n    - id: brew\n      kind: brew\n      formula: gh\n      bins: ["gh"]\n      label: Install the GitHub CLI (brew)\n  author: x\n',
  ),
  flags: file('name: pdf\ndescription: Reads files.\nuser-invocable: false\nos: linux\narguments: [a, b]\n'),
  'slips in requires': file(
    'name: pdf\ndescription: Reads files.\nmetadata:\n  openclaw:\n    requires:\n      bin: [gh]\n      bins: [gh]\n',
  ),
  'slips in the block of a client': file(
    'name: pdf\ndescription: Reads files.\nmetadata:\n  openclaw:\n    require:\n      bins: [gh]\n    bins: [x]\n    emoji: x\n',
  ),
  'slips below metadata': file(
    'name: pdf\ndescription: Reads files.\nmetadata:\n  author: x\n  Requires:\n    bins: [gh]\n  any_bins: [x]\n  OS: linux\n',
  ),
  'one slip below metadata': file('name: pdf\ndescription: Reads files.\nmetadata:\n  bins: [gh]\n  a: "b"\n'),
  'slips in JSON': file(
    'name: pdf\ndescription: Reads files.\nmetadata: {"openclaw":{"requires":{"bin":["jq"]}},"primary_env":"A"}\n',
  ),
  'what is no slip below metadata': file(
    'name: pdf\ndescription: Reads files.\nmetadata:\n  requirements: none\n  skills: [a]\n  installed: true\n  config: [a]\n',
  ),
  'another name than the directory': file('name: Some Name\ndescription: Reads files.\n'),
  'a long description': file(`name: pdf\ndescription: ${'word '.repeat(300)}\n`),
}

for (const [what, text] of Object.entries(SEEN)) {
  test(`a glance is enough for ${what}`, () => {
    assert.equal(isSeenAlike(Buffer.from(text), 'pdf'), true)
    assertSameVerdicts(Buffer.from(text), 'pdf')
  })
}

const LEFT = {
  'no frontmatter': 'name: pdf\ndescription: x\n',
  'more than three dashes': '----\nname: pdf\ndescription: Reads files.\n----\n',
  'text behind the opening dashes': '---js\nname: pdf\ndescription: Reads files.\n---\n',
  'a byte order mark': `\ufeff${file('name: pdf\ndescription: Reads files.\n')}`,
  'a blank first line': `\n${file('name: pdf\ndescription: Reads files.\n')}`,
  'dots at the end': '---\nname: pdf\ndescription: Reads files.\n...\nbody\n',
  'no end': '---\nname: pdf\ndescription: Reads files.\nbody\n',
  'an end beyond the head': file(`name: pdf\ndescription: Reads files.\nx: |\n${'  line\n'.repeat(1_000)}`),
  'a missing description': file('name: pdf\n'),
  'an empty description': file('name: pdf\ndescription: "  "\n'),
  'a missing name': file('description: Reads files.\n'),
  'a key given twice': file('name: pdf\ndescription: a b c d\ndescription: e f g h\n'),
  'a nested key given twice': file('name: pdf\ndescription: Reads files.\nmetadata:\n  a: 1\n  a: 2\n'),
  'a broken nested block': file('name: pdf\ndescription: Reads files.\nmetadata:\n    a: 1\n  b: 2\n'),
  'an unclosed list': file('name: pdf\ndescription: Reads files.\nmetadata:\n  a: [b\n'),
  'metadata in quotes': file(`name: pdf\ndescription: Reads files.\nmetadata: '{"a": 1}'\n`),
  'metadata in a block': file('name: pdf\ndescription: Reads files.\nmetadata: |-\n  {"a": 1, "a": 2}\n'),
  'JSON below metadata': file(
    `name: pdf\ndescription: Reads files.\nmetadata:\n  a: b\n  nexus: "{\\"a\\": 1, \\"a\\": 2}"\n`,
  ),
  'JSON below metadata, with comments': file(
    `name: pdf\ndescription: Reads files. # x\nmetadata:\n  nexus: '{"a": 1, "a": 2}'\n`,
  ),
  'an anchor': file('name: pdf\ndescription: Reads files.\nx: &a b\n'),
}

for (const [what, text] of Object.entries(LEFT)) {
  test(`${what} is left to the parser that reports`, () => assert.equal(isSeenAlike(Buffer.from(text), 'pdf'), false))
}

test('a key in JSON with a character that nobody sees has one verdict', () => {
  const text = 'name: pdf\ndescription: Reads files.\nmetadata: {"\u200bopenclaw":{"emoji":"x"}}\n'
  assertSameVerdicts(Buffer.from(file(text)), 'pdf')
})

test('a glance takes nothing from behind the end of a file', () => {
  for (const text of [
    '---     ',
    `---${' '.repeat(200)}`,
    '---    \r',
    '---\nname: pdf',
    '---\nname: pdf\ndescription: Reads.\n---',
  ])
    assert.doesNotThrow(() => isSeenAlike(Buffer.from(text), 'pdf'), JSON.stringify(text))
})

test('a block is looked at as a whole, also when only its last line is not ASCII', () => {
  const look = new Glance()
  const text = Buffer.from(file('name: pdf\ndescription: >-\n  one\n\n  größe\nlicense: MIT\n')).toString('latin1')
  assert.deepEqual([look.look(text, 4), look.isWide, look.count], [true, true, 3])
  assert.deepEqual(
    [look.look(text.replace('  gr', '   gr'), 4), look.look(text.replace(/[^ -~\n]/g, ''), 4)],
    [false, true],
  )
  assert.equal(look.isWide, false)
})

test('a closing line that ends exactly where the head ends counts only when the file ends there too', () => {
  const text = '---\nname: pdf\ndescription: Reads files.\n---'
  const bytes = Buffer.from(`${text}-\n`)
  const range = { start: 0, end: text.length, isWhole: false }
  assert.equal(reader.glance(Buffer.from(bytes), range, 'pdf'), undefined)
  assert.ok(reader.glance(Buffer.from(bytes), { ...range, isWhole: true }, 'pdf'))
})

function fixtures(): string[] {
  const directory = resolve(import.meta.dirname, '../fixtures/format')
  return readdirSync(directory)
    .map((name) => resolve(directory, name, 'SKILL.md'))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8'))
}

test('whatever a glance accepts, the parser reads the same way', () => {
  const texts = fc.constantFrom(...Object.values(SEEN), ...fixtures())
  let accepted = 0
  fc.assert(
    fc.property(texts, fc.array(change, { maxLength: 4 }), (text, changes) => {
      const changed = changedText(text, changes)
      fc.pre(changed.isWellFormed())
      assertSameVerdicts(Buffer.from(changed), 'pdf')
      if (isSeenAlike(Buffer.from(changed), 'pdf')) accepted++
    }),
    { numRuns: 6_000 },
  )
  assert.ok(accepted > 500, `only ${accepted} were accepted`)
})

const CORPUS = resolve(
  process.env['NEXUS_CORPUS'] ?? resolve(import.meta.dirname, '../../../shared/corpus'),
  'real-skills.jsonl.gz',
)
const skip = existsSync(CORPUS) ? false : `the corpus is not here: ${CORPUS}`

test('a glance is enough for nine of ten real skills, and says what the parser says', { skip }, () => {
  const lines = gunzipSync(readFileSync(CORPUS)).toString('utf8').split('\n').filter(Boolean)
  let seen = 0
  for (const line of lines) {
    const { dir, base64 } = JSON.parse(line) as { dir: string; base64: string }
    if (isSeenAlike(Buffer.from(base64, 'base64'), dir)) seen++
    assertSameVerdicts(Buffer.from(base64, 'base64'), dir)
  }
  assert.ok(seen > lines.length * 0.9, `${seen} of ${lines.length}`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkLenient, checkStrict, createChecker, FORMAT_LIMITS } from '../../src/format/index.ts'
import { Outliner } from '../../src/format/glance/outline.ts'
import { SOUND_METADATA } from '../../src/format/glance/sound.ts'
import { plainFile } from '../../src/format/text.ts'
import { change, changedText } from './changes.ts'

const outliner = new Outliner()
const checker = createChecker()

/** True when a glance gives the outline; throws when a verdict is another than the whole one. */
function isOutlinedAlike(text: string): boolean {
  const bytes = Buffer.from(text)
  const file = plainFile(bytes)
  const isOutlined = file !== undefined && outliner.read(file, 'pdf') !== undefined
  const options = { path: 'p', directoryName: 'pdf', profile: 'spec' } as const
  const shown = JSON.stringify(text)
  for (const more of [{}, { files: ['x'] }]) {
    const strict = checkStrict(bytes, { ...options, ...more })
    const lenient = checkLenient(bytes, { ...options, ...more })
    const quick = [checker.strict(bytes, { ...options, ...more }), checker.lenient(bytes, { ...options, ...more })]
    assert.deepEqual([quick[0]?.diagnostics, quick[1]?.diagnostics], [strict.diagnostics, lenient.diagnostics], shown)
    assert.deepEqual([quick[0]?.name, quick[1]?.name], [strict.document?.name, lenient.document?.name], shown)
  }
  return isOutlined
}

const file = (yaml: string, body = 'Do it.\n'): string => `---\n${yaml}---\n${body}`
const head = 'name: pdf\ndescription: Reads PDF files.\n'

const OUTLINED: Readonly<Record<string, string>> = {
  'unknown keys': file(
    `${head}version: 1.0\nargument-hint: '[file]'\nuser-invocable: true\nlicence: MIT\ntags: [a, b]\n`,
  ),
  'tools in brackets': file(`${head}allowed-tools: [Read, "Bash(git:*)"]\n`),
  'tools as a list': file(`${head}allowed-tools:\n  - Read\n  - Bash(git:*)\n  - "Grep"\nlicense: MIT\n`),
  'tools with commas': file(`${head}allowed-tools: Read, Bash(git add:*), Read\n`),
  'tools in quotes': file(`${head}allowed-tools: " Read  Grep "\n`),
  'empty keys': file(`${head}license: MIT\nallowed-tools:\ncompatibility:\nmetadata:\n`),
  'nested metadata': file(
    `${head}metadata:\n  openclaw:\n    emoji: "🧰"\n    os: ["darwin"]\n    requires:\n      bins: ["gh"]\n  author: x\n`,
  ),
  'gates of every usual form': file(
    `${head}metadata:\n  author: x\n  openclaw:\n    emoji: "🧰"\n    primaryEnv: A_B\n    always: true\n    os: ["darwin", linux]\n    requires:\n      bins: ["gh", jq]\n      env: [A]\n    install:\n      - id: apt\n        kind: apt\n        bins: ["gh"]\n        label: "Install gh (apt)"\n      - kind: brew\n    skillKey: "a b"\n  x: y\n`,
  ),
  'values below metadata': file(
    `${head}metadata:\n    version: 1.10\n    a: 1\n    b: 1.5\n    c: 1.2.3\n    d: true\n    e:\n    f: [x]\n    g:\n      - h\n    i: "x: y"\n`,
  ),
  'a name in quotes': file('name: "pdf"\ndescription: Reads PDF files.\n'),
  'a description in single quotes': file("name: 'pdf'\ndescription: 'It''s: for PDF # files'\n"),
  'a description with escapes': file('name: pdf\ndescription: "Reads \\"PDF\\" files\\n"\n'),
  'other alphabets': file('name: pdf\ndescription: Größe — 你好\nx: 日本語 🙂\nmetadata:\n  a: größer\n'),
  'a block of other alphabets after ASCII': file('name: pdf\ndescription: >-\n  one\n  größer\n\n  two\nx: y\n'),
  'more than 1 KiB': file(`${head}compatibility: x\nnotes: ${'word '.repeat(300)}\n`),
  CRLF: file(`${head}allowed-tools:\n  - Read\nmetadata:\n  a:\n    b: c\nversion: 1\n`).replaceAll('\n', '\r\n'),
  'metadata as JSON': file(
    `${head}metadata: {"openclaw":{"emoji":"🧰","requires":{"bins":["gh"]}},"größe":{"a":[]},"x": "y: # z"}\nx: y\n`,
  ),
  comments: file(
    `# one\n${head}# two größe\nmetadata:\n  # three\n  a: b\n# four\n  c:\n     # five\n    d: e\nx: y\n# six\n`,
  ),
  'comments and JSON': file(`${head}# "{"\nmetadata: {"a": {"a": "b"}, "b": ["a"]}\n`),
  'a long body': file(head, `${'größe word\n'.repeat(6_000)}{basedir} größe {base_dir}\n`),
  'an empty body': file(head, ' \u00a0\n'),
  'broken links': file(head, 'See [größe](a.md) and `[x](b.md)` and ![c](<d e.png>) {skill_dir}\n'),
}

for (const [what, text] of Object.entries(OUTLINED)) {
  test(`a glance is enough to judge ${what}`, () => assert.equal(isOutlinedAlike(text), true))
}

const LEFT: Readonly<Record<string, string>> = {
  'another name': file('name: other\ndescription: Reads PDF files.\n'),
  'JSON with a key twice': file(`${head}metadata: {"a":{"b":"c","b":"c"}}\n`),
  'JSON with a number': file(`${head}metadata: {"a":1}\n`),
  'JSON with escapes': file(`${head}metadata: {"a":"\\u0041"}\n`),
  'JSON with something to report': file(`${head}metadata: {"nexus":{"requires":{"bins":["a b"]}}}\n`),
  'a comment in a block': file('name: pdf\ndescription: |\n  # one\n  two\n# three\nx: |\n  y\n  # z\n'),
  'a name twice': file(`${head}name: pdf\n`),
  'an empty description': file('name: pdf\ndescription: "  "\n'),
  'an empty text as description': file("name: pdf\ndescription: ''\n"),
  'a number as description': file('name: pdf\ndescription: 123456\n'),
  'a description that hides something': file('name: pdf\ndescription: Reads\u200b files of any kind.\n'),
  'a long description': file(`name: pdf\ndescription: ${'word '.repeat(300)}\n`),
  'an empty compatibility': file(`${head}compatibility: ""\n`),
  'a list as license': file(`${head}license: [MIT]\n`),
  'numbers as tools': file(`${head}allowed-tools: [Read, 1]\n`),
  'an open parenthesis': file(`${head}allowed-tools: Bash(git\n`),
  'a flag that is none': file(`${head}user-invocable: maybe\n`),
  'gates at the top': file(`${head}os: linux\n`),
  'gates of an odd form': file(`${head}metadata:\n  nexus:\n    os: {"a": "b"}\n`),
  'metadata as text': file(`${head}metadata: text\n`),
  'a key of 1,100 letters': file(`${head}${'k'.repeat(1_100)}: x\n`),
  'a byte order mark': `\ufeff${file(head)}`,
  'a file that is too large': file(head, 'x'.repeat(FORMAT_LIMITS.largeFileBytes)),
  'text behind the dashes': `${file(head).replace('---\nDo', '--- x\nDo')}---\n`,
}

for (const [what, text] of Object.entries(LEFT)) {
  test(`${what} is left to the parsers`, () => assert.equal(isOutlinedAlike(text), false))
}

test('verdicts from a glance are those of the parsers, whatever is changed', () => {
  const texts = fc.constantFrom(...Object.values(OUTLINED).filter((text) => text.length < 3_000))
  let outlined = 0
  fc.assert(
    fc.property(texts, fc.array(change, { maxLength: 4 }), (text, changes) => {
      const changed = changedText(text, changes)
      fc.pre(changed.isWellFormed())
      if (isOutlinedAlike(changed)) outlined++
    }),
    { numRuns: 1_500 },
  )
  assert.ok(outlined > 150, `only ${outlined} were outlined`)
})

test('hostile metadata costs time in proportion to its size', () => {
  const blanks = ' '.repeat(60_000)
  for (const line of [
    `primaryEnv: A${blanks}!`,
    `skillKey: "${'a'.repeat(60_000)}`,
    `skillKey: "${' .'.repeat(30_000)}`,
    `emoji:${blanks}x`,
    `os: [${'a, '.repeat(20_000)}`,
    'emoji: x\n    '.repeat(6_000),
    `requires:\n${'      bins: [a]\n'.repeat(6_000)}`,
    `install:\n${'      - kind: a\n        x: y\n'.repeat(6_000)}`,
  ])
    assert.equal(SOUND_METADATA.test(`metadata:\n  nexus:\n    ${line.trimEnd()}\n   q\n`), false)
})

test('the findings and the document of a verdict stay when other files are judged after it', () => {
  const options = { path: 'p', directoryName: 'pdf', profile: 'spec' } as const
  const first = checker.strict(Buffer.from(file(`${head}x: y\n`)), options)
  const json = checker.strict(Buffer.from(file(`${head}metadata: {"a": {"b": "c"}}\n`)), options)
  checker.strict(Buffer.from(file(`# c\n${head}`)), options)
  assert.deepEqual(
    [first, json].map(({ diagnostics: [found] }) => [found?.code, found?.line, found?.column]),
    [
      ['key-unknown', 4, 1],
      ['metadata-value', 4, 12],
    ],
  )
  assert.equal(JSON.stringify(json.document?.frontmatter['metadata']), '{"a":{"b":"c"}}')
})

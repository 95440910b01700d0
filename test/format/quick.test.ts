import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { stringify, type ToStringOptions } from 'yaml'
import { readHead } from '../../src/format/document.ts'
import { readFrontmatter } from '../../src/format/frontmatter.ts'
import { scannedFrontmatter } from '../../src/format/quick/front.ts'
import { Scanner } from '../../src/format/quick/scan.ts'
import { createReport } from '../../src/format/report.ts'
import { changedText, changeWith } from './changes.ts'

const scanner = new Scanner()

/** False when the scanner gives the text up; throws when it reads it otherwise than the YAML library does. */
function isReadAlike(yaml: string): boolean {
  const bytes = Buffer.from(`${yaml}\0`)
  if (!scanner.scan(bytes, { start: 0, end: bytes.length - 1, until: 'end', isWhole: true })) return false
  const [quick, full] = [createReport('p'), createReport('p')]
  const head = readHead(scannedFrontmatter(scanner, { start: 0, firstLine: 2 }), { directoryName: 'd', report: quick })
  const front = readFrontmatter(yaml.replace(/\r\n?/g, '\n'), 2, full)
  assert.ok(front, `accepted, but not YAML: ${JSON.stringify(yaml)}`)
  const expected = readHead(front, { directoryName: 'd', report: full })
  assert.deepEqual(head, expected, JSON.stringify(yaml))
  assert.equal(JSON.stringify(head), JSON.stringify(expected), 'the order of the keys')
  assert.deepEqual(quick.diagnostics, full.diagnostics, JSON.stringify(yaml))
  return true
}

const READ = {
  'plain values': 'name: a\ndescription: Use it when asked, or not; 50% (maybe) "so"\nlicense: MIT\n',
  'quotes and escapes': 'name: "a"\ndescription: "Use: \\"this\\" \\n # and"\nlicense: \'it\'\'s\'\n',
  'a folded block': 'name: a\ndescription: >-\n  one\n  two\n\n\n  three: "x" # no comment\nlicense: MIT\n',
  'a folded block at the end': 'name: a\ndescription: >\n  one\n  two\n',
  'a literal block': 'description: |\n  one\n    two  \n\n  - three\nname: a\n',
  'a stripped literal block': 'description: |-\n    one\nname: a\n',
  'comments below values': 'name: a\ndescription: true\n # not of the value\nlicense: b\n  # nor this\n',
  'empty keys': 'name: a\nmetadata:\ndescription: b\nlicense:\n',
  'nested metadata':
    'name: a\nmetadata:\n  author: x\n  openclaw:\n    requires:\n      bins: [gh, "jq"]\n    always: true\n  last: 1\n',
  lists: 'allowed-tools:\n  - Read\n  - Bash(git:*)\ntags:\n- x\n- "y"\nname: a\n',
  'lists of mappings':
    'metadata:\n  nexus:\n    install:\n      - id: apt\n        kind: apt\n        bins: ["gh"]\n      - kind: brew\n',
  'JSON on one line': 'name: a\nmetadata: {"openclaw": {"emoji": "🧰", "requires": {"bins": ["gh"]}}}\n',
  CRLF: 'name: a\r\ndescription: >\r\n  b\r\n  c\r\n\r\nmetadata:\r\n  x: 1.0\r\n',
  'numbers and words as written':
    'name: 007\ndescription: true\nversion: 1.10\nlicense: null\ncompatibility: 12\nx: 1.50\n',
  'versions and dates': 'version: 1.0.0\nx: 2024-01-01\ny: 3d\nname: a\n',
  'blanks at the ends of lines': 'name: a   \ndescription:   b  \nmetadata:   \n  x: y   \n\n',
  'other alphabets': 'name: größe\ndescription: "→ 你好 — 🙂"\n',
  'faults of fields':
    'name: Not Good\ndescription: ""\nallowed-tools: Bash(\narguments: {a: b}\nmetadata: text\nuser-invocable: maybe\n',
  'faults in metadata, in blocks':
    'name: a\nmetadata:\n  size: "→"\n  nexus:\n    os: {"a": "b"}\n    requires:\n      bins: ["a b"]\n      env:\n        A: b\n    install:\n      - kind: brew\n        bins: {"x": "y"}\n      - id: x\n      - {"id": "y"}\n      - z\n',
  'faults in metadata, on one line':
    'name: a\nmetadata: {"size": "→ 🙂", "nexus": {"os": {"a": "b"}, "requires": {"bins": ["a b"]}, install: [x, {"id": y}]}}\n',
  'faults in metadata, with CRLF': 'name: a\r\nmetadata:\r\n  a: b\r\n  requires:\r\n    bins: {"x": "y"}\r\n',
  'comment lines':
    '# one\nname: a\n  # two: x\nmetadata:\n# three\n  b: c\n     # four\n  d: |\n    e\n    # text\n# five\nf:\n  - g\n  # six\n  - h\n# last\n',
  'JSON without blanks': 'name: a\nmetadata: {"a":{"b":["c","d"],"e":"f"},"g": "h"}\n',
  'a key of the prototype': '__proto__: x\nconstructor: y\nname: a\n',
  'the hint as written': 'argument-hint: [a, b]\nname: a\n',
}

for (const [what, yaml] of Object.entries(READ)) {
  test(`the scanner reads ${what} as the full parser does`, () => assert.equal(isReadAlike(yaml), true))
}

const GIVEN_UP = {
  'a quoted key': '"name": a\n',
  'a key given twice': 'a: 1\nb: 2\na: 3\n',
  'a second colon': 'a: Use when: asked\n',
  'a comment': 'a: b # c\n',
  'a comment line with a tab': '#\tc\na: b\n',
  'a plain value over two lines': 'a: b\n  c\n',
  'a quoted value over two lines': 'a: "b\n  c"\n',
  'an anchor': 'a: &x b\n',
  'a tag': 'a: !!str b\n',
  'a merge key': '<<: b\n',
  'a tab': 'a:\tb\n',
  'a no-break space before a key': 'a: b\n\u00a0c: d\n',
  'a no-break space before a key below': 'a:\n  b: c\n  \u00a0d: e\n',
  'a no-break space before a key in braces': 'a: {\u00a0"b": c}\n',
  'a no-break space after a dash': 'a:\n  -\u00a0b\n',
  'an exponent': 'a: 1e3\n',
  'a hexadecimal number': 'a: 0x1F\n',
  'a number of many digits': 'a: 12345678901234567890\n',
  'a block with an indentation indicator': 'a: |2\n   b\n',
  'a block that keeps its line breaks': 'a: |+\n  b\n\n',
  'a block that begins with a blank line': 'a: |\n\n  b\n',
  'deeper lines in a folded block': 'a: >\n  b\n    c\n',
  'a line between two indentations': 'a:\n    b: c\n  d: e\n',
  'a directive': '%YAML 1.1\na: b\n',
  'a second document': 'a: b\n---\nc: d\n',
  'the end of a document': 'a: b\n...\n',
  'a lone CR': 'a: b\rc: d\n',
  'an escape of Unicode': 'a: "\\u0041"\n',
  'an unclosed bracket': 'a: [b\n',
  'text after a quote': 'a: "b" c\n',
  'one value only': 'a\n',
  nothing: '\n',
}

for (const [what, yaml] of Object.entries(GIVEN_UP)) {
  test(`the scanner leaves ${what} to the full parser`, () => assert.equal(isReadAlike(yaml), false))
}

/** Pieces of YAML that bite, put anywhere. */
const BITES = [
  ...[
    '\n',
    '\n ',
    '\n  ',
    '\n    ',
    '\r\n',
    '\r',
    ' ',
    '  ',
    ':',
    ': ',
    ' #',
    '- ',
    '-',
    '"',
    "'",
    "''",
    '[',
    ']',
    '{',
    '}',
    ', ',
  ],
  ...[
    '|',
    '>',
    '|-',
    '>-\n',
    '|\n  ',
    '\t',
    '\\',
    '\\n',
    '\\"',
    '\\u0041',
    '&a',
    '*a',
    '!t',
    '%',
    '@',
    '`',
    '? ',
    '~',
    'null',
    'No',
  ],
  ...[
    '1',
    '1.0',
    '1e3',
    '0x1f',
    '007',
    '.5',
    '-1',
    '1.',
    '1_0',
    '2024-01-01',
    '---',
    '...',
    '\n---\n',
    '\u00a0',
    '\u0085',
    '\u2028',
  ],
  ...[
    '\ufeff',
    'é',
    '🙂',
    '\u200b',
    '\nname: x\n',
    '\ndescription: ',
    '\nmetadata:\n  nexus:\n    os: [linux]',
    '\n  - a\n',
    '\n- b\n',
  ],
  ...[
    '\narguments: [a]',
    '<<: ',
    '__proto__: ',
    'version: 1.10\n',
    '\u007f',
    '\u0001',
    '(',
    '<',
    'key:\n',
    '""',
    '[]',
    '{}',
    '{a: b}',
  ],
]
const change = changeWith(BITES)

function fixtures(): string[] {
  const directory = resolve(import.meta.dirname, '../fixtures/format')
  return readdirSync(directory)
    .map((name) => resolve(directory, name, 'SKILL.md'))
    .filter((file) => existsSync(file))
    .flatMap((file) => /^\ufeff?---\r?\n([^]*?\n)---/.exec(readFileSync(file, 'utf8'))?.[1] ?? [])
}

test('whatever the scanner accepts, the full parser reads the same way: changed texts', () => {
  const texts = fc.constantFrom(...Object.values(READ), ...fixtures())
  let accepted = 0
  fc.assert(
    fc.property(texts, fc.array(change, { maxLength: 4 }), (text, changes) => {
      const yaml = changedText(text, changes)
      fc.pre(yaml.isWellFormed())
      if (isReadAlike(yaml)) accepted++
    }),
    { numRuns: 6_000 },
  )
  assert.ok(accepted > 500, `only ${accepted} texts were accepted`)
})

test('whatever the scanner accepts, the full parser reads the same way: generated documents', () => {
  const word = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom(
      'yes',
      'null',
      '1e3',
      '1.0',
      '007',
      'two\nlines',
      'a\n\nb\n',
      ' x ',
      'Use when: x',
      'a # b',
      "it's",
      '"q"',
    ),
  )
  const leaf = fc.oneof(word, fc.integer(), fc.boolean(), fc.double({ noNaN: true }), fc.constant(null))
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.stringMatching(/^[a-z][a-z_.-]{0,8}$/), tie('tree'), { maxKeys: 4 }),
    ),
  }))
  const style = fc.record({
    defaultStringType: fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'),
    indentSeq: fc.boolean(),
    collectionStyle: fc.constantFrom('any', 'block', 'flow'),
    lineWidth: fc.constantFrom(0, 80),
  })
  fc.assert(
    fc.property(
      fc.dictionary(fc.stringMatching(/^[a-z-]{1,8}$/), tree, { minKeys: 1, maxKeys: 5 }),
      style,
      (value, options) => {
        const yaml = stringify(value, options as ToStringOptions)
        fc.pre(yaml.isWellFormed() && !yaml.includes('\0'))
        isReadAlike(yaml)
      },
    ),
    { numRuns: 1_500 },
  )
})

const CORPUS = resolve(
  process.env['NEXUS_CORPUS'] ?? resolve(import.meta.dirname, '../../../shared/corpus'),
  'real-skills.jsonl.gz',
)
const skip = existsSync(CORPUS) ? false : `the corpus is not here: ${CORPUS}`

test('nine of ten real frontmatters are read by the scanner, all as the full parser reads them', { skip }, () => {
  const lines = gunzipSync(readFileSync(CORPUS)).toString('utf8').split('\n').filter(Boolean)
  let all = 0
  let quick = 0
  for (const line of lines) {
    const text = Buffer.from((JSON.parse(line) as { base64: string }).base64, 'base64').toString('utf8')
    const yaml = /^---[ \t]*\r?\n([^]*?\r?\n)---/.exec(text)?.[1]
    if (yaml === undefined) continue
    all++
    if (isReadAlike(yaml)) quick++
  }
  assert.ok(quick > all * 0.9, `${quick} of ${all}`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isMap, parseDocument, stringify, type ToStringOptions } from 'yaml'
import { readHead } from '../../src/skills/format/document.ts'
import type { Frontmatter, KeyPath } from '../../src/skills/format/front.ts'
import { readFrontmatter, readFast, readFully } from '../../src/skills/format/frontmatter.ts'
import { readYamlFast } from '../../src/yaml/index.ts'
import { createReport } from '../../src/skills/format/report.ts'
import type { JsonValue } from '../../src/kernel/index.ts'
import { change, changedText } from '../skills/format/changes.ts'
import { readCorpus, readFixtures, seedFor, skipWithoutCorpus, yamlIn } from '../skills/format/skills.ts'

/** Every key and entry, and next to each one that is not there. */
function pathsIn(value: JsonValue | undefined, path: KeyPath = []): KeyPath[] {
  if (typeof value !== 'object' || value === null) return [path, [...path, 'none']]
  const steps = Array.isArray(value) ? value.map((_: JsonValue, index) => index) : Object.keys(value)
  const below = steps.flatMap((step) => pathsIn((value as Record<string | number, JsonValue>)[step], [...path, step]))
  return [path, ...below, [...path, 'none'], [...path, 99]]
}

/** False when the fast reader declines a frontmatter; throws when anything is read otherwise than with the `yaml` library. */
function isReadAlike(yaml: string): boolean {
  if (readFast(yaml) === undefined) return false
  const shown = JSON.stringify(yaml)
  const [fast, full] = [createReport('p'), createReport('p')]
  const fronts: readonly (Frontmatter | undefined)[] = [readFrontmatter(yaml, 2, fast), readFully(yaml, 2, full)]
  const [front, expected] = fronts
  assert.ok(front, shown)
  assert.ok(expected, `accepted, but not readable YAML: ${shown}`)
  const head = readHead(front, 'd', fast)
  const expectedHead = readHead(expected, 'd', full)
  assert.deepEqual(head, expectedHead, shown)
  assert.equal(JSON.stringify(head), JSON.stringify(expectedHead), 'the order of the keys')
  assert.deepEqual(fast.diagnostics, full.diagnostics, shown)
  for (const [key = '', ...below] of pathsIn(expected.values).slice(1)) {
    const message = `${[key, ...below].join('.')} in ${shown}`
    assert.deepEqual(front.place(String(key), below), expected.place(String(key), below), message)
  }
  return true
}

const READ = {
  'plain values': 'name: a\ndescription: Use it when asked, or not; 50% (maybe) "so"\nlicense: MIT\n',
  'quotes and escapes': 'name: "a"\ndescription: "Use: \\"this\\" \\n # and"\nlicense: \'it\'\'s\'\n',
  'quoted values over several lines': 'name: a\ndescription: "b\n  c\n\n  d: e"\nlicense: \'f\n  g\'\n',
  'a plain value over several lines': 'name: a\ndescription: b\n  c\n\n  d\nlicense: MIT\n',
  'a folded block': 'name: a\ndescription: >-\n  one\n  two\n\n\n  three: "x" # no comment\nlicense: MIT\n',
  'a comment in place of an entry': 'a:\n  - b\n  - # {"c": d}\n  - e\n  - # f: g\n    h: i\n',
  'a folded block at the end': 'name: a\ndescription: >\n  one\n  two\n',
  'a literal block': 'description: |\n  one\n    two  \n\n  - three\nname: a\n',
  'a stripped literal block': 'description: |-\n    one\nname: a\n',
  'comments behind values': 'name: a # one\nx: [b, c] # two\ny: "d" # three\nmetadata: # four\n  e: f\n',
  'empty keys': 'name: a\nmetadata:\ndescription: b\nx:\n',
  'nested metadata':
    'name: a\nmetadata:\n  author: x\n  openclaw:\n    requires:\n      bins: [gh, "jq"]\n    always: true\n  last: 1\n',
  lists: 'allowed-tools:\n  - Read\n  - Bash(git:*)\ntags:\n- x\n- "y"\nname: a\n',
  'lists of mappings':
    'metadata:\n  nexus:\n    install:\n      - id: apt\n        kind: apt\n        bins: ["gh"]\n      - kind: brew\n',
  'JSON on one line': 'name: a\nmetadata: {"openclaw": {"emoji": "🧰", "requires": {"bins": ["gh"]}}}\n',
  'JSON over several lines':
    'name: a\nmetadata:\n  {\n    "openclaw":\n      {\n        "requires": { "bins": ["gh"] },\n      },\n  }\n',
  'brackets without quotes': 'x: [a b, c/d, https://e.f, G(h:*)]\ny: {i: j, k: [l], m: {n: 1.5}}\n',
  'quoted keys': '"name": a\nmetadata:\n  \'b\': c\n',
  'numbers and words as written': 'name: 007\ndescription: b\nversion: 1.10\nx: 1.5\ny: 12\nz: true\n',
  'versions and dates': 'version: 1.0.0\nx: 2024-01-01\ny: 3d\nname: a\n',
  'blanks at the ends of lines': 'name: a   \ndescription:   b  \nmetadata:   \n  x: y   \n\n',
  'other alphabets': 'name: größe\ndescription: "→ 你好 — 🙂"\n',
  'faults of fields':
    'name: Not Good\ndescription: ""\nallowed-tools: Bash(\narguments: {a: b}\nmetadata: text\nuser-invocable: maybe\n',
  'faults in metadata':
    'name: a\nmetadata:\n  size: "→"\n  nexus:\n    os: {"a": "b"}\n    requires:\n      bins: ["a b"]\n      env:\n        A: b\n    install:\n      - kind: brew\n        bins: {"x": "y"}\n      - id: x\n      - {"id": "y"}\n      - z\n',
  'comment lines':
    '# one\nname: a\n# two: x\nmetadata:\n# three\n  b: c\n  # four\n  d: |\n    e\n    # text\n# five\nf:\n  - g\n  # six\n  - h\n# last\n',
}

for (const [what, yaml] of Object.entries(READ)) {
  test(`the fast reader reads ${what} as the library does`, () => assert.equal(isReadAlike(yaml), true))
}

const DECLINED = {
  'a key that every object inherits': 'constructor: y\nname: a\n',
  'the key of the prototype': 'metadata: {__proto__: x}\nname: a\n',
  'a key given twice': 'a: 1\nb: 2\na: 3\n',
  'a key given twice in JSON': 'a: {"b": 1, "b": 2}\n',
  'a second colon': 'a: Use when: asked\n',
  'a comment behind a description': 'description: b # c\n',
  'a number that a program would print otherwise': 'x: 1.50\n',
  'a number of many digits': 'x: 12345678901234567890\n',
  'a hexadecimal number': 'x: 0x1F\n',
  'brackets that are meant as text': 'argument-hint: [a, b]\nname: a\n',
  'a text without a value': 'license:\nname: a\n',
  'a number as description': 'description: 12\n',
  'an anchor': 'a: &x b\n',
  'an alias': 'a: *x\n',
  'a tag': 'a: !!str b\n',
  'a merge key': '<<: b\n',
  'a tab': 'a:\tb\n',
  'a no-break space before a key': 'a: b\n\u00a0c: d\n',
  'a no-break space behind a value': 'a: b\u00a0\n',
  'a no-break space after a dash': 'a:\n  -\u00a0b\n',
  'a character that is not seen in a key': 'metadata: {"\u200bopenclaw": {}}\n',
  'a next-line character': 'a: b\u0085c\n',
  'a block with an indentation indicator': 'a: |2\n   b\n',
  'a block that keeps its line breaks': 'a: |+\n  b\n\n',
  'a literal block that begins with a blank line': 'a: |\n\n  b\n',
  'a folded block that begins with a blank line': 'a: >\n\n  b\n',
  'deeper lines in a folded block': 'a: >\n  b\n    c\n',
  'a line between two indentations': 'a:\n    b: c\n  d: e\n',
  'a directive': '%YAML 1.1\na: b\n',
  'a second document': 'a: b\n---\nc: d\n',
  'the end of a document': 'a: b\n...\n',
  'a lone CR': 'a: b\rc: d\n',
  'an escape that JSON lacks': 'a: "\\x41"\n',
  'an unclosed bracket': 'a: [b\n',
  'a comment between brackets': 'a: [b,\n  c, # d\n  e]\n',
  'text after a quote': 'a: "b" c\n',
  'an explicit key': '? a\n: b\n',
  'a comment line that is deeper than the value above': 'a: b\n  # c\n',
  'a list in a list': 'a:\n  - - b\n',
  'one value only': 'a\n',
  'a list only': '- a\n',
  'deep nesting': `${Array.from({ length: 40 }, (_, level) => `${' '.repeat(level)}a:\n`).join('')}`,
  'many keys': Array.from({ length: 1_001 }, (_, index) => `k${index}: v\n`).join(''),
  'a long text': `a: ${'word '.repeat(4_000)}\n`,
  nothing: '\n',
}

for (const [what, yaml] of Object.entries(DECLINED)) {
  test(`the fast reader leaves ${what} to the library`, () => assert.equal(readFast(yaml), undefined))
}

test('whatever the fast reader accepts, the library reads the same way: changed texts', (t) => {
  const real = readCorpus().flatMap(({ bytes }) => yamlIn(bytes.toString('utf8')) ?? [])
  const own = [...Object.values(READ), ...readFixtures().flatMap((text) => yamlIn(text) ?? [])]
  const texts =
    real.length === 0 ? fc.constantFrom(...own) : fc.oneof(fc.constantFrom(...own), fc.constantFrom(...real))
  let accepted = 0
  fc.assert(
    fc.property(texts, fc.array(change, { maxLength: 4 }), (text, changes) => {
      const yaml = changedText(text, changes)
      fc.pre(yaml.isWellFormed())
      if (isReadAlike(yaml)) accepted++
    }),
    { numRuns: 4_000, seed: seedFor(t) },
  )
  assert.ok(accepted > 500, `only ${accepted} texts were accepted`)
})

const leaf = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(...['yes', 'null', '1e3', '1.0', '007', 'two\nlines', 'a\n\nb\n', ' x ', 'a: b', 'a # b', "it's"]),
  fc.integer(),
  fc.boolean(),
  fc.double({ noNaN: true }),
  fc.constant(null),
)
const key = fc.stringMatching(/^[a-z][a-z_.-]{0,8}$/)
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
  ),
}))
const style = fc.record({
  defaultStringType: fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'),
  indent: fc.constantFrom(2, 3, 4),
  indentSeq: fc.boolean(),
  collectionStyle: fc.constantFrom('any', 'block', 'flow'),
  lineWidth: fc.constantFrom(0, 80),
})

test('whatever the fast reader accepts, the library reads the same way: generated mappings', (t) => {
  const mapping = fc.dictionary(key, tree, { minKeys: 1, maxKeys: 5 })
  fc.assert(
    fc.property(mapping, mapping, style, (top, metadata, options) => {
      const yaml = stringify({ ...top, metadata }, options as ToStringOptions)
      fc.pre(yaml.isWellFormed() && !yaml.includes('\0'))
      isReadAlike(yaml)
      // As nexus.yaml is read: numbers are numbers.
      const plain = readYamlFast(yaml)
      if (plain === undefined) return
      const document = parseDocument(yaml, { version: '1.2', schema: 'core' })
      assert.ok(isMap(document.contents))
      assert.equal(JSON.stringify(plain), JSON.stringify(document.toJS()), yaml)
    }),
    { numRuns: 1_000, seed: seedFor(t) },
  )
})

test('a text that ends without a line end is read as the library reads it', () => {
  for (const yaml of ['a: b', 'a: |\n  b', 'a: >-\n  b\n  c', 'a:\n  - b', 'a: "b"', 'a:'])
    assert.equal(isReadAlike(yaml), true, yaml)
})

test('nearly all real frontmatters are read fast, each as the library reads it', { skip: skipWithoutCorpus }, () => {
  const texts = readCorpus().flatMap(({ bytes }) => yamlIn(bytes.toString('utf8')) ?? [])
  const accepted = texts.filter(isReadAlike).length
  assert.ok(accepted > texts.length * 0.97, `${accepted} of ${texts.length}`)
})

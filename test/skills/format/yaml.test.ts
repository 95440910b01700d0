import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSkill } from '../../../src/skills/format/index.ts'

const HEAD = 'name: a\ndescription: b\n'

function parse(yaml: string) {
  return parseSkill(`---\n${yaml.endsWith('\n') ? yaml : `${yaml}\n`}---\nbody\n`, { path: 'p' })
}

function codes(yaml: string): string[] {
  return parse(yaml).diagnostics.map(({ code }) => code)
}

const REFUSED: Readonly<Record<string, readonly [yaml: string, code: string]>> = {
  'an anchor': ['metadata: &m\n  x: 1', 'yaml-anchor'],
  'an alias': ['metadata:\n  x: *m', 'yaml-alias'],
  'a tag on a mapping': ['metadata: !thing\n  x: 1', 'yaml-tag'],
  'a merge key': ['metadata:\n  <<: {a: 1}', 'yaml-merge-key'],
  'a second document': ['--- x', 'yaml-multiple-documents'],
  'a key given twice below': ['metadata:\n  x: 1\n  x: 2', 'yaml-duplicate-key'],
  'a list as a key': ['? [a, b]\n: c', 'yaml-key-not-text'],
  'an unclosed list': ['tags: [a, b', 'yaml-invalid'],
  'a tab as indentation': ['metadata:\n\tx: 1', 'yaml-invalid'],
}

for (const [what, [yaml, code]] of Object.entries(REFUSED)) {
  test(`${what} is refused with a code, a line and a fix`, () => {
    const { document, diagnostics } = parse(HEAD + yaml)
    assert.equal(document, undefined)
    const error = diagnostics.find(({ severity }) => severity === 'error')
    assert.equal(error?.code, code)
    assert.ok((error?.line ?? 0) >= 4)
    assert.ok(error?.fix)
  })
}

test('a directive is refused: it would turn no into false', () => {
  const { document, diagnostics } = parseSkill('---\n%YAML 1.1\n---\nname: a\ndescription: no\n---\n', { path: 'p' })
  assert.equal(document, undefined)
  assert.deepEqual([diagnostics[0]?.code, diagnostics[0]?.line], ['yaml-directive', 2])
})

test('tags of the core schema are read, with a warning', () => {
  const { document, diagnostics } = parse('name: !!str 007\ndescription: b')
  assert.equal(document?.name, '007')
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['yaml-core-tag'],
  )
})

/** Text after `HEAD`, and where a blank stands that YAML takes for a letter. */
const ODD_BLANKS: Readonly<Record<string, readonly [yaml: string, line: number, column: number]>> = {
  'below a key': ['metadata:\n\u00a0\u00a0openclaw: x', 5, 1],
  'before a top-level key': ['\u00a0license: MIT', 4, 1],
  'after common spaces': ['metadata:\n  nexus:\n  \u00a0\u00a0always: true', 6, 3],
  'among spaces': ['metadata:\n  nexus:\n\u00a0   always: true', 6, 1],
  ideographic: ['metadata:\n\u3000a: b', 5, 1],
  'of no width': ['metadata:\n  \u200ba: b', 5, 3],
  'in flow style': ['metadata: {\u00a0a: b}', 4, 12],
}

for (const [what, [yaml, line, column]] of Object.entries(ODD_BLANKS)) {
  test(`a blank that is no space where indentation is meant is reported: ${what}`, () => {
    const { document, diagnostics } = parse(HEAD + yaml)
    assert.ok(document, 'it loads: to YAML it is a letter')
    const [found, ...more] = diagnostics
    assert.deepEqual([found?.code, found?.severity, found?.line, found?.column], ['odd-space', 'warning', line, column])
    assert.match(`${found?.message} ${found?.fix}`, /U\+(?:00A0|3000|200B)[ ,].*common space/)
    assert.deepEqual(more, [])
  })
}

test('a description that such a blank hides is told with the blank', () => {
  const { document, diagnostics } = parse('name: a\n\u00a0description: b')
  assert.equal(document?.description, undefined)
  assert.deepEqual(
    diagnostics.map(({ code, line }) => [code, line]),
    [
      ['odd-space', 3],
      ['description-missing', 1],
    ],
  )
})

test('such a blank is nothing to report inside a text, in quotes, or in words', () => {
  for (const yaml of [
    'license: a\u00a0b',
    'license: "\u00a0b"',
    'license: \u00a0b',
    'metadata:\n  "\u00a0a": b',
    'compatibility: |\n  a\n  \u00a0 b',
    'metadata:\n  a\u00a0b: c',
  ])
    assert.deepEqual(codes(HEAD + yaml), [], JSON.stringify(yaml))
})

const REPAIRED: Readonly<Record<string, readonly [value: string, text: string]>> = {
  'an unquoted colon': ['Use when: asked', 'Use when: asked'],
  'a colon at the end': ['Use when:', 'Use when:'],
  'an at sign': ['@mention people', '@mention people'],
  'a back quote': ['`cmd` runs', '`cmd` runs'],
  'a per cent sign': ['%d numbers', '%d numbers'],
  'an asterisk': ['*Bold* words', '*Bold* words'],
  'an exclamation mark': ['!important words', '!important words'],
  'an ampersand': ['&more words', '&more words'],
  'brackets at the start': ['[beta] does it', '[beta] does it'],
  'braces at the start': ['{x} does it', '{x} does it'],
  'a quoted word at the start': ['"Quoted" then not', '"Quoted" then not'],
  'a single quoted word at the start': ["'Quoted' then not", "'Quoted' then not"],
  'typographic quotes': ['“Fancy: quoted” text', '“Fancy: quoted” text'],
  'a quote that is never closed': ['"never closed', '"never closed'],
  'an arrow': ['> looks like a block', '> looks like a block'],
  'a dash': ['- one thing', '- one thing'],
  'a hash behind a colon': ['Use when: issue #12 # asked', 'Use when: issue #12 # asked'],
}

for (const [what, [value, text]] of Object.entries(REPAIRED)) {
  test(`${what} in a description is read as the text that stands there`, () => {
    const { document, diagnostics } = parse(`name: a\ndescription: ${value}\nlicense: MIT`)
    assert.equal(document?.description, text)
    assert.equal(document?.license, 'MIT')
    const [first, ...others] = diagnostics
    assert.deepEqual([first?.code, first?.line, others.length], ['yaml-repaired', 3, 0])
    const written = (first?.fix ?? '').replace('Write: ', '')
    assert.deepEqual(parse(`name: a\n${written}`).diagnostics, [])
    assert.equal(parse(`name: a\n${written}`).document?.description, text)
  })
}

test('a repaired value over several lines is folded like a plain one', () => {
  const { document } = parse('name: a\ndescription: Use when: one,\n  two or\n\n  it is three\n# comment\nlicense: MIT')
  assert.equal(document?.description, 'Use when: one, two or\nit is three')
  assert.equal(document?.license, 'MIT')
})

test('a value below the top level that is not YAML is an error with its line', () => {
  for (const yaml of ['metadata:\n  note: Use when: asked', 'triggers:\n- "a" b', 'triggers:\n- x: y: z']) {
    const { document, diagnostics } = parse(HEAD + yaml)
    assert.equal(document, undefined)
    assert.deepEqual(
      diagnostics.map(({ code, line }) => `${code} ${line}`),
      ['yaml-invalid 5'],
    )
  }
})

test('a fault that quotes cannot mend stays an error, beside what was mended', () => {
  assert.deepEqual(codes('name: @a\ndescription: b\nmetadata:\n  self: *m'), ['yaml-repaired', 'yaml-alias'])
})

test('text after a hash in a plain description is reported as dropped', () => {
  const { document, diagnostics } = parse('name: a\ndescription: Handles C# and issue #12 too')
  assert.equal(document?.description, 'Handles C# and issue')
  assert.equal(diagnostics[0]?.code, 'comment-in-value')
})

test('frontmatter of one JSON object loads, with a warning', () => {
  assert.equal(parse('{"name":"a","description":"b"}').document?.description, 'b')
  assert.deepEqual(codes('{"name":"a","description":"b"}'), ['frontmatter-json'])
})

test('numbers that would be written otherwise stay text', () => {
  const { document } = parse(`${HEAD}a: .inf\nb: .nan\nc: 12345678901234567890\nd: 1.5\ne: 1e3`)
  assert.deepEqual(JSON.parse(JSON.stringify(document?.frontmatter)), {
    name: 'a',
    description: 'b',
    a: '.inf',
    b: '.nan',
    c: '12345678901234567890',
    d: 1.5,
    e: '1e3',
  })
})

const COMPLEX: Readonly<Record<string, string>> = {
  'thousands of keys': Array.from({ length: 3_000 }, (_, index) => `k${index}: v\n`).join(''),
  'deep brackets': `x: ${'['.repeat(5_000)}`,
  'deep lists': `x:\n  ${'- '.repeat(5_000)}a`,
  'deep mappings': Array.from({ length: 200 }, (_, index) => `${' '.repeat(index)}a:\n`).join(''),
  'closing braces': '}'.repeat(60_000),
  'backslashes in quotes': `x: "${'\\q'.repeat(20_000)}"`,
  'quotes without end': '"'.repeat(60_000),
}

for (const [what, yaml] of Object.entries(COMPLEX)) {
  test(`${what} are refused as too complex or invalid, not worked through`, () => {
    const { document, diagnostics } = parse(HEAD + yaml)
    assert.equal(document, undefined)
    assert.ok(diagnostics.length <= 20)
    assert.ok(diagnostics.some(({ code }) => code === 'yaml-too-complex' || code === 'yaml-invalid'))
  })
}

test('sixty thousand keys end at the size limit of the frontmatter', () => {
  const keys = Array.from({ length: 60_000 }, (_, index) => `k${index}: v\n`).join('')
  assert.deepEqual(codes(HEAD + keys), ['file-large', 'frontmatter-too-large'])
})

test('brackets that do not match are one error, and nothing of them is read', () => {
  for (const value of [
    '{"openclaw":{"requires":{"bins":["cat"}}}}',
    '{"openclaw":{"requires":{"bins":["cat"}]}}',
    '{"openclaw":{"requires":{"bins":"cat"]}}}',
    '{openclaw: {requires: {bins: [cat}}}}',
  ]) {
    const { document, diagnostics } = parse(`${HEAD}metadata: ${value}`)
    assert.equal(document, undefined)
    assert.deepEqual(
      diagnostics.map(({ code, line }) => [code, line]),
      [['yaml-invalid', 4]],
      value,
    )
  }
})

test('brackets that do not match in JSON that is a text are a finding, too', () => {
  const { diagnostics } = parse(`${HEAD}metadata: '{"openclaw":{"requires":{"bins":["cat"}}}}'`)
  const [found] = diagnostics
  assert.equal(found?.code, 'metadata-not-mapping')
  assert.match(`${found.message} ${found.fix}`, /is not valid JSON.*Correct the JSON/)
})

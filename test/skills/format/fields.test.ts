import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameBreaches, parseSkill, splitToolList } from '../../../src/skills/format/index.ts'

function parse(yaml: string, directoryName?: string) {
  return parseSkill(`---\n${yaml}\n---\n`, { path: 'p', ...(directoryName === undefined ? {} : { directoryName }) })
}

const WITH = (yaml: string): string => `name: a\ndescription: b\n${yaml}`

function codes(yaml: string, directoryName?: string): string[] {
  return parse(yaml, directoryName).diagnostics.map(({ code }) => code)
}

test('names that YAML takes for numbers, booleans or null are read as written', () => {
  for (const name of ['007', '1e3', 'true', 'null', 'yes', '2026-01-01']) {
    assert.equal(parse(`name: ${name}\ndescription: b`).document?.name, name)
    assert.deepEqual(codes(`name: ${name}\ndescription: b`, name), [])
  }
})

test('a missing name is undefined, with the name of the directory as the fix', () => {
  const { document, diagnostics } = parse('description: b', 'My Skill')
  assert.equal(document?.name, undefined)
  assert.deepEqual(
    [diagnostics[0]?.code, diagnostics[0]?.fix],
    ['name-missing', 'Add a line below the opening ---: name: my-skill'],
  )
})

test('a list is no name and no description; the document stays, for the gate to hold', () => {
  const { document } = parse('name: [a]\ndescription: {b: c}')
  assert.deepEqual([document?.name, document?.description], [undefined, undefined])
  assert.deepEqual(codes('name: [a]\ndescription: {b: c}'), ['name-not-text', 'description-missing'])
})

test('breaches of the naming rule are warnings with a name that would keep it', () => {
  const { document, diagnostics } = parse('name: ../../Étc/pass wd\ndescription: b')
  assert.equal(document?.name, '../../Étc/pass wd')
  assert.deepEqual([diagnostics[0]?.code, diagnostics[0]?.fix], ['name-invalid', 'Write: name: etc-pass-wd'])
})

test('the naming rule is the published one: Unicode, lower case, single inner hyphens, 64 code points', () => {
  for (const name of ['a', 'a-b', '007', 'café', 'имя', '٣', '\u{10400}'.toLowerCase().repeat(64)]) {
    assert.deepEqual(nameBreaches(name), [], name)
  }
  for (const name of [
    'A',
    '-a',
    'a-',
    'a--b',
    'a_b',
    'a b',
    'a.b',
    'a:b',
    '..',
    '$(id)',
    'x'.repeat(65),
    'a\nb',
    '\u202ea',
  ]) {
    assert.notDeepEqual(nameBreaches(name), [], name)
  }
})

test('the directory is compared after NFKC, and the name counts', () => {
  assert.deepEqual(codes('name: cafe\u0301\ndescription: b', 'café'), [])
  assert.deepEqual(codes('name: a\ndescription: b', 'other'), ['name-differs'])
})

test('no description, a blank one and null are missing; a number is read as written', () => {
  for (const value of ['', ' ~', ' null', ' ""', ' "  "', ' |']) {
    const { document, diagnostics } = parse(`name: a\ndescription:${value}`)
    assert.equal(document?.description, undefined)
    assert.deepEqual([diagnostics[0]?.code, diagnostics[0]?.severity], ['description-missing', 'warning'])
  }
  assert.equal(parse('name: a\ndescription: 1.10').document?.description, '1.10')
})

test('a key that looks like description is reported as a typo of it', () => {
  for (const key of ['desription', 'Description', 'descripton', 'decsription']) {
    const [typo, missing] = parse(`name: a\n${key}: b`).diagnostics
    assert.deepEqual([typo?.code, missing?.code], ['key-similar', 'description-missing'])
    assert.match(typo?.message ?? '', new RegExp(`"${key}".*close to description`))
  }
})

test('lengths are counted in code points', () => {
  assert.deepEqual(codes(`name: a\ndescription: ${'🙂'.repeat(1024)}`), [])
  assert.deepEqual(codes(`name: a\ndescription: ${'x'.repeat(1025)}`), ['description-long'])
  assert.deepEqual(codes(WITH(`compatibility: ${'x'.repeat(501)}`)), ['compatibility-long'])
})

test('hidden characters in a description are a warning, emoji are not', () => {
  for (const text of ['"\\e[31mred"', 'a\u200bb', 'a\u202eb', '"a\\u2066b"', 'tag\u{e0041}', '"a\\0b"']) {
    assert.deepEqual(codes(`name: a\ndescription: ${text}`), ['hidden-characters'], text)
  }
  for (const text of ['👩‍👩‍👧 family', '⚠️ care', '1️⃣ first', 'cafe\u0301', '"two\\nlines"']) {
    assert.deepEqual(codes(`name: a\ndescription: ${text}`), [], text)
  }
})

test('a text field with a list is ignored with a warning, and kept in the frontmatter', () => {
  const { document, diagnostics } = parse(WITH('license: [MIT]\ncompatibility: 3'))
  assert.equal(document?.license, undefined)
  assert.equal(document?.compatibility, '3')
  assert.deepEqual(document?.frontmatter['license'], ['MIT'])
  assert.equal(diagnostics[0]?.code, 'field-type')
})

test('booleans are read as people write them', () => {
  for (const [value, expected] of [
    ['true', true],
    ['"true"', true],
    ['yes', true],
    ['On', true],
    ['1', true],
    ['no', false],
    ['"0"', false],
    ['off', false],
  ] as const) {
    const { document } = parse(WITH(`disable-model-invocation: ${value}\nuser-invocable: ${value}`))
    assert.deepEqual(document?.invocation, { model: !expected, user: expected }, value)
  }
  assert.deepEqual(parse(WITH('user_invocable: no')).document?.invocation, { model: true, user: false })
  assert.deepEqual(codes(WITH('user_invocable: no')), ['key-spelling'])
  assert.deepEqual(codes(WITH('user-invocable: perhaps')), ['field-type'])
})

const TOOLS = ['Bash(git add:*)', 'Read', 'Write']

test('allowed-tools reads the same in every form', () => {
  for (const value of [
    'Bash(git add:*) Read Write',
    'Bash(git add:*), Read, Write',
    'Bash (git add:*),Read  ,Write, Read',
    '[Bash(git add:*), Read, Write]',
    '\n  - Bash(git add:*)\n  - Read\n  - Write',
    '"Bash(git add:*)\\n  Read\\n  Write"',
  ]) {
    assert.deepEqual(parse(WITH(`allowed-tools: ${value}`)).document?.allowedTools, TOOLS, value)
  }
})

test('commas and blanks inside parentheses belong to the tool, nested ones too', () => {
  assert.deepEqual(splitToolList('Bash(a, b (c d)) Read(/x/**)'), {
    tools: ['Bash(a, b (c d))', 'Read(/x/**)'],
    balanced: true,
  })
  assert.deepEqual(splitToolList(') Read'), { tools: [')', 'Read'], balanced: true })
  assert.deepEqual(splitToolList(' , '), { tools: [], balanced: true })
  assert.deepEqual(codes(WITH('allowed-tools: Bash(git Read')), ['tools-unbalanced'])
  assert.deepEqual(codes(WITH('allowed-tools: [1, Read]')), ['field-type'])
})

test('arguments are names, from a list, a text, or mappings with a name', () => {
  for (const value of [
    '[issue, branch]',
    'issue branch',
    'issue, branch',
    '\n  - name: issue\n    required: true\n  - branch',
  ]) {
    assert.deepEqual(parse(WITH(`arguments: ${value}`)).document?.arguments, ['issue', 'branch'], value)
  }
  assert.deepEqual(codes(WITH('arguments: 3')), ['field-type'])
})

test('argument-hint in brackets is a hint, not a list', () => {
  const { document, diagnostics } = parse(WITH('argument-hint: [issue-number]'))
  assert.equal(document?.frontmatter['argument-hint'], '[issue-number]')
  assert.deepEqual(diagnostics, [])
})

test('the fix of a name that a directory shares renames both', () => {
  const [found] = parse('name: Caps\ndescription: b', 'Caps').diagnostics
  assert.deepEqual([found?.code, found?.fix], ['name-invalid', 'Write: name: caps, and rename the directory to caps'])
})

test('a word for every system is reported with what to do instead', () => {
  const [found] = parse(WITH('metadata: {os: all}')).diagnostics
  assert.deepEqual(
    [found?.code, found?.message],
    [
      'metadata-field',
      'Nexus cannot read metadata.os. It must be a list of linux, darwin and windows, or absent for every system.',
    ],
  )
})

test('a repaired value comes with the cause', () => {
  const reason = (description: string): string | undefined =>
    parse(`name: a\ndescription: ${description}`).diagnostics[0]?.message.replace(/^.*plain text\. /, '')
  for (const value of ["'Don't do it.'", '[WIP] it', '@somebody does it'])
    assert.equal(reason(value), 'The value contains a sign that is syntax in YAML at its place.')
  assert.equal(reason('Use when: asked'), 'A value without quotes contains ": ".')
})

test('a comma that is missing is one error about what is between the brackets', () => {
  for (const metadata of [
    '{"nexus": {"requires": {"bins": ["sh"]} "os": ["linux"]}}',
    '{a: [sh] b: c}',
    '{"a": "x" "b": 1}',
    "['x' 'y']",
  ]) {
    const found = parse(WITH(`metadata: ${metadata}`)).diagnostics
    assert.deepEqual(
      found.map(({ code, line }) => [code, line]),
      [['yaml-invalid', 4]],
    )
  }
})

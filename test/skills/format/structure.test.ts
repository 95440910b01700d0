import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORMAT_LIMITS, parseSkill } from '../../../src/skills/format/index.ts'

const SKILL = '---\nname: a\ndescription: b\n---\nbody\n'

function codes(input: string | Uint8Array): string[] {
  return parseSkill(input, { path: 'SKILL.md' }).diagnostics.map(({ code }) => code)
}

test('an ordinary skill loads without a word', () => {
  const { document, diagnostics } = parseSkill(SKILL, { path: 'SKILL.md', directoryName: 'a' })
  assert.deepEqual(diagnostics, [])
  assert.equal(document?.body, 'body\n')
})

test('the same text as bytes and as a string reads the same', () => {
  const text = '\uFEFF---\r\nname: Ünïcode\r\ndescription: "a: b"\r\n---\r\nbody'
  const options = { path: 'SKILL.md', directoryName: 'x' }
  assert.deepEqual(parseSkill(text, options), parseSkill(new TextEncoder().encode(text), options))
})

test('a file that ends directly after the closing line loads', () => {
  assert.equal(parseSkill('---\nname: a\ndescription: b\n---', { path: 'p' }).document?.body, '')
})

test('lone CR ends lines, with a warning', () => {
  const { document, diagnostics } = parseSkill(SKILL.replaceAll('\n', '\r'), { path: 'p' })
  assert.equal(document?.description, 'b')
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['line-ends-cr'],
  )
})

test('blanks after the dashes are no text, and dashes inside a value are no delimiter', () => {
  const { document, diagnostics } = parseSkill('--- \t\nname: a\ndescription: x --- y\n---  \nb\n---\nc', { path: 'p' })
  assert.deepEqual(diagnostics, [])
  assert.equal(document?.description, 'x --- y')
  assert.equal(document?.body, 'b\n---\nc')
})

test('blank lines before the frontmatter are a warning, and lines are still counted from the top', () => {
  const { diagnostics } = parseSkill('\n \n---\nname: A\ndescription: b\n---\n', { path: 'p' })
  assert.deepEqual(
    diagnostics.map(({ code, line }) => [code, line]),
    [
      ['leading-blank-lines', 1],
      ['name-invalid', 4],
    ],
  )
})

const WITHOUT_FRONTMATTER: Readonly<Record<string, readonly [text: string, message: RegExp, fix: RegExp]>> = {
  'an empty file': ['', /is empty/, /four lines/],
  'blank lines only': ['\n\n  \n', /is empty/, /four lines/],
  'plain Markdown': ['# Title\n', /begins with "# Title"/, /four lines/],
  'four dashes': ['----\nname: a\n----\n', /begins with "----"/, /three hyphens/],
  'an indented opener': ['  ---\nname: a\n---\n', /begins with " {2}---"/, /three hyphens.*on that line/],
  TOML: ['+++\nname = "a"\n+++\n', /begins with "\+\+\+"/, /four lines/],
  'an engine after the dashes': ['---js\n{}\n---\n', /begins with "---js"/, /three hyphens/],
  'a comment after the dashes': ['--- # x\nname: a\n---\n', /begins with "--- # x"/, /three hyphens/],
  'a code fence before it': ['```\n---\nname: a\n---\n```\n', /begins with "```"/, /Remove line 1, so that/],
  'a heading before it': ['# a\n\n---\nname: a\n---\n', /begins with "# a"/, /Move lines 1 to 2 below the closing ---/],
  'an HTML comment': [
    '<!-- x -->\n\n---\nname: a\n---\n',
    /begins with "<!-- x -->"/,
    /Remove lines 1 to 2, so that --- is the first line/,
  ],
  'a comment of one line': ['<!-- x -->\n---\nname: a\n---\n', /begins with "<!-- x -->"/, /Remove line 1, so that/],
  'two dashes that are none': ['—--\nname: a\n—--\n', /begins with "—--"/, /three hyphens.*the closing one/],
  'bare keys': ['name: a\ndescription: b\n', /begins with "name: a"/, /Make --- the first line/],
  'a JSON object': ['{"name":"a"}\n', /begins with "{\\"name\\"/, /four lines/],
}

for (const [what, [text, message, fix]] of Object.entries(WITHOUT_FRONTMATTER)) {
  test(`${what} is no frontmatter: the message shows what is there, the fix what to write`, () => {
    const { document, diagnostics } = parseSkill(text, { path: 'p' })
    assert.equal(document, undefined)
    assert.equal(diagnostics[0]?.code, 'frontmatter-missing')
    assert.match(diagnostics[0]?.message ?? '', message)
    assert.match(diagnostics[0]?.fix ?? '', fix)
  })
}

test('an unterminated frontmatter names the line that was meant to close it', () => {
  const { diagnostics } = parseSkill('---\nname: a\n ---\nbody\n', { path: 'p' })
  assert.equal(diagnostics[0]?.code, 'frontmatter-unterminated')
  assert.match(diagnostics[0]?.fix ?? '', /line 3/)
})

test('an empty frontmatter has neither name nor description, and the gate may hold it', () => {
  for (const text of ['---\n---\n', '---\n\n---\nbody\n', '---\n# only a comment\n---\n']) {
    const { document } = parseSkill(text, { path: 'p' })
    assert.equal(document?.name, undefined)
    assert.equal(document?.description, undefined)
    assert.deepEqual(codes(text), ['name-missing', 'description-missing'])
  }
})

test('a list and a single value are not keys with values', () => {
  for (const yaml of ['- a\n- b\n', 'just words\n', '42\n']) {
    assert.deepEqual(codes(`---\n${yaml}---\n`), ['frontmatter-not-mapping'])
  }
})

test('UTF-16 is named, with and without a byte order mark', () => {
  assert.deepEqual(codes(Buffer.from(`\uFEFF${SKILL}`, 'utf16le')), ['encoding-utf16'])
  const without = parseSkill(Buffer.from(SKILL, 'utf16le'), { path: 'p' }).diagnostics[0]
  assert.equal(without?.code, 'nul-character')
  assert.match(without?.message ?? '', /UTF-16/)
})

test('a NUL character is refused with its place', () => {
  const { document, diagnostics } = parseSkill(SKILL.replace('body', 'bo\0dy'), { path: 'p' })
  assert.equal(document, undefined)
  assert.deepEqual([diagnostics[0]?.code, diagnostics[0]?.line, diagnostics[0]?.column], ['nul-character', 5, 3])
})

test('broken UTF-8 in the body is a warning with the place of the first bad byte', () => {
  const bytes = Buffer.concat([Buffer.from(`${SKILL}a€`), Buffer.from([0xe2, 0x82]), Buffer.from('x')])
  const { document, diagnostics } = parseSkill(bytes, { path: 'p' })
  assert.equal(document?.body, 'body\na€\ufffdx')
  assert.deepEqual([diagnostics[0]?.code, diagnostics[0]?.line, diagnostics[0]?.column], ['encoding-invalid', 6, 3])
})

test('half a surrogate pair in a string is replaced and reported', () => {
  const { document, diagnostics } = parseSkill(`${SKILL}\ud800`, { path: 'p' })
  assert.ok(document?.body.isWellFormed())
  assert.equal(diagnostics[0]?.code, 'encoding-invalid')
})

test('a file above its limit is not read, and a large one loads with a warning', () => {
  const tooLarge = parseSkill(`${SKILL}${'x'.repeat(FORMAT_LIMITS.maxFileBytes)}`, { path: 'p' })
  assert.equal(tooLarge.document, undefined)
  assert.match(tooLarge.diagnostics[0]?.message ?? '', /1048612 bytes, and the limit is 1048576/)
  assert.deepEqual(codes(`${SKILL}${'x'.repeat(FORMAT_LIMITS.largeFileBytes)}`), ['file-large'])
  assert.deepEqual(
    parseSkill(SKILL, { path: 'p', maxBytes: 10 }).diagnostics.map(({ code }) => code),
    ['file-too-large'],
  )
})

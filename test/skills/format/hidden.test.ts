import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fixSkill, parseSkill } from '../../../src/skills/format/index.ts'
import { seedFor } from './skills.ts'

const REST = 'name: a\ndescription: b\n---\nBody\u200b with one.\n'
const PLAIN = `---\n${REST}`

/** What nobody sees, and its name. */
const HIDDEN: Readonly<Record<string, readonly [text: string, name: string]>> = {
  'a space of no width before it': [`\u200b${PLAIN}`, 'U+200B'],
  'a second byte order mark': [`\ufeff\ufeff${PLAIN}`, 'U+FEFF'],
  'a joiner behind it': [`---\u2060\n${REST}`, 'U+2060'],
  'a no-break space behind it': [`---\u00a0\n${REST}`, 'U+00A0'],
  'a direction mark among the dashes': [`-\u200e--\n${REST}`, 'U+200E'],
  'a control character': [`\u0008${PLAIN}`, 'U+0008'],
  'two kinds': [`\u200b\u00ad${PLAIN}`, 'U+200B and U+00AD'],
  'lines that end in CRLF': [`\u200b${PLAIN}`.replaceAll('\n', '\r\n'), 'U+200B'],
}

for (const [what, [text, name]] of Object.entries(HIDDEN)) {
  test(`what hides the opening line is named, with the line to write: ${what}`, () => {
    const { document, diagnostics } = parseSkill(text, { path: 'p' })
    assert.equal(document, undefined)
    const error = diagnostics.find(({ severity }) => severity === 'error')
    assert.deepEqual([error?.code, error?.line], ['frontmatter-missing', 1])
    assert.ok(error?.message.includes(`(with the invisible ${name})`), error?.message)
    assert.match(error?.fix ?? '', /^Write exactly --- .*nothing that is invisible/)
    assert.deepEqual(fixSkill(text, { path: 'p' }).changes, [])
  })
}

test('a closing line with a character that is not seen is named', () => {
  const [found] = parseSkill('---\nname: a\ndescription: b\n---\u200b\nBody\n', { path: 'p' }).diagnostics
  assert.equal(found?.code, 'frontmatter-unterminated')
  assert.match(found?.fix ?? '', /^Write exactly --- on line 4/)
})

test('text before the opening line is no hidden character', () => {
  for (const text of [
    `\u200bHello\n${PLAIN}`,
    '\u200b',
    '\u200b---',
    '\u200b\n'.repeat(100_000) + PLAIN,
    `\u200b\n${'x\n'.repeat(3)}`,
    '---\u200bjs\nname: a\n---\n',
  ])
    assert.deepEqual(fixSkill(text, { path: 'p' }).changes, [], JSON.stringify(text))
})

test('a fix leaves hidden characters elsewhere, and is done after one time', (t) => {
  const hidden = fc.constantFrom(
    '',
    '\u200b',
    '\ufeff',
    '\u00a0',
    '\u2028',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\u0000',
    'x',
    '-',
  )
  const some = fc.array(hidden, { maxLength: 4 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.tuple(some, some, some, some), fc.boolean(), ([before, opener, closer, body], encoding) => {
      const text = `${before}---${opener}\nname: a\ndescription: b\n---${closer}\n${body}`
      const { text: once, changes } = fixSkill(text, { path: 'p', encoding })
      assert.equal(fixSkill(once, { path: 'p', encoding }).text, once)
      assert.equal(changes.length === 0, once === text)
      const plain = encoding && !text.includes('\0') ? text.replace(/^\ufeff+/, '').replace(/\r(?!\n)/g, '\n') : text
      if (once !== plain) assert.ok(parseSkill(once, { path: 'p' }).document)
      if (!encoding) assert.ok(once.endsWith(body))
    }),
    { numRuns: 2_000, seed: seedFor(t) },
  )
})

test('a hidden character before the key of the name is removed, and no second name is written', () => {
  const text = '---\n\u200bname: a\ndescription: b\n---\n'
  assert.equal(fixSkill(text, { path: 'p', directoryName: 'a' }).text, '---\nname: a\ndescription: b\n---\n')
})

for (const [yaml, place] of [
  ['metadata:\n  requ\u200bires:\n    bins: [zz]', '5:7'],
  ['metadata:\n  open\u200bclaw:\n    requires: {bins: [zz]}', '5:7'],
  ['requ\u200bires:\n  bins: [zz]', '4:5'],
  ['metadata: {"\u200brequires": {"bins": ["zz"]}}', '4:13'],
] as const) {
  test(`a hidden character in a key that gates is named with its place: ${JSON.stringify(yaml)}`, () => {
    const { diagnostics } = parseSkill(`---\nname: a\ndescription: b\n${yaml}\n---\n`, { path: 'p' })
    const found = diagnostics.find(({ code }) => code === 'odd-space')
    assert.match(found?.message ?? '', /^The key "(?:requires|openclaw)" contains U\+200B/)
    assert.equal(`${found?.line}:${found?.column}`, place)
  })
}

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { parseSkill } from '../../src/format/index.ts'
import { nameKey } from '../../src/kernel/index.ts'
import { saysOtherName } from '../../src/sources/probe.ts'

const HEAD_BYTES = 4_096
const CORPUS = resolve(process.env['NEXUS_CORPUS'] ?? resolve(import.meta.dirname, '../../../shared/corpus'))
const skip = existsSync(join(CORPUS, 'real-skills.jsonl.gz')) ? false : `the corpus is not here: ${CORPUS}`

/** As the search sees a file: its beginning. */
function isSetAside(name: string, file: Uint8Array): boolean {
  const bytes = Buffer.alloc(HEAD_BYTES + 1)
  return saysOtherName(name, bytes, { start: 0, end: Buffer.from(file).copy(bytes, 0, 0, HEAD_BYTES) })
}

function nameIn(file: Uint8Array): string | undefined {
  return parseSkill(file, { path: 'SKILL.md' }).document?.name
}

/** Ways to say `pdf`, and what is near them. */
const SAID = [
  'pdf',
  '"pdf"',
  "'pdf'",
  '"p\\x64f"',
  '"p\\\n  df"',
  '|\n  pdf',
  '>-\n  pdf',
  '!!str pdf',
  '&n pdf',
  '*n',
  'ｐｄｆ',
  'p\u00addf',
]
const NEAR = ['pdf-tools', 'other', '"other"', 'other # pdf', '', '~', '[pdf]', '{pdf: x}', 'PDF', '1e3', 'p df']
const KEYS = ['name', '"name"', "'name'", '? name\n', '"n\\x61me"', '*k ', 'Name', 'title', '<<', '  name', 'nаme']
const LINES = [
  'description: Does a thing. Use when asked.',
  'x: &n pdf',
  'y: &k name',
  'z: &k name',
  'license: “MIT” — or so',
  '# name: pdf',
  'description: What? A *thing*: yes',
  '---',
  '...',
  '\u00a0',
  '  more',
]

const line = fc.oneof(
  fc.constantFrom(...LINES),
  fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...SAID, ...NEAR)).map(([key, value]) => `${key}: ${value}`),
)
const file = fc
  .record({
    open: fc.constantFrom('---', '---', '---', '--- ', '\n---', '\ufeff---'),
    lines: fc.array(line, { minLength: 1, maxLength: 5 }),
    end: fc.constantFrom('\n', '\n', '\r\n', '\r'),
    close: fc.constantFrom('---\n', '---\n', '---', '--- x\n---\n', '...\n'),
    body: fc.constantFrom('', 'Body.\n', 'name: pdf\n---\n'),
  })
  .map(({ open, lines, end, close, body }) =>
    Buffer.from([open, ...lines, close].join('\n').replaceAll('\n', end) + body),
  )

test('a file is never set aside for a name that it says, in whatever form', () => {
  let aside = 0
  fc.assert(
    fc.property(file, (bytes) => {
      if (!isSetAside('pdf', bytes)) return
      aside++
      const name = nameIn(bytes)
      assert.ok(name === undefined || nameKey(name) !== 'pdf', bytes.toString())
    }),
    { numRuns: Number(process.env['NEXUS_RUNS'] ?? 6_000) },
  )
  // About 200 of the generated files are.
  assert.ok(aside > 100, `${aside} set aside`)
})

test('files in other alphabets, with lists and questions, are set aside without parsing', () => {
  const said = (text: string): boolean => isSetAside('pdf', Buffer.from(`---\n${text}\n---\nBody.\n`))
  assert.ok(said('name: other\ndescription: "Liest — « Tabellen ». Wozu? Für 1 * 1."\nmetadata: {"a":{"emoji":"📄"}}'))
  assert.ok(said('name: "other"\r\ndescription: >-\r\n  Does * things\r\n  for R&D.'))
  assert.ok(said('description: no name at all'))
})

test('doubts are no reason to set a file aside', () => {
  const said = (text: string): boolean => isSetAside('pdf', Buffer.from(text))
  for (const text of [
    '---\nname: ｐｄｆ\ndescription: x\n---\n',
    '---\nname: "p\\u0064f"\ndescription: x\n---\n',
    '---\n? name\n: ｐｄｆ\ndescription: x\n---\n',
    '---\nx: &k name\n*k : ｐｄｆ\ndescription: x\n---\n',
    '---\nx: &k*b name\n*k*b : ｐｄｆ\ndescription: x\n---\n',
    '---\nx: &* name\n** : ｐｄｆ\ndescription: x\n---\n',
    '---\nname:\n  ｐｄｆ\ndescription: x\n---\n',
    '\n---\nname: other\n---\nname: pdf\n---\n',
    '---\nname: other\ndescription: never closed\n',
    `---\nname: other\ndescription: ${'long '.repeat(1_000)}\n---\n`,
    'no frontmatter\n---\n',
    '',
  ])
    assert.equal(said(text), false, JSON.stringify(text))
})

test('no file of the corpus is set aside for its own name, and most are for another', { skip }, () => {
  const rows = gunzipSync(readFileSync(join(CORPUS, 'real-skills.jsonl.gz')))
    .toString()
    .split('\n')
    .filter(Boolean)
  let named = 0
  let aside = 0
  for (const row of rows) {
    const { base64, content } = JSON.parse(row) as { base64?: string; content?: string }
    const bytes = base64 === undefined ? Buffer.from(content ?? '') : Buffer.from(base64, 'base64')
    const name = nameIn(bytes)
    if (name === undefined || !/^[\w.-]+$/.test(name)) continue
    named++
    assert.equal(isSetAside(name, bytes), false, name)
    if (isSetAside('zz-no-such-name', bytes)) aside++
  }
  assert.ok(named > 100)
  assert.ok(aside > named * 0.8, `${aside} of ${named}`)
})

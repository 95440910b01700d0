import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { stringify, type ToStringOptions } from 'yaml'
import type { Frontmatter, KeyPath } from '../../src/format/front.ts'
import { readFrontmatter } from '../../src/format/frontmatter.ts'
import { Outliner } from '../../src/format/glance/outline.ts'
import { createQuickReader } from '../../src/format/quick/reading.ts'
import { createReport } from '../../src/format/report.ts'
import { type FileText, placeOf, placeOfByte, plainFile } from '../../src/format/text.ts'
import type { JsonValue } from '../../src/kernel/index.ts'

const read = createQuickReader()
const outliner = new Outliner()

/** Every key and entry, and next to each one that is not there. */
function pathsIn(value: JsonValue | undefined, path: KeyPath = []): KeyPath[] {
  if (typeof value !== 'object' || value === null) return [path, [...path, 'none']]
  const steps = Array.isArray(value) ? value.map((_: JsonValue, index) => index) : Object.keys(value)
  const below = steps.flatMap((step) => pathsIn((value as Record<string | number, JsonValue>)[step], [...path, step]))
  return [path, ...below, [...path, 'none'], [...path, 99]]
}

/** How many readers told places without the YAML library; throws when one told others than it. */
function toldAlike(text: string, directoryName: string): number {
  const file = plainFile(Buffer.from(text))
  const yaml = /^---[ \t]*\r?\n([^]*?\r?\n)---/.exec(text)?.[1]
  if (file === undefined || yaml === undefined) return 0
  const full = (): Frontmatter => {
    const front = readFrontmatter(yaml.replace(/\r\n?/g, '\n'), 2, createReport('p'))
    assert.ok(front, text)
    return front
  }
  return (scannedAlike(file, full) ? 1 : 0) + (outlinedAlike(file, directoryName, full) ? 1 : 0)
}

function scannedAlike(file: FileText, full: () => Frontmatter): boolean {
  const scanned = read(file, { path: 'p' })?.front
  if (scanned === undefined) return false
  const expected = full()
  for (const [key = '', ...below] of pathsIn(expected.values).slice(1)) {
    const message = `${[key, ...below].join('.')} in ${JSON.stringify(file.latin1)}`
    assert.deepEqual(scanned.place(String(key), below), expected.place(String(key), below), message)
  }
  return true
}

function outlinedAlike(file: FileText, directoryName: string, full: () => Frontmatter): boolean {
  const outline = outliner.read(file, directoryName)
  if (outline === undefined) return false
  const expected = full()
  assert.deepEqual(Object.keys(outline.front), expected.keys())
  const metadata = outline.front['metadata'] ?? {}
  const paths = [...expected.keys().map((key) => [key]), ...Object.keys(metadata).map((key) => ['metadata', key])]
  for (const [key = '', ...below] of paths) {
    const message = `${[key, ...below].join('.')} in ${JSON.stringify(file.latin1)}`
    const place = placeOfByte(file, outline.offsetOf([key, ...below]))
    assert.deepEqual(place, expected.place(key, below), message)
  }
  return true
}

test('keys and entries are where the YAML library says, in every form that is read without it', () => {
  const texts = {
    plain: 'name: pdf\ndescription: Reads files.\nversion: 1\nmetadata:\n  a: b\n  nexus:\n    os: [linux]\n  c: d\n',
    CRLF: 'name: pdf\r\ndescription: >-\r\n  Reads\r\n  files.\r\nmetadata:\r\n    a: "1"\r\n    b:\r\n        - c\r\n',
    'other alphabets':
      'name: pdf\ndescription: Größe 🙂 zählt.\nx: 日本語\nmetadata:\n  a: Größe\n  b: 日本語\n  c: {"d": "→", "e": {}}\n',
    'keys that look alike': 'name: pdf\ndescription: Reads files.\nmetadata:\n  a:\n    b: c\n  b: d\n  ab: e\nb: f\n',
    JSON: 'name: pdf\ndescription: Reads files.\nmetadata: {"a": "→ 🙂", "nexus": {"os": ["linux"], "x": {"y": "z"}}}\n',
    'entries of lists':
      'name: pdf\ndescription: Reads files.\nmetadata:\n  install:\n    - kind: apt\n      bins: [a]\n    - id: x\n      kind: brew\nx:\n- a\n- b: c\n',
    comments: 'name: pdf\n# one\ndescription: Reads files.\nmetadata:\n  # two: x\n  a: b\n# three\nx: y\n',
  }
  for (const [what, yaml] of Object.entries(texts)) {
    assert.ok(toldAlike(`---\n${yaml}---\nDo it.\n`, 'pdf') > 0, what)
  }
})

test('places by offsets are those of the YAML library, in generated frontmatters', () => {
  const key = fc.stringMatching(/^[a-z][a-z_.-]{0,8}$/)
  const leaf = fc.oneof(
    { weight: 12, arbitrary: fc.stringMatching(/^[A-Za-zäé→][a-z ]{0,20}[a-z.]$/) },
    fc.string({ maxLength: 20 }),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom('two\nlines', 'a: b', "it's", null),
  )
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ),
  }))
  const style = fc.record({
    defaultStringType: fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL'),
    indent: fc.constantFrom(2, 3, 4),
    defaultKeyType: fc.constant('PLAIN'),
    indentSeq: fc.boolean(),
    lineWidth: fc.constantFrom(0, 80),
  })
  let told = 0
  const other = fc.dictionary(key, tree, { maxKeys: 3 })
  fc.assert(
    fc.property(other, fc.dictionary(key, tree, { maxKeys: 4 }), style, (more, metadata, options) => {
      const value = { name: 'pdf', description: 'Reads files.', ...more, metadata }
      const yaml = stringify(value, options as ToStringOptions)
      fc.pre(yaml.isWellFormed() && !yaml.includes('\0'))
      told += toldAlike(`---\n${yaml}---\nDo it.\n`, 'pdf')
    }),
    { numRuns: 1_500 },
  )
  assert.ok(told > 500, `only ${told} times`)
})

test('a place is counted the same way in characters and in bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'é', '→', '🙂', '\n', '\r\n', '\r'), { maxLength: 30 }), (pieces) => {
      const text = `-${pieces.join('')}`
      const file = plainFile(Buffer.from(text))
      assert.ok(file)
      const offsets = pieces.map((_, index) => `-${pieces.slice(0, index).join('')}`)
      for (const before of offsets)
        assert.deepEqual(placeOfByte(file, Buffer.byteLength(before)), placeOf(text, before.length))
    }),
  )
})

const CORPUS = resolve(
  process.env['NEXUS_CORPUS'] ?? resolve(import.meta.dirname, '../../../shared/corpus'),
  'real-skills.jsonl.gz',
)
const skip = existsSync(CORPUS) ? false : `the corpus is not here: ${CORPUS}`

test('places by offsets are those of the YAML library, in real skills', { skip }, () => {
  const lines = gunzipSync(readFileSync(CORPUS)).toString('utf8').split('\n').filter(Boolean)
  let told = 0
  for (const line of lines) {
    const { dir, base64 } = JSON.parse(line) as { dir: string; base64: string }
    told += toldAlike(Buffer.from(base64, 'base64').toString('utf8'), dir)
  }
  assert.ok(told > lines.length, `${told} of ${2 * lines.length}`)
})

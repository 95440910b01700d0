import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import JSON5 from 'json5'
import { fixSkill, migrateSkill, parseSkill } from '../../../src/skills/format/index.ts'
import { parseJson5, readJson5 } from '../../../src/skills/format/json5.ts'
import { seedFor } from './skills.ts'

function parse(yaml: string) {
  return parseSkill(`---\nname: a\ndescription: b\n${yaml}\n---\n`, { path: 'p' })
}

const TWICE = '{"openclaw":{"requires":{"bins":["nosuchbin"]},"requires":{}}}'

/** Every form in which metadata may hold JSON. */
const FORMS: Readonly<Record<string, string>> = {
  'on one line': `metadata: ${TWICE}`,
  'over several lines': `metadata:\n  ${TWICE.replace(',"requires"', ',\n  "requires"')}`,
  'in single quotes': `metadata: '${TWICE}'`,
  'in double quotes': `metadata: ${JSON.stringify(TWICE)}`,
  'in a block': `metadata: |\n  ${TWICE}`,
  'in the text of a client': `metadata:\n  openclaw: '{"requires":{"bins":["nosuchbin"]},"requires":{}}'`,
  'as JSON5': `metadata: "{openclaw: {requires: {bins: ['nosuchbin']}, /* or */ 'requires': {}, }, }"`,
  'with escapes': `metadata: '{"openclaw":{"requires":{"bins":["nosuchbin"]},"r\\u0065quires":{}}}'`,
  'in a list': `metadata: '{"a": [1, {"b": 1, "b": 2}]}'`,
}

for (const [form, yaml] of Object.entries(FORMS)) {
  test(`a key given twice in JSON ${form} is an error, and no rewrite hides it`, () => {
    const { document, diagnostics } = parse(yaml)
    assert.equal(document, undefined)
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ['yaml-duplicate-key'],
    )
    const text = `---\nname: a\ndescription: b\n${yaml}\n---\n`
    for (const rewrite of [fixSkill, migrateSkill]) assert.equal(rewrite(text, { path: 'p' }).text, text)
  })
}

test('a key may stand in two mappings, in a text and in a comment', () => {
  for (const json of [
    '{"a": {"x": 1}, "b": {"x": 1}, "x": [{"x": 1}, {"x": 2}]}',
    `{a: "{x: 1, x: 2}", b: 'it\\'s x: 1, x: 2' /* a: 1, a: 2 */, // b: 1\n c: 1}`,
    '{a: ":", b: "a", "c:": "a"}',
  ])
    assert.equal(JSON.stringify(parseJson5(json)), JSON.stringify(JSON5.parse(json)), json)
})

test('JSON that cannot be read holds the skill where it names requirements', () => {
  for (const [yaml, key, line] of [
    [`metadata: '{"openclaw":{"requires":{"bins":["x"}}}'`, 'metadata', 4],
    [`metadata: '{"openclaw":{"os":["linux"}}'`, 'metadata', 4],
    [`metadata:\n  openclaw: '{"requires":{"bins":["x"}}'`, 'metadata.openclaw', 5],
  ] as const) {
    const found = parse(yaml).document?.metadata.unreadable
    assert.deepEqual(
      found?.map((each) => [each.key, each.line]),
      [[key, line]],
      yaml,
    )
  }
  assert.equal(parse(`metadata: '{"emoji": }'`).document?.metadata.unreadable, undefined)
})

test('text that begins like JSON and is none is told, wherever JSON is read', () => {
  for (const yaml of [`metadata: '{"a": }'`, `metadata:\n  openclaw: '{"requires": {"bins": ["x"]}'`]) {
    const { document, diagnostics } = parse(yaml)
    assert.ok(document)
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ['metadata-not-mapping'],
    )
    assert.match(diagnostics[0]?.message ?? '', /is not valid JSON/)
  }
})

test('a missing comma in JSON is reported, not hidden in quotes with what follows it', () => {
  const { document, diagnostics } = parse('metadata:\n  {"openclaw": {\n    "a": "x" "requires": {"bins": ["y"]}\n  }}')
  assert.equal(document, undefined)
  assert.equal(diagnostics[0]?.code, 'yaml-invalid')
})

const piece = fc.constantFrom(
  ...['{', '}', '[', ']', ':', ',', ' ', '\n', '"', "'", '\\', '/', '*', '//', '/*', '*/', '\u2028', '\u2029'],
  ...['a', 'b', '"a"', "'b'", '1', '\\u0061', 'null', '"\u2028"', "'\u2029'", '\\\u2028', '"x\\\u2028y"'],
)

test('nothing is printed, and line separators are read as they stand in JSON, and refused in JSON5', (context) => {
  const quiet = (): undefined => undefined
  const warn = context.mock.method(console, 'warn', quiet)
  const text = `{"openclaw":{"emoji":"${'\u2028'.repeat(100)}","\u2029":"\u2029"}}`
  assert.equal(JSON.stringify(parseJson5(text)), JSON.stringify(JSON.parse(text)))
  assert.match(JSON.stringify(readJson5(`{a: '\u2028'}`)), /fault.*U\+2028/)
  parse(`metadata: '${text.replaceAll("'", '"')}'`)
  const read = (json: string): unknown => {
    const found = readJson5(json)
    return found && ('value' in found ? found.value : 'twice' in found ? 'twice' : 'fault')
  }
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
      const json = `{${pieces.join('')}}`
      const calls = warn.mock.callCount()
      const ours = read(json)
      assert.equal(warn.mock.callCount(), calls)
      if (ours === 'twice' || (ours === 'fault' && /[\u2028\u2029]/.test(json))) return
      let theirs: unknown = 'fault'
      try {
        theirs = JSON5.parse(json)
      } catch {
        // No JSON5 for the library either.
      }
      assert.equal(JSON.stringify(ours), JSON.stringify(theirs), JSON.stringify(json))
    }),
    { numRuns: 3_000, seed: seedFor(context) },
  )
})

const key = fc.constantFrom('a', 'b', "'a'", '"b"', '"\\u0061"', '"a b"', '"__proto__"')
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    fc.constantFrom('1', '"a: 1"', "'b'", 'null', '[]'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map(objectOf),
  ),
}))

function objectOf(entries: readonly (readonly [string, string])[]): string {
  return `{${entries.map(([name, item]) => `${name} : ${item}`).join(',')}}`
}

/** The entries of all mappings that are left after reading. */
function entriesOf(data: unknown): number {
  if (typeof data !== 'object' || data === null) return 0
  const inside = Object.values(data).reduce((sum: number, item: unknown) => sum + entriesOf(item), 0)
  return Array.isArray(data) ? inside : inside + Object.keys(data).length
}

test('a key is given twice exactly when reading keeps fewer entries than were written', (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, value), { maxLength: 4 }).map(objectOf), (json) => {
      const written = json.split(' : ').length - 1
      const read = readJson5(json)
      assert.ok(read && !('fault' in read), json)
      assert.equal('twice' in read, entriesOf(JSON5.parse(json)) < written, json)
    }),
    { seed: seedFor(t) },
  )
})

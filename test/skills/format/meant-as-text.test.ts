import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixSkill, parseSkill } from '../../../src/skills/format/index.ts'

function parse(yaml: string) {
  return parseSkill(`---\n${yaml}\n---\n`, { path: 'p' })
}

/** Values that are YAML with an anchor, an alias or a tag, where no sentence stands. */
const REFUSED: Readonly<Record<string, string>> = {
  'disable-model-invocation: &x true': 'yaml-anchor',
  'disable-model-invocation: *x': 'yaml-alias',
  'user-invocable: !bool false': 'yaml-tag',
  'allowed-tools: &t [Read]': 'yaml-anchor',
  'allowed-tools: *d': 'yaml-alias',
  'os: *d': 'yaml-alias',
  'globs: *.md': 'yaml-alias',
  'os: &o linux': 'yaml-anchor',
  'metadata: &m {a: b}': 'yaml-anchor',
  'other: &a [1, 1]': 'yaml-anchor',
  'other: &a text': 'yaml-anchor',
  'other: !tag text': 'yaml-tag',
  'other: &a\n  b: c': 'yaml-anchor',
  'compatibility: &a "quoted"': 'yaml-anchor',
  'compatibility: &a |\n  block': 'yaml-anchor',
  'compatibility: &a [b]': 'yaml-anchor',
  'compatibility: !tag |\n  block': 'yaml-tag',
  'compatibility: !tag [b]': 'yaml-tag',
  'other: {<<: {a: 1}}': 'yaml-merge-key',
  'other: {a: 1, a: 2}': 'yaml-duplicate-key',
  'argument-hint: {a: 1, a: 2}': 'yaml-duplicate-key',
}

for (const [line, code] of Object.entries(REFUSED)) {
  test(`what is YAML is not made text by quotes: ${JSON.stringify(line)}`, () => {
    const text = `name: a\ndescription: b\n${line}`
    const { document, diagnostics } = parse(text)
    assert.equal(document, undefined)
    assert.deepEqual([diagnostics[0]?.code, diagnostics[0]?.severity, diagnostics[0]?.line], [code, 'error', 4])
    assert.deepEqual(fixSkill(`---\n${text}\n---\n`, { path: 'p' }).changes, [])
  })
}

test('an anchor and its alias are refused', () => {
  for (const yaml of [
    'name: a\ndescription: &d text\nallowed-tools: *d',
    'name: a\ndescription: b\nx: &a [1,1]\ny: [*a,*a]',
  ]) {
    const { document, diagnostics } = parse(yaml)
    assert.equal(document, undefined)
    assert.ok(
      diagnostics.some(({ code, severity }) => code === 'yaml-alias' && severity === 'error'),
      yaml,
    )
  }
})

const TEXTS: readonly (readonly [key: string, value: string])[] = [
  ['description', '*bold* words'],
  ['description', '*bold*'],
  ['description', '@scope/x'],
  ['description', '&foo'],
  ['description', '&more words'],
  ['description', '!important words'],
  ['description', '!!js/function "function(){}"'],
  ['license', '*MIT*'],
  ['author', '&Co'],
  ['argument-hint', '[*files]'],
  ['when_to_use', '&c when asked'],
  ['allowed-tools', '*'],
  ['note', '*bold* words'],
]

for (const [key, value] of TEXTS) {
  test(`${key}: ${value} is read as the text that stands there`, () => {
    const { document, diagnostics } = parse(
      `${key === 'description' ? '' : 'description: b\n'}name: a\n${key}: ${value}`,
    )
    assert.equal(document?.frontmatter[key], value)
    assert.deepEqual(
      diagnostics.map(({ code }) => code),
      ['yaml-repaired'],
    )
  })
}

const LONG = 'a longer text that goes on '.repeat(10).trim()

/** A long value, and what its fix says to type. */
const FIXED: readonly (readonly [value: string, fix: RegExp, typed: (value: string) => string])[] = [
  [`Use when: ${LONG}`, /^Put single quotes around the value/, (value) => `'${value}'`],
  [`Use when: it's ${LONG}`, /write each ' in it twice\.$/, (value) => `'${value.replaceAll("'", "''")}'`],
  [`Use when:\n  ${LONG}`, /^Put single quotes around the value/, (value) => `'${value}'`],
  [`>- x\n  Use when: ${LONG}`, /^Put single quotes around the value/, (value) => `'${value}'`],
]

for (const [value, pattern, typed] of FIXED) {
  test(`the fix of a long value is never a cut line; done to the letter it reads the same: ${value.slice(0, 20)}`, () => {
    const { document, diagnostics } = parse(`name: a\ndescription: ${value}`)
    const fix = diagnostics.find(({ code }) => code === 'yaml-repaired')?.fix ?? ''
    assert.match(fix, pattern)
    assert.doesNotMatch(fix, /…/)
    const after = parse(`name: a\ndescription: ${typed(value)}`)
    assert.equal(after.document?.description, document?.description)
    assert.deepEqual(after.diagnostics, [])
  })
}

test('the fix of a long line without its colon is no cut line', () => {
  const broken = {
    [`description ${LONG}`]: 'Write: description: <the text of the line>',
    [`description:${LONG}`]: 'Write: description: <the text of the line>',
    [`description = ${LONG}`]: 'Write: description: <the text of the line>',
    [`description\uff1a${LONG}`]: 'Write: description: <the text of the line>',
  }
  for (const [line, fix] of Object.entries(broken)) {
    const found = parse(`name: a\n${line}`).diagnostics.find(({ severity }) => severity === 'error')
    assert.ok(found?.fix?.includes(fix), `${line}: ${found?.fix}`)
  }
})

const FIXES: Readonly<Record<string, RegExp>> = {
  'disable-model-invocation: &x true': /^Remove &x/,
  'disable-model-invocation: !true': /^Write true in place of !true/,
  'disable-model-invocation: @true': /^Correct the value, or put quotes around all of it if it is text\.$/,
  'disable-model-invocation: true: x': /^Correct the value, or/,
  'metadata: &m {"a": 1}': /^Remove &m/,
  'metadata: {"openclaw": {"emoji": "x" "requires": {"bins": ["zz"]}}}': /^Correct the value, or/,
  'metadata: {"openclaw": {emoji: x requires: {bins: [zz]}}}': /^Check the text before this place/,
  'metadata: @x': /^Correct the value, or/,
  'metadata:\n  requires: bins: a': /^Correct the value, or/,
  'allowed-tools: [a] b': /^Correct the value, or/,
}

for (const [yaml, fix] of Object.entries(FIXES)) {
  test(`the fix of a value that is no text never says only to put quotes around it: ${JSON.stringify(yaml)}`, () => {
    const { document, diagnostics } = parseSkill(`---\nname: a\ndescription: b\n${yaml}\n---\n`, { path: 'p' })
    assert.equal(document, undefined)
    assert.match(diagnostics[0]?.fix ?? '', fix)
    for (const found of diagnostics) assert.doesNotMatch(found.fix ?? '', /^Put quotes/)
  })
}

test('a flag that keeps a skill from models and cannot be read keeps it from them', () => {
  for (const value of ['"&x true"', 'perhaps', '[true]', '{a: b}']) {
    const text = `---\nname: a\ndescription: b\ndisable-model-invocation: ${value}\n---\n`
    const { document, diagnostics } = parseSkill(text, { path: 'p' })
    assert.equal(document?.invocation.model, false, value)
    assert.deepEqual(
      diagnostics.map(({ code, severity }) => `${severity} ${code}`),
      ['warning field-type'],
    )
  }
})

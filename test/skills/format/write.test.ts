import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixSkill, parseSkill } from '../../../src/skills/format/index.ts'
import { emitEntries } from '../../../src/skills/format/write/emit.ts'

/** The lines between the markers after a fix. */
function fixed(frontmatter: string): string {
  const { text } = fixSkill(`---\n${frontmatter}\n---\nbody\n`, { path: 'p' })
  return text.slice(4, text.indexOf('\n---\n', 3))
}

test('a repaired value gets its quotes, and nothing else changes', () => {
  const before = '# top\nname:   a\n\ndescription: Use when: asked # or not\nlicense: "MIT"   # kept\nextra: {b: 1}'
  assert.equal(fixed(before), before.replace('Use when: asked # or not', '"Use when: asked # or not"'))
})

test('what stands in the fix of the diagnostic is what is written', () => {
  for (const value of ['Use when: x', '@a b', '*b* c', '[d] e', '"f" g', "it's: i", '`j`', '“m: n”', '% o']) {
    const text = `---\nname: a\ndescription: ${value}\n---\n`
    const fix = parseSkill(text, { path: 'p' }).diagnostics.find(({ code }) => code === 'yaml-repaired')?.fix
    assert.equal(`Write: ${fixed(`name: a\ndescription: ${value}`).split('\n')[1]}`, fix)
  }
})

test('a value of several lines gets its quotes in its lines', () => {
  assert.equal(
    fixed('name: a\ndescription: Use when: one\n  and: two\nmetadata:\n  b: 1'),
    "name: a\ndescription: 'Use when: one\n  and: two'\nmetadata:\n  b: 1",
  )
})

test('line ends, the byte order mark and the body stay as they are', () => {
  const body = 'One: two\r\nthree\rfour\n\n\u2028 \ttail'
  const text = `\uFEFF---\r\nname: a\r\ndescription: Use: x\r\n---  \r\n${body}`
  assert.equal(fixSkill(text, { path: 'p' }).text, text.replace('Use: x', '"Use: x"'))
})

test('the mark and CR line ends are corrected when asked for', () => {
  const text = '\uFEFF---\rname: a\rdescription: b\r---\rOne\r\nTwo\r'
  const result = fixSkill(text, { path: 'p', encoding: true })
  assert.equal(result.text, '---\nname: a\ndescription: b\n---\nOne\r\nTwo\n')
  assert.equal(result.changes.length, 2)
  assert.deepEqual(result.diagnostics, [])
})

const UNREADABLE = {
  'no opening ---': '# Notes\n\nname: a\n',
  'no closing ---': '---\nname: a\ndescription: b\n',
  'a key twice': '---\nname: a\nname: b\n---\n',
}

for (const [form, text] of Object.entries(UNREADABLE)) {
  test(`removes a byte order mark and CR line ends where asked, although the file has ${form}`, () => {
    const given = `\uFEFF${text.replaceAll('\n', '\r')}`
    const result = fixSkill(given, { path: 'p', encoding: true })
    assert.equal(result.text, text)
    assert.equal(result.changes.length, 2)
    assert.ok(!result.diagnostics.some(({ code }) => code === 'byte-order-mark'))
    assert.equal(fixSkill(given, { path: 'p' }).text, given)
  })
}

test('leaves bytes that are no text as they are, also with a byte order mark', () => {
  const given = '\uFEFFa\0\rb'
  assert.equal(fixSkill(given, { path: 'p', encoding: true }).text, given)
})

test('keys get their own spelling', () => {
  assert.equal(
    fixed('name: a\ndescription: b\nuser_invocable: no # c\n"disable_model_invocation": yes\nallowed_tools: Read'),
    'name: a\ndescription: b\nuser-invocable: no # c\n"disable-model-invocation": yes\nallowed-tools: Read',
  )
})

test('blank lines before the frontmatter go, and dots at its end become dashes', () => {
  const { text, changes } = fixSkill('\n \n---\nname: a\ndescription: b\n...\nbody', { path: 'p' })
  assert.equal(text, '---\nname: a\ndescription: b\n---\nbody')
  assert.deepEqual(
    changes.map(({ line, was, now }) => [line, was, now]),
    [
      [1, '', undefined],
      [2, ' ', undefined],
      [6, '...', '---'],
    ],
  )
})

test('a missing name becomes that of the directory when the rule allows it', () => {
  const options = { path: 'p', directoryName: 'my-skill' }
  assert.equal(fixSkill('---\ndescription: b\n---\n', options).text, '---\nname: my-skill\ndescription: b\n---\n')
  assert.equal(
    fixSkill('---\ndescription: b\nname: ""\n---\n', options).text,
    '---\ndescription: b\nname: my-skill\n---\n',
  )
  for (const directoryName of ['My Skill', '-a', '..'])
    assert.deepEqual(fixSkill('---\ndescription: b\n---\n', { path: 'p', directoryName }).changes, [])
  assert.deepEqual(fixSkill('---\n{"description": "b"}\n---\n', options).changes, [])
})

test('a change says its line, what was there, what is there, and why', () => {
  const { changes } = fixSkill('---\nname: a\ndescription: Use: x\n---\n', { path: 'p' })
  assert.deepEqual(changes, [
    {
      line: 3,
      was: 'description: Use: x',
      now: 'description: "Use: x"',
      why: 'The value is not valid YAML. This is how Nexus read it.',
    },
  ])
})

test('a text that cannot be read is returned as it is, with its diagnostics', () => {
  for (const text of [
    '',
    'no frontmatter',
    '---\nname: a',
    '---\nrequires: [\n---\n',
    '---\na: 1\na: 2\n---\n',
    '\ud800',
  ]) {
    const result = fixSkill(text, { path: 'p' })
    assert.equal(result.text, text)
    assert.deepEqual(result.changes, [])
    assert.ok(result.diagnostics.some(({ severity }) => severity === 'error'))
  }
})

test('a key whose finding says so is renamed, when the right one is not there', () => {
  assert.equal(fixed('name: a\ndesciption: b # c'), 'name: a\ndescription: b # c')
  assert.equal(fixed('Name: a\n"Description": Use: b'), 'name: a\n"description": "Use: b"')
  assert.equal(fixed('{"NAME": "a", "desciption": "b"}'), '{"name": "a", "description": "b"}')
  assert.equal(fixed('NAME: a\ndescriptions: |\n  b'), 'name: a\ndescription: |\n  b')
  const kept = [
    'description:\ndesciption: b\nname: a',
    'names: a\ngame: b\ndescription: c',
    'Name:\n  - a\ndescription: b',
  ]
  for (const text of kept) assert.equal(fixed(text), text)
})

test('what is done for a renamed key is what its finding says, and nothing is left of it', () => {
  const text = '---\nName: My Thing\nDescription: What it does.\nlicense: MIT\n---\nbody\n'
  const options = { path: 'p', directoryName: 'my-thing' }
  const fixes = parseSkill(text, options)
    .diagnostics.filter(({ code }) => code === 'key-similar')
    .map(({ fix }) => fix)
  assert.deepEqual(fixes, ['Rename the key to name, or remove it.', 'Rename the key to description, or remove it.'])
  const { document, diagnostics } = parseSkill(fixSkill(text, options).text, options)
  assert.deepEqual([document?.name, document?.description], ['My Thing', 'What it does.'])
  assert.deepEqual(Object.keys(document?.frontmatter ?? {}), ['name', 'description', 'license'])
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['name-invalid', 'name-differs'],
  )
})

test('a list is written on one line up to 110 characters, then one item a line', () => {
  const listOf = (chars: number): string[] => emitEntries({ list: ['x'.repeat(chars - 'list: [""]'.length)] }, '')
  assert.equal(listOf(110)[0]?.length, 110)
  assert.equal(listOf(110).length, 1)
  assert.deepEqual(listOf(111), ['list:', `  - "${'x'.repeat(101)}"`])
})

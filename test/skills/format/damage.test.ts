import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkStrict, fixSkill, parseSkill } from '../../../src/skills/format/index.ts'
import { seedFor } from './skills.ts'

function parse(yaml: string) {
  return parseSkill(`---\n${yaml}\n---\nbody\n`, { path: 'p' })
}

function found(yaml: string): string[] {
  return parse(yaml).diagnostics.map(({ code, line, column }) => `${code} ${line}:${column}`)
}

test('a key that is indented below a value is part of it, and not a key of its own', () => {
  const { document } = parse('name: a\ndescription: x\n license: MIT')
  assert.deepEqual([document?.description, document?.license], ['x license: MIT', undefined])
  assert.deepEqual(found('name: a\ndescription: x\n license: MIT'), ['yaml-repaired 3:14'])
})

test('a key that restricts is never read as part of the text above it', () => {
  for (const key of ['disable-model-invocation: true', 'allowed-tools: Read', 'metadata:\n    os: [linux]']) {
    const { document, diagnostics } = parse(`name: a\ndescription: x\n  ${key}`)
    assert.equal(document, undefined)
    assert.deepEqual([diagnostics[0]?.code, diagnostics[0]?.severity], ['yaml-invalid', 'error'])
  }
})

test('text that only looks like an indented key stays text', () => {
  for (const [yaml, description] of [
    ['name: a\ndescription: Use when: one\n  and: two', 'Use when: one and: two'],
    ['name: a\ndescription: Options:\n  license: which one', 'Options: license: which one'],
    ['name: a\nlicense: MIT\ndescription: b\n  license: of the file', 'b license: of the file'],
  ] as const)
    assert.equal(parse(yaml).document?.description, description)
})

test('a quoted value that continues at the start of a line is an error', () => {
  for (const value of ['"One\ntwo"', "'One\n\nit''s two'"]) {
    const { document, diagnostics } = parse(`name: a\ndescription: ${value}\nlicense: MIT`)
    assert.equal(document, undefined)
    assert.ok(diagnostics.some(({ code, severity }) => code === 'yaml-invalid' && severity === 'error'))
  }
})

test('a quote that closes nowhere takes no other key along', () => {
  const { document } = parse('name: a\ndescription: "One\nlicense: "MIT"')
  assert.deepEqual([document?.description, document?.license], ['"One', 'MIT'])
})

test('a backslash that YAML does not know in double quotes is an error with its place', () => {
  for (const value of [String.raw`"it\'s"`, String.raw`"a \d and \n"`]) {
    const { document, diagnostics } = parse(`name: a\ndescription: ${value}`)
    assert.equal(document, undefined)
    assert.deepEqual(
      diagnostics.map(({ code, line }) => [code, line]),
      [['yaml-invalid', 3]],
    )
    assert.match(diagnostics[0]?.fix ?? '', /single quotes/)
  }
})

test('a list on the line of its key is not called a second colon', () => {
  const [finding] = parse('name: a\ndescription: b\ntools: - - x').diagnostics
  assert.equal(finding?.message, 'The value contains a sign that is syntax in YAML at its place.')
})

test('bold text behind the closing dashes is named as the line that was meant to close', () => {
  const [finding] = parseSkill('---\nname: a\ndescription: b\n---**Bold** text\n', { path: 'p' }).diagnostics
  assert.match(finding?.fix ?? '', /^Write exactly --- on line 4, and any other text of it on the next line/)
})

test('another dash in place of the closing one is named with its line', () => {
  const [finding] = parseSkill('---\nname: a\ndescription: b\n\u2014\n\nText\n', { path: 'p' }).diagnostics
  assert.match(finding?.fix ?? '', /^Write exactly --- on line 4/)
})

test('an unresolved merge conflict is one finding, and nothing of it is read', () => {
  const conflict = '<<<<<<< HEAD\ndescription: b\n=======\ndescription: c\n>>>>>>> main'
  const { document, diagnostics } = parse(`name: a\n${conflict}`)
  assert.equal(document, undefined)
  assert.deepEqual(
    diagnostics.map(({ line, message }) => [line, message]),
    [[3, 'The lines from here to >>>>>>> are an unresolved merge conflict.']],
  )
})

test('text at the margin below an empty key is to be indented', () => {
  const [finding] = parse('name: a\ndescription:\nWhat it does, and when to use it.').diagnostics
  assert.match(finding?.fix ?? '', /^Indent it by two spaces/)
})

test('curly quotes around a value are reported once, and are part of no tool', () => {
  const { document, diagnostics } = parse('name: a\ndescription: b\nallowed-tools: \u201cRead, Bash(git:*)\u201d')
  assert.deepEqual(document?.allowedTools, ['Read', 'Bash(git:*)'])
  assert.deepEqual(
    diagnostics.map(({ code, line }) => [code, line]),
    [['curly-quotes', 4]],
  )
})

test('a description that is a list of texts is to be written as text', () => {
  const [finding] = parse('name: a\ndescription:\n  - Reads files.').diagnostics
  assert.match(finding?.fix ?? '', /^Write: description: /)
})

test('the specification leaves keys free that it does not know', () => {
  for (const key of ['homepage: 5', 'user-invocable: perhaps', 'arguments: 5', 'os: all', 'emoji: [x]']) {
    const { diagnostics } = checkStrict(`---\nname: a\ndescription: b\n${key}\n---\nx\n`, {
      path: 'p',
      profile: 'spec',
    })
    assert.deepEqual(
      diagnostics.filter(({ severity }) => severity === 'error'),
      [],
      key,
    )
  }
})

test('entries of a list of tools keep their spaces', () => {
  const yaml = 'name: a\ndescription: b\nallowed-tools:\n  - Web Search\n  - Bash(git add:*)\n  - Read, Write'
  assert.deepEqual(parse(yaml).document?.allowedTools, ['Web Search', 'Bash(git add:*)', 'Read', 'Write'])
})

test('whatever the indentation, a fix reads as before or as its findings promise, and does nothing more', (t) => {
  const line = fc.constantFrom(
    ...[
      'name: a',
      'description: b',
      'license: MIT',
      'metadata:',
      'x: y',
      '- z',
      'text',
      '"open',
      'end"',
      "it's",
      '# c',
      '',
    ],
    ...['description: "One', "name: 'q", 'two"', 'user_invocable: no', 'Description: c', 'k: "it\\\'s"', 'm: n: o'],
  )
  const indent = fc.constantFrom('', '', '', ' ', '  ', '\t')
  const lines = fc.array(
    fc.tuple(indent, line).map((parts) => parts.join('')),
    { maxLength: 7 },
  )
  fc.assert(
    fc.property(lines, (all) => {
      const text = `---\n${all.join('\n')}\n---\nbody\n`
      const options = { path: 'p', directoryName: 'a' }
      const before = parseSkill(text, options).document
      const { text: once, changes } = fixSkill(text, options)
      assert.equal(fixSkill(once, options).text, once)
      assert.equal(changes.length === 0, once === text)
      if (before === undefined) return
      const after = parseSkill(once, options).document
      assert.equal(after?.body, before.body)
      const values = (document: typeof before | undefined): string[] =>
        Object.values(document?.frontmatter ?? {}).map((value) => JSON.stringify(value))
      const filled = values(before).filter((value) => value !== 'null' && value !== '""')
      for (const value of filled) assert.ok(values(after).includes(value), `${value} is lost`)
    }),
    { numRuns: 500, seed: seedFor(t) },
  )
})

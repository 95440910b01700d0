import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readQuickYaml } from '../../src/config/document/quick-yaml.ts'
import { parseWhole, parseYaml, type PathKey } from '../../src/config/document/read-yaml.ts'
import { isJsonObject, type JsonValue } from '../../src/kernel/index.ts'

/** Every place of a value, and one below each that is not there. */
function pathsIn(value: JsonValue, keys: readonly PathKey[] = []): (readonly PathKey[])[] {
  const here = [keys, [...keys, 'not-there']]
  if (Array.isArray(value)) return [...here, ...value.flatMap((item, index) => pathsIn(item, [...keys, index]))]
  if (isJsonObject(value))
    return [...here, ...Object.entries(value).flatMap(([key, item]) => pathsIn(item, [...keys, key]))]
  return here
}

/** Holds both ways of reading against each other; returns whether the quick one had the word. */
function compare(text: string): boolean {
  const quick = readQuickYaml(text)
  // A list at the top is left to the full parser, which has the words for it.
  if (quick === undefined || !isJsonObject(quick.value)) return false
  const whole = parseWhole(text, 'x')
  const read = parseYaml(text, 'x')
  assert.deepEqual(whole.diagnostics, [], text)
  assert.deepEqual(read.value, whole.value, text)
  for (const keys of pathsIn(whole.value))
    assert.deepEqual(read.locate(keys), whole.locate(keys), `${text}\n${keys.join('.')}`)
  return true
}

describe('the quick way to read YAML', () => {
  it('has the word for ordinary settings', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/config.md'), 'utf8')
    const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
    assert.ok(blocks.length >= 2)
    for (const block of blocks) assert.ok(compare(block), block)
    for (const text of [
      'a: 1',
      'a:\n- x\n- y\nb:\n  - z: 1\n    w: [1, "2", \'3\']\n  -   id: q\n      r: s',
      '# comment\n\na: # more\n  b: c # d\n  e: "f # g"\n\n# end\n',
      'a:\nb: ~\nc: {d: {}, e: []}\n',
      'a: x y  z   \nb: http://h:80/p#q\nc: 127.0.0.1\nd: 24h\n',
    ])
      assert.ok(compare(text), text)
  })

  it('leaves everything else to the full parser', () => {
    for (const text of [
      ...[
        '',
        'a',
        '- a',
        'a: b: c',
        'a: &x 1',
        'a: *x',
        'a: !!str b',
        'a: |\n  b',
        'a: >\n  b',
        '---\na: 1',
        '%YAML 1.2\n---\na: 1',
      ],
      ...[
        'a: b\n  c',
        'a: "b\n  c"',
        'a: [1,\n  2]',
        'a: [1, 2,]',
        '? a\n: b',
        'a: 1\na: 2',
        '<<: {}',
        '__proto__: 1',
        'null: 1',
      ],
      ...[
        'a:\tb',
        '\ta: b',
        'a: é',
        'a: "\\n"',
        "a: 'it''s'",
        'a: .inf',
        'a: 0x1F',
        'a: 1e3',
        'a: +1',
        'a: -0',
        'a: @b',
        'a: %b',
      ],
      ...['a: 1\n b: 2', '  a: 1\nb: 2', 'a: {b}', 'a: {b: 1', 'a: [b: 1]', 'a: - b', '- - a', 'a: b\r\nc: d'],
    ])
      assert.equal(compare(text), false, JSON.stringify(text))
  })

  const word = fc.constantFrom(
    ...[
      'a',
      'b1',
      'skills',
      'x y',
      '-1',
      '1.5',
      '007',
      '1_000',
      'true',
      'No',
      'null',
      '~',
      '"q"',
      "'s'",
      '"a: b"',
      "'#'",
    ],
    ...[
      '[]',
      '{}',
      '[a, b]',
      '{a: b}',
      '{a: [1, {b: "c"}]}',
      '{ a : b }',
      '[ a ]',
      '[a,b]',
      '{a:b}',
      '{"a":b}',
      'a#b',
      'a #b',
    ],
    ...[
      'a:b',
      'a:',
      ':a',
      '-a',
      '- a',
      '~/x',
      '$x',
      '${X}',
      '"${X}"',
      '.5',
      '5.',
      '1e5',
      '0o7',
      '.nan',
      '*',
      '&',
      '!',
      '?',
      ',',
      '|',
    ],
    ...[
      '-',
      '--',
      '---',
      '...',
      '@x',
      '`x`',
      '%',
      '<<',
      '(x)',
      '=',
      '^x',
      '+1',
      '-.5',
      '1:2',
      '1,2',
      'a, b',
      "it's",
      'a"b',
      '\\x',
    ],
  )
  const glue = fc.constantFrom(
    ': ',
    ':',
    '\n',
    '\n  ',
    '\n    ',
    '\n- ',
    '\n  - ',
    ' # c',
    ' ',
    '',
    '\n\n',
    '  \n',
    '\n# c\n',
    ', ',
  )
  const tokens = fc.array(fc.oneof({ weight: 2, arbitrary: word }, { weight: 3, arbitrary: glue }), { maxLength: 24 })
  /** Lines of settings, most of them right. */
  const line = fc
    .tuple(fc.constantFrom('', '  ', '    ', '- ', '  - ', '    - '), fc.constantFrom('a', 'b', 'c', 'd', '"e"'), word)
    .map(([indent, key, value]) => `${indent}${key}: ${value}`)
  const section = fc
    .tuple(fc.constantFrom('', '  '), fc.constantFrom('f', 'g', 'h'))
    .map(([indent, key]) => `${indent}${key}:`)
  const lines = fc.array(fc.oneof(line, section), { maxLength: 8 }).map((all) => all.join('\n'))

  /** An ordinary file with a few characters changed: what is nearly right is where two readers differ. */
  const ORDINARY = `# settings
skills:
  disabled_skills: [old-skill, 'b c'] # two
  entries:
    github: { enabled: true, env: { A: "x" }, n: [1, {z: ~}] }
  list:
  - a
  - "b"
agents:
  - id: main
    tools:
      deny: []

  -   id: other
      text: some words, and more
url: http://host:80/path#part
limits: {maxIterations: 50}
`
  const change = fc.tuple(
    fc.nat(ORDINARY.length),
    fc.nat(2),
    fc.oneof(fc.constantFrom(...' \n:,-#[]{}"\'~?|>&*!%@`01.+_\\<=$/', '  ', ': ', ' #', '- '), fc.constant('')),
  )
  const changed = fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) =>
      changes.reduce((text, [at, drop, put]) => text.slice(0, at) + put + text.slice(at + drop), ORDINARY),
    )

  it('reads the same values at the same places as the full parser, whatever the text', () => {
    let quick = 0
    const read = (text: string): void => {
      if (compare(text)) quick += 1
    }
    const any = fc.oneof(
      lines,
      tokens.map((all) => all.join('')),
      fc.json(),
      changed,
    )
    fc.assert(fc.property(any, read), { numRuns: Number(process.env['NEXUS_RUNS'] ?? 4000) })
    assert.ok(quick > 400, `only ${quick} texts were read the quick way`)
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse as parseYaml, stringify } from 'yaml'
import { FORMAT_CODES, parseSkill, type ParsedSkill } from '../../../src/skills/format/index.ts'
import { seedFor } from './skills.ts'

/** What must hold for every result, whatever went in. */
function checkLaws(result: ParsedSkill, text?: string): void {
  const { document, diagnostics } = result
  assert.equal(
    document === undefined,
    diagnostics.some(({ severity }) => severity === 'error'),
  )
  const lines = text?.replace(/^\uFEFF/, '').split(/\r\n?|\n/)
  for (const { code, severity, line, column } of diagnostics) {
    assert.notEqual(code, 'parser-failed')
    assert.equal(severity, FORMAT_CODES[code as keyof typeof FORMAT_CODES])
    if (lines && line !== undefined)
      assert.ok(line >= 1 && line <= lines.length, `${code} at line ${line} of ${lines.length}`)
    if (column !== undefined) assert.ok(column >= 1)
  }
  if (document) JSON.stringify(document)
}

const PIECES = [
  ...[
    '---',
    '----',
    '...',
    '\n',
    '\r\n',
    '\r',
    ': ',
    ':',
    ' #',
    '- ',
    '? ',
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    ',',
    '\t',
    '  ',
  ],
  ...[
    '&a',
    '*a',
    '!t',
    '!!str',
    '<<: ',
    '%YAML 1.1',
    '|',
    '>-',
    '@',
    '`',
    '~',
    'null',
    'true',
    '1e3',
    '\\',
    '\\x',
    '\0',
  ],
  ...[
    '\uFEFF',
    '\ud800',
    '🙂',
    '\u202e',
    'name',
    'description',
    'metadata',
    'openclaw',
    'requires',
    'bins',
    '__proto__',
  ],
  ...['allowed-tools', 'Bash(', ')', 'arguments', 'argument-hint', 'x', 'word'],
]
const soup = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((parts) => parts.join(''))

test('no text makes the parser throw, and every result keeps the laws', (t) => {
  const inFrontmatter = soup.map((text) => `---\nname: a\ndescription: b\n${text}\n---\nbody`)
  fc.assert(
    fc.property(fc.oneof(soup, inFrontmatter, fc.string({ unit: 'binary' })), (text) => {
      checkLaws(parseSkill(text, { path: 'p', directoryName: 'a' }), text)
    }),
    { numRuns: 1_500, seed: seedFor(t) },
  )
})

test('no bytes make the parser throw', (t) => {
  const head = Buffer.from('---\nname: a\ndescription: b\n')
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, framed) => {
      checkLaws(parseSkill(framed ? Buffer.concat([head, bytes]) : bytes, { path: 'p' }))
    }),
    { numRuns: 500, seed: seedFor(t) },
  )
})

test('what is no text at all is a diagnostic too', () => {
  for (const input of [undefined, null, 7, {}, []]) {
    const { document, diagnostics } = parseSkill(input as unknown as string, { path: 'p' })
    assert.equal(document, undefined)
    assert.equal(diagnostics[0]?.severity, 'error')
  }
})

const scalar = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('yes', 'null', '1e3', 'Use when: asked', '# no', '- a', 'two\nlines', 'a # b', ' x ', '"q" r', '\t'),
)
const value = fc.oneof(scalar, fc.integer(), fc.boolean(), fc.array(scalar, { maxLength: 3 }))

test('where the YAML library reads a mapping, every value is the same', (t) => {
  const key = fc
    .stringMatching(/^[a-z][a-z_]{0,8}$/)
    .filter((name) => !['name', 'description', 'version'].includes(name))
  const options = fc.constantFrom(
    { defaultStringType: 'PLAIN' as const },
    { defaultStringType: 'QUOTE_DOUBLE' as const },
    { defaultStringType: 'BLOCK_LITERAL' as const },
    { defaultStringType: 'BLOCK_FOLDED' as const },
  )
  fc.assert(
    fc.property(fc.dictionary(key, value, { maxKeys: 5 }), scalar, options, (extra, description, style) => {
      const yaml = stringify({ ...extra, name: 'a', description }, { ...style, lineWidth: 0 })
      fc.pre(!yaml.includes('\0') && yaml.isWellFormed() && !/^(?:---|\.\.\.)/m.test(yaml) && !yaml.includes('\r'))
      const { document } = parseSkill(`---\n${yaml}---\nbody`, { path: 'p' })
      const full = parseYaml(yaml, { version: '1.2', schema: 'core' }) as Record<string, unknown>
      assert.ok(document)
      assert.equal(document.description ?? '', String(full['description']).replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''))
      for (const name of Object.keys(extra)) assert.deepEqual(document.frontmatter[name], full[name])
    }),
    { numRuns: 600, seed: seedFor(t) },
  )
})

test('the fix of a repair, written into the file, gives the same document without the finding', (t) => {
  const word = fc.constantFrom(
    'Use when: x',
    '@a',
    '*b* c',
    '[d] e',
    '"f" g',
    '% h',
    "it's: i",
    '`j`',
    '{k} l',
    '“m: n”',
    '> o',
  )
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 3 }), (words) => {
      const broken = (description: string): string => `---\nname: a\n${description}\nlicense: MIT\n---\n`
      const first = parseSkill(broken(`description: ${words.join(' ')}`), { path: 'p' })
      const fix = first.diagnostics.find(({ code }) => code === 'yaml-repaired')?.fix
      fc.pre(fix !== undefined)
      const second = parseSkill(broken(fix.replace('Write: ', '')), { path: 'p' })
      assert.deepEqual(second.document, first.document)
      // Curly quotes are the text's own: a repair keeps them.
      const own = first.diagnostics.flatMap(({ code }) => (code === 'curly-quotes' ? [code] : []))
      assert.deepEqual(
        second.diagnostics.map(({ code }) => code),
        own,
      )
    }),
    { seed: seedFor(t) },
  )
})

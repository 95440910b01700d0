import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { escapeXml, shellWord, toSafeJson, toSafeLine, toSafeText } from '../../src/kernel/index.ts'

test('escape sequences of a terminal are removed whole', () => {
  assert.equal(toSafeLine('a\u001b[31mred\u001b[0m b'), 'ared b')
  assert.equal(toSafeLine('x\u001b]0;title\u0007y'), 'xy')
  assert.equal(toSafeLine('x\u001b]8;;http://evil\u001b\\link\u001b]8;;\u001b\\y'), 'xlinky')
})

test('bidi, zero-width and tag characters are removed', () => {
  assert.equal(toSafeLine('a\u202eb\u200bc\u{e0041}d\ufeff'), 'abcd')
})

test('a safe line holds no line break of any kind', () => {
  assert.equal(toSafeLine('a\r\nb\u2028c\u0085d\ve'), 'a b c d e')
})

test('safe text keeps its line breaks as \\n', () => {
  assert.equal(toSafeText('a\r\nb\rc'), 'a\nb\nc')
})

test('text with a lone surrogate becomes well-formed', () => {
  assert.ok(toSafeText('a\ud800b').isWellFormed())
})

test('cleaning twice changes nothing more', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const once = toSafeLine(text)
      assert.equal(toSafeLine(once), once)
    }),
  )
})

test('no safe line holds a control or an escape character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.doesNotMatch(toSafeLine(text), /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
    }),
  )
})

test('escaped text can close no tag and no attribute', () => {
  fc.assert(fc.property(fc.string(), (text) => assert.doesNotMatch(escapeXml(text), /[<>"']/)))
})

/** Format characters that are seen: signs before Arabic, Syriac and Kaithi numbers. */
const SEEN = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/gu

test('safe JSON reads back as what it was, and shows every character', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u007f', '\u009b31m', '\u202ex', '\u{e0041}', '\u2028', '\u200d'),
  )
  fc.assert(
    fc.property(fc.array(text), (values) => {
      const json = toSafeJson({ values })
      assert.deepEqual(JSON.parse(json), { values })
      assert.doesNotMatch(json.replace(SEEN, ''), /[\p{Cc}\p{Cf}\u2028\u2029]/u)
    }),
  )
})

test('safe JSON escapes DEL, alone and beside other text', () => {
  assert.equal(toSafeJson('\u007f'), '"\\u007f"')
  assert.equal(toSafeJson({ a: 'é\u007f' }), '{"a":"é\\u007f"}')
})

test('a word in a shell is one word, whatever it holds', () => {
  assert.deepEqual(['a-b/c.md', '-rf', "it's", '$(x)', ''].map(shellWord), [
    'a-b/c.md',
    "'-rf'",
    "'it'\\''s'",
    "'$(x)'",
    "''",
  ])
})

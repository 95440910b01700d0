import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { createRedactor, createStreamRedactor, redactText } from '../../src/kernel/index.ts'

const SECRET = 'sk-live/Zürich+42&x'

test('a secret is blanked as written, URL-encoded, in base64 and inside JSON text', () => {
  const redact = createRedactor([SECRET])
  const base64 = Buffer.from(SECRET).toString('base64').replace(/=+$/, '')
  const clean = redact({
    plain: `key=${SECRET}`,
    url: encodeURIComponent(SECRET),
    base64,
    deep: [{ json: JSON.stringify({ SECRET }) }],
  })
  assert.doesNotMatch(JSON.stringify(clean), /Zürich|Z%C3%BCrich/)
  assert.ok(!JSON.stringify(clean).includes(base64))
})

test('a secret used as a key of an object is blanked too', () => {
  assert.deepEqual(createRedactor([SECRET])({ [SECRET]: 1 }), { '[redacted]': 1 })
})

test('a secret that is added to the list later is blanked from then on', () => {
  const secrets: string[] = []
  const redact = createRedactor(secrets)
  assert.equal(redact(SECRET), SECRET)
  secrets.push(SECRET)
  assert.equal(redact(SECRET), '[redacted]')
})

test('short values are left alone, so that ordinary words survive', () => {
  assert.equal(createRedactor(['on'])('turn it on'), 'turn it on')
})

test('whatever surrounds a secret, the secret does not survive', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 6 }), fc.string(), (before, secret, after) => {
      fc.pre(!'[redacted]'.includes(secret) && !before.includes(secret) && !after.includes(secret))
      const clean: string = createRedactor([secret])(`${before}${secret}${after}`)
      assert.ok(!clean.includes(secret) || `${before}[redacted]${after}`.includes(secret))
    }),
  )
})

test('a secret cut into pieces does not get through a stream, and nothing else is lost', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('hunter2-', 'hunter2', '-hun', 'ter2', ' ', 'x', 'hunter2-hunter2')),
      (pieces) => {
        const stream = createStreamRedactor(['hunter2-hunter2'])
        const shown = pieces.map((piece) => stream.push(piece)).join('') + stream.end()
        assert.equal(shown, createRedactor(['hunter2-hunter2'])(pieces.join('')))
      },
    ),
  )
})

test('a secret anywhere in encoded text is blanked, in base64, base64url and hexadecimal', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 8 }), fc.string(), (before, secret, after) => {
      const redact = createRedactor([secret])
      for (const encoding of ['base64', 'base64url', 'hex'] as const) {
        const encoded = Buffer.from(`${before}${secret}${after}`).toString(encoding)
        assert.match(redact(encoded), /\[redacted\]/)
      }
    }),
  )
})

test('a secret in any number of pieces comes out as in one, whatever its beginning repeats', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 })
  const secret = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 6, maxLength: 12 })
  fc.assert(
    fc.property(fc.array(text), secret, (pieces, key) => {
      const stream = createStreamRedactor([key])
      let shown = ''
      let came = ''
      for (const piece of pieces) {
        shown += stream.push(piece)
        came += piece
        assert.ok(!shown.includes(key), 'never whole')
        assert.ok(shown.length <= createRedactor([key])(came).length, 'never ahead')
      }
      assert.ok(!(shown + stream.end()).includes(key))
    }),
  )
})

test('where text was cut off the beginning of a secret is blanked, elsewhere it is only text', () => {
  const half = `key ${SECRET.slice(0, -2)}`
  assert.equal(redactText(half, true, [SECRET]), 'key [redacted]')
  assert.equal(redactText(half, false, [SECRET]), half)
  assert.equal(redactText('key sk-', true, [SECRET]), 'key sk-')
})

test('secrets come in several lists, and each may grow', () => {
  const [known, found]: [string[], string[]] = [[SECRET], []]
  const stream = createStreamRedactor(known, found)
  found.push('second-secret')
  assert.equal(stream.push(`second-se`) + stream.push(`cret ${SECRET}`) + stream.end(), '[redacted] [redacted]')
})

test('a long secret costs no more than its length', () => {
  const secret = 'ab'.repeat(30_000)
  const stream = createStreamRedactor([secret])
  let shown = ''
  for (let at = 0; at < secret.length; at += 1000) shown += stream.push(secret.slice(at, at + 1000))
  assert.equal(shown + stream.end(), '[redacted]')
})

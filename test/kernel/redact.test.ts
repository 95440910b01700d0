import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { createRedactor, createStreamRedactor } from '../../src/kernel/index.ts'

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

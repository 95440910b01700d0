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

/** What `redactText` promises, said plainly: every place a secret covers is blank, secrets that overlap are one blank. */
function blankPlainly(text: string, secrets: readonly string[]): string {
  const ranges: [number, number][] = []
  for (let at = 0; at < text.length; at++)
    for (const secret of secrets) if (text.startsWith(secret, at)) ranges.push([at, at + secret.length])
  let clean = ''
  let shownTo = 0
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0])) {
    if (from >= shownTo) clean += `${text.slice(shownTo, from)}[redacted]`
    shownTo = Math.max(shownTo, to)
  }
  return clean + text.slice(shownTo)
}

test('a short secret that begins a longer one does not let the rest of the longer one through', () => {
  const secrets = ['abcdef', 'abcdefghijklmnop']
  const stream = createStreamRedactor(secrets)
  assert.equal(stream.push('x abcdef') + stream.push('ghijklmnop y') + stream.end(), 'x [redacted] y')
  assert.equal(redactText('x abcdefghij', true, secrets), 'x [redacted]')
  assert.equal(redactText('x abcdefghij', false, secrets), 'x [redacted]ghij')
})

test('a key of several lines comes out as one blank, line by line and character by character', () => {
  const pem = `-----BEGIN KEY-----\n${'A1b2'.repeat(16)}\nshortline012\n-----END KEY-----\n`
  for (const pieces of [pem.split(/(?<=\n)/), [...pem]]) {
    const stream = createStreamRedactor([pem])
    assert.equal(pieces.map((piece) => stream.push(piece)).join('') + stream.end(), '[redacted]')
  }
})

test('a secret that overlaps another is blanked to its end', () => {
  assert.equal(createRedactor(['abcdefgh', 'efghijklmnop'])('-abcdefghijklmnop-'), '-[redacted]-')
})

test('whatever the secrets and wherever text is cut, a stream shows what the whole text shows and holds little', () => {
  const secret = fc.string({ unit: fc.constantFrom('x', 'y', 'z'), minLength: 6, maxLength: 14 })
  const cases = fc.array(secret, { minLength: 1, maxLength: 3 }).chain((own) => {
    const parts = own.flatMap((text) => [text.slice(0, 6), text.slice(-6), text.slice(1, 8), `${text}${own[0]}`])
    const secrets = fc.subarray(
      [...own, ...parts].filter((text) => text.length >= 6),
      { minLength: 1 },
    )
    const text = fc.array(fc.constantFrom(...own, ...parts, 'x', 'yz', ' ', '-'), { maxLength: 12 })
    return fc.record({ secrets, text: text.map((all) => all.join('')), cuts: fc.array(fc.nat({ max: 9 })) })
  })
  fc.assert(
    fc.property(cases, fc.boolean(), ({ secrets, text, cuts }, isCut) => {
      const stream = createStreamRedactor(secrets)
      const longest = Math.max(...secrets.map((each) => Buffer.from(each).toString('hex').length))
      let [shown, at] = ['', 0]
      for (const size of [...cuts, text.length]) {
        shown += stream.push(text.slice(at, at + size))
        at += size
        const all = blankPlainly(text.slice(0, at), secrets)
        assert.ok(all.startsWith(shown), 'never ahead')
        // A blank is at most twice as long as what it stands for.
        assert.ok(all.length - shown.length <= 2 * longest, 'no more is held than the longest form')
      }
      assert.equal(shown + stream.end(isCut), redactText(text, isCut, secrets))
      assert.equal(redactText(text, false, secrets), blankPlainly(text, secrets))
      assert.equal(createRedactor(secrets)(text), blankPlainly(text, secrets))
    }),
    { numRuns: 1000 },
  )
})

test('what is held while a secret is being listed is found when it is whole', () => {
  const secrets = ['abcdefgh']
  const stream = createStreamRedactor(secrets)
  const before = stream.push('abcd')
  secrets.push('cdefgxyz')
  assert.equal(before + stream.push('efg') + stream.push('xyz!') + stream.end(), 'ab[redacted]!')
})

test('a megabyte in small pieces with many secrets takes moments', () => {
  const secrets = Array.from({ length: 40 }, (_, at) => `secret-number-${at}-`.repeat(3))
  const stream = createStreamRedactor(secrets)
  const startedMs = performance.now()
  let length = 0
  for (let at = 0; at < 1_000_000; at += 10) length += stream.push('secret-num').length
  assert.equal(length + stream.end().length, 1_000_000)
  assert.ok(performance.now() - startedMs < 5000)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowsHost, containsHost, deniesHost, readHostName, readHostRule } from '../../src/kernel/index.ts'

test('an entry is a name, a name with its port, subdomains of a name, or localhost with a port', () => {
  const read = (text: string): unknown => readHostRule(text)
  assert.deepEqual(read('API.GitHub.com.'), { host: 'api.github.com', port: undefined })
  assert.deepEqual(read('packages.example.com:8443'), { host: 'packages.example.com', port: 8443 })
  assert.deepEqual(read('*.example.org'), { host: '*.example.org', port: undefined })
  assert.deepEqual(read('localhost:5432'), { host: 'localhost', port: 5432 })
  assert.deepEqual(read('bücher.example'), { host: 'xn--bcher-kva.example', port: undefined })
  for (const text of [
    ...['', '*', '**.x.org', 'a.*.org', '*x.org', 'localhost', '*.localhost:1', 'a.localhost', 'intranet'],
    ...['127.0.0.1', '0x7f.1', '2130706433', '1.1', '[::1]', '::1', '10.0.0.1:80', 'https://x.org', 'x.org/a'],
    ...['user@x.org', 'x.org:0', 'x.org:65536', 'x.org:', 'x .org', 'x..org', 'x.org\u0000', 'x.org%2f', 'x_.org:1:2'],
  ])
    assert.equal(read(text), undefined, text)
})

test('a name without a port is allowed on 443 and 80, and denied on every port', () => {
  const rule = readHostRule('x.org')!
  for (const port of [443, 80]) assert.ok(allowsHost(rule, { host: 'x.org', port }))
  assert.ok(!allowsHost(rule, { host: 'x.org', port: 22 }))
  assert.ok(deniesHost(rule, { host: 'x.org', port: 22 }))
  assert.ok(!allowsHost(rule, { host: 'a.x.org', port: 443 }))
  const wide = readHostRule('*.x.org')!
  assert.ok(allowsHost(wide, { host: 'a.b.x.org', port: 443 }))
  assert.ok(!allowsHost(wide, { host: 'x.org', port: 443 }))
  assert.ok(!allowsHost(wide, { host: 'ax.org', port: 443 }))
})

test('an entry contains another when all that this one allows is allowed', () => {
  const contains = (wide: string, narrow: string): boolean => containsHost(readHostRule(wide)!, readHostRule(narrow)!)
  assert.ok(contains('x.org', 'x.org'))
  assert.ok(contains('x.org', 'x.org:443'))
  assert.ok(!contains('x.org:443', 'x.org'))
  assert.ok(contains('*.x.org', '*.a.x.org'))
  assert.ok(!contains('a.x.org', '*.x.org'))
})

test('no spelling of an address is a name', () => {
  for (const text of ['127.1', '0177.0.0.1', '0x7f000001', '①②⑦.0.0.1', '[::ffff:1.2.3.4]', 'a:b', 'a%41.org'])
    assert.equal(readHostName(text), undefined, text)
  assert.equal(readHostName('EXAMPLE.org.'), 'example.org')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostsIn } from '../../../src/skills/format/index.ts'

test('hosts are those of addresses in a text, in one spelling, without examples and half names', () => {
  const text = [
    'See https://API.GitHub.com/x and <https://docs.python.org/3/>, `curl -s https://user:pw@evil.io:8443/a`.',
    '[a](http://192.0.2.7/x) wss://[2001:db8::1]/s ssh://git@host.internal/x https://bücher.de. ftp://files.acme.dev',
    'https://example.com https://x.test http://localhost:3000 https://$HOST/x https://{host}/ https:// http://word',
    'xhttps://no.such.one javascript:alert(1) mailto:a@b.c https://api.github.com',
  ].join('\n')
  assert.deepEqual(hostsIn(text), [
    '192.0.2.7',
    '[2001:db8::1]',
    'api.github.com',
    'docs.python.org',
    'evil.io',
    'files.acme.dev',
    'host.internal',
    'xn--bcher-kva.de',
  ])
})

test('a long text of half addresses takes no long time', () => {
  const begun = performance.now()
  hostsIn('https://a@'.repeat(50_000))
  hostsIn(`https://${'a.'.repeat(200_000)}`)
  assert.ok(performance.now() - begun < 1_000)
})

/** Hostile URLs by class, with what must come of each. Nothing but the routes of the rig is dialled. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErrorCode } from '../../../src/kernel/index.ts'
import { makeRig, PUBLIC, serve, textOf } from './rig.ts'

const MAPPED = [PUBLIC, '127.0.0.1']

/** Refused before anything is dialled, and why. */
const REFUSED: Readonly<Record<string, { readonly code: ErrorCode; readonly urls: readonly string[] }>> = {
  'loopback and this machine': {
    code: 'ADDRESS_REFUSED',
    urls: [
      ...['http://localhost:8765/', 'http://foo.localhost/', 'http://LOCALHOST/', 'http://localhost./'],
      ...['http://127.0.0.1/', 'http://127.255.255.254/', 'http://[::1]/', 'https://127.0.0.1:8443/'],
    ],
  },
  'spellings of loopback that the parser of URLs understands': {
    code: 'ADDRESS_REFUSED',
    urls: [
      ...['http://2130706433/', 'http://0177.0.0.1/', 'http://0x7f.1/', 'http://0x7f000001/', 'http://017700000001/'],
      ...['http://127.1/', 'http://127.000.000.001/', 'http://127.0.0.1./', 'http://%31%32%37.0.0.1/'],
      ...[
        'http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/',
        'http://\u24dbocalhost/',
        'http://127\u30020\u30020\u30021/',
      ],
      ...['http:127.0.0.1/', 'http:/127.0.0.1/', 'http:////127.0.0.1/', 'http:\\\\127.0.0.1\\'],
    ],
  },
  'unspecified addresses': { code: 'ADDRESS_REFUSED', urls: ['http://0.0.0.0:8765/', 'http://0/', 'http://[::]/'] },
  'IPv4 inside IPv6': {
    code: 'ADDRESS_REFUSED',
    urls: [
      ...[
        'http://[::ffff:7f00:1]/',
        'http://[::ffff:127.0.0.1]/',
        'http://[::127.0.0.1]/',
        'http://[::ffff:0:7f00:1]/',
      ],
      ...['http://[64:ff9b:1::a00:1]/', 'http://[64:ff9b::7f00:1]/', 'http://[64:ff9b::a9fe:a9fe]/'],
      ...['http://[2001:0:7f00:1::]/', 'http://[2002:7f00:1::]/', 'http://[2002:a00:1::1]/'],
    ],
  },
  'special IPv6': {
    code: 'ADDRESS_REFUSED',
    urls: [
      ...['http://[fc00::1]/', 'http://[fd12:3456::1]/', 'http://[fe80::1]/', 'http://[fec0::1]/', 'http://[ff02::1]/'],
      ...['http://[2001:db8::1]/', 'http://[3fff::1]/', 'http://[100::1]/', 'http://[5f00::1]/', 'http://[4000::1]/'],
    ],
  },
  'metadata services of clouds': {
    code: 'ADDRESS_REFUSED',
    urls: [
      ...[
        'http://169.254.169.254/latest/',
        'http://169.254.170.2/',
        'http://[fd00:ec2::254]/',
        'http://100.100.100.200/',
      ],
      ...['http://168.63.129.16/', 'http://192.0.0.192/', 'http://[fd20:ce::254]/', 'http://[fd00:42::42]/'],
      ...['http://2852039166/', 'http://[::ffff:a9fe:a9fe]/'],
    ],
  },
  'private, shared and reserved IPv4': {
    code: 'ADDRESS_REFUSED',
    urls: [
      ...['http://10.0.0.1/', 'http://172.16.0.1/', 'http://172.31.255.255/', 'http://192.168.1.1/'],
      ...[
        'http://100.64.0.1/',
        'http://198.18.0.1/',
        'http://224.0.0.1/',
        'http://240.0.0.1/',
        'http://255.255.255.255/',
      ],
      ...['http://192.0.2.1/', 'http://198.51.100.1/', 'http://203.0.113.1/', 'http://192.88.99.1/'],
    ],
  },
  schemes: {
    code: 'ADDRESS_REFUSED',
    urls: [
      ...['gopher://127.0.0.1:6379/_FLUSHALL', 'data:text/html,hi', 'blob:http://a/b', 'file:///etc/passwd'],
      ...[
        'ftp://public.test/',
        'javascript:alert(1)',
        'unix:/run/docker.sock',
        'ws://public.test/',
        'view-source:http://a/',
      ],
    ],
  },
  'ports of other services': { code: 'ADDRESS_REFUSED', urls: ['http://public.test:22/', 'https://public.test:6379/'] },
  'user names and passwords': {
    code: 'INVALID_ARGUMENT',
    urls: ['http://public.test@127.0.0.1/', 'http://user:word@public.test/', 'https://:word@public.test/'],
  },
  'what is no URL, or not the one that it seems to be': {
    code: 'INVALID_ARGUMENT',
    urls: [
      ...[
        '//127.0.0.1/',
        '',
        'public.test',
        'http://',
        'http://xn--/',
        'http://\u0000127.0.0.1/',
        'ht\ntp://127.0.0.1/',
      ],
      ...['http://public.test/\r\nHost: x', 'http://public.test\t/', 'http://[fe80::1%25eth0]/', 'http://[::1/'],
      ...['http://256.1.1.1/', 'http://1.2.3.4.5/', 'http://a..b/', 'http://public.test../', 'http://-a.test/'],
      ...["http://a'b.test/", `http://${'a'.repeat(64)}.test/`, `http://${'a.'.repeat(127)}test/`],
      ...[`http://public.test/${'a'.repeat(70_000)}`, `http://public.test/${'\u20ac'.repeat(1000)}`],
    ],
  },
}

for (const [what, { code, urls }] of Object.entries(REFUSED))
  test(`${what}: refused, and nothing is looked up or dialled`, async () => {
    for (const url of urls) {
      const { net, dialled, lookedUp } = makeRig()
      await assert.rejects(net.request({ url }), { code }, url.slice(0, 80))
      assert.deepEqual([dialled, lookedUp], [[], []], url.slice(0, 80))
    }
  })

/** Answers of a resolver that refuse the name as a whole. */
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  'a private address': ['10.0.0.5'],
  'a public address and loopback': MAPPED,
  'loopback and a public address': MAPPED.toReversed(),
  'a public address and private IPv6': [PUBLIC, 'fd00::1'],
  'an IPv4-mapped address': [`::ffff:${PUBLIC}`],
  'an address with a zone': ['fe80::1%eth0'],
  'NAT64 of a private address': ['64:ff9b::10.0.0.5'],
  'a text that is not an address': ['127.1'],
}

for (const [what, addresses] of Object.entries(ANSWERS))
  test(`a name that resolves to ${what} is not contacted`, async () => {
    const { net, dialled } = makeRig({ names: { 'public.test': [addresses] } })
    await assert.rejects(net.request({ url: 'http://public.test/' }), { code: 'ADDRESS_REFUSED' })
    assert.deepEqual(dialled, [])
  })

test('a backslash before @ ends the host, for the check and for the connection', async () => {
  const { net, dialled, lookedUp } = makeRig()
  await assert.rejects(net.request({ url: 'http://public.test\\@127.0.0.1/' }), { code: 'NETWORK_FAILED' })
  assert.deepEqual([lookedUp, dialled], [['public.test'], [`${PUBLIC}:80`]])
})

test('a name is resolved once, and the address that was checked is dialled; Host stays the name', async (t) => {
  const port = await serve(t, (request, response) => response.end(request.headers.host))
  const { net, dialled, lookedUp } = makeRig({
    names: { 'rebind.test': [[PUBLIC], ['127.0.0.1']] },
    routes: { [`${PUBLIC}:80`]: port },
  })
  assert.equal(await textOf(await net.request({ url: 'http://Rebind.test./' })), 'rebind.test')
  assert.deepEqual([lookedUp, dialled], [['rebind.test'], [`${PUBLIC}:80`]])
  await assert.rejects(net.request({ url: 'http://rebind.test/' }), { code: 'ADDRESS_REFUSED' })
  assert.equal(dialled.length, 1)
})

test('the second address is dialled when the first refuses; NAT64 of a public address is allowed', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'))
  const { net, dialled } = makeRig({
    names: { 'public.test': [['64:ff9b::5db8:d822', '2606:2800:220:1::1', PUBLIC]] },
    routes: { [`${PUBLIC}:80`]: port },
  })
  assert.equal(await textOf(await net.request({ url: 'http://public.test/' })), 'ok')
  assert.deepEqual(dialled, ['[64:ff9b::5db8:d822]:80', '[2606:2800:220:1::1]:80', `${PUBLIC}:80`])
})

test('an address of this machine is refused, also a public one', async () => {
  const { net, dialled } = makeRig({ options: { ownAddresses: () => [PUBLIC, 'fe80::1%eth0'] } })
  await assert.rejects(net.request({ url: 'http://public.test/' }), { code: 'ADDRESS_REFUSED' })
  assert.deepEqual(dialled, [])
})

test('an error shows the origin only: no path, query, user name, password or address of the network', async () => {
  const { net } = makeRig({ names: { 'inner.test': [['10.1.2.3']] } })
  for (const url of ['http://inner.test/token-1234?key=word-1234', 'http://name-1234:word-1234@inner.test/'])
    await assert.rejects(net.request({ url }), ({ message, fix }: Error & { fix: string }) => {
      assert.match(message, /inner\.test/)
      assert.doesNotMatch(message + fix, /1234|10\.1\.2\.3/)
      return true
    })
})

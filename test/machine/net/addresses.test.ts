import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createAddressRule } from '../../../src/machine/net/addresses.ts'
import { makeRig } from './rig.ts'

const rule = createAddressRule([])

test('the first and last address of every special range is refused, their public neighbours are not', () => {
  const edges: Readonly<Record<string, readonly string[]>> = {
    unspecified: ['0.0.0.0', '0.255.255.255', '::'],
    loopback: ['127.0.0.0', '127.255.255.255', '::1'],
    private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255', 'fc00::'],
    'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
    'link-local': ['169.254.0.0', '169.254.255.255', 'fe80::', 'febf::1'],
    multicast: ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1'],
    benchmark: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
    documentation: ['192.0.2.255', '198.51.100.0', '203.0.113.255', '2001:db8:ffff::', '3fff:fff::1'],
    reserved: ['240.0.0.0', '255.255.255.255', '192.0.0.255', '2001:1ff::1', '4000::', '100::1', '5f00::'],
    'IPv4 inside IPv6': ['::2', '::ffff:93.184.216.34', '::ffff:0:5db8:d822', '64:ff9b:1::1'],
    '6to4': ['2002::', '192.88.99.1'],
    'not an IP address': ['', 'localhost', '127.1', '0x7f.0.0.1', '2606::1%eth0', '1.2.3.4/8', ' 1.2.3.4'],
  }
  for (const [range, addresses] of Object.entries(edges))
    for (const address of addresses) assert.equal(rule(address, false), range, address)
  const open = [
    ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
    ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0'],
    ...['198.17.255.255', '198.20.0.0', '223.255.255.255', '2000::', '2606:2800::1', '3ffe::1', '64:ff9b::5db8:d822'],
  ]
  for (const address of open) assert.equal(rule(address, false), undefined, address)
})

test('a configured origin may be private, on loopback or on this machine, but never metadata or link-local', () => {
  const own = createAddressRule(['93.184.216.34'])
  for (const address of ['127.0.0.1', '::1', '10.0.0.1', '192.168.1.1', '100.64.0.1', 'fd12::1', '93.184.216.34'])
    assert.equal(own(address, true), undefined, address)
  for (const address of ['169.254.169.254', '169.254.1.1', '100.100.100.200', 'fd00:ec2::254', 'fe80::1', '0.0.0.0'])
    assert.notEqual(own(address, true), undefined, address)
  for (const address of ['::ffff:127.0.0.1', '64:ff9b::7f00:1', '224.0.0.1'])
    assert.notEqual(own(address, true), undefined, address)
})

/** The rule again, by numbers and without the library that the source uses. */
const CLOSED_IPV4: readonly (readonly [number, number])[] = [
  ...([
    [0x00000000, 8],
    [0x0a000000, 8],
    [0x64400000, 10],
    [0x7f000000, 8],
    [0xa9fe0000, 16],
  ] as const),
  ...([
    [0xac100000, 12],
    [0xc0000000, 24],
    [0xc0000200, 24],
    [0xc0586300, 24],
    [0xc0a80000, 16],
  ] as const),
  ...([
    [0xc6120000, 15],
    [0xc6336400, 24],
    [0xcb007100, 24],
    [0xe0000000, 4],
    [0xf0000000, 4],
    [0xa83f8110, 32],
  ] as const),
]
const isClosed = (address: number): boolean =>
  CLOSED_IPV4.some(
    ([network, bits]) => Math.floor(address / 2 ** (32 - bits)) === Math.floor(network / 2 ** (32 - bits)),
  )
const dotted = (address: number): string => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')

const closeToEdges = fc
  .tuple(fc.constantFrom(...CLOSED_IPV4), fc.integer({ min: -2, max: 2 }), fc.boolean())
  .map(([[network, bits], step, atEnd]) => (network + (atEnd ? 2 ** (32 - bits) : 0) + step + 2 ** 32) % 2 ** 32)
const ipv4 = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), closeToEdges)
const hex = (group: number): string => group.toString(16)
const ipv6 = fc
  .tuple(
    fc.constantFrom(0, 0x64, 0x100, 0x2001, 0x2002, 0x2606, 0x3fff, 0xfc00, 0xfe80, 0xfec0, 0xff02),
    fc.array(fc.nat(0xffff), { minLength: 7, maxLength: 7 }),
  )
  .map(([first, rest]) => [first, ...rest].map(hex).join(':'))

test('property: of every kind of answer, only addresses that are public by an independent rule are dialled', async (t) => {
  const seed = Date.now()
  t.diagnostic(`seed ${seed}`)
  const answer = fc.oneof(
    ipv4.map(dotted),
    ipv6,
    ipv4.map((n) => `::ffff:${dotted(n)}`),
    ipv4.map((n) => `64:ff9b::${dotted(n)}`),
  )
  const isPublic = (address: string): boolean => {
    const inner = /^(?:64:ff9b::)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
    if (inner) return !isClosed(inner.slice(1).reduce((sum, part) => sum * 256 + Number(part), 0))
    const [first = 0, second = 0] = address.split(':').map((group) => Number.parseInt(group, 16))
    const isSpecial =
      first === 0x2002 ||
      (first === 0x2001 && (second < 0x200 || second === 0xdb8)) ||
      (first === 0x3fff && second < 0x1000)
    return first >= 0x2000 && first < 0x4000 && !isSpecial
  }
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 4 }), async (addresses) => {
      const { net, dialled } = makeRig({ names: { 'public.test': [addresses] } })
      await assert.rejects(net.request({ url: 'http://public.test/' }))
      const expected = addresses.every(isPublic) ? [...new Set(addresses)] : []
      assert.deepEqual(
        dialled,
        expected.map((address) => (address.includes(':') ? `[${address}]:80` : `${address}:80`)),
      )
    }),
    { seed, numRuns: 500 },
  )
})

test('property: whatever the text of the URL, only the public address of the stub is dialled', async (t) => {
  const seed = Date.now()
  t.diagnostic(`seed ${seed}`)
  const host = fc.oneof(
    ipv4.map(String),
    ipv4.map((n) => `0x${hex(n)}`),
    ipv4.map((n) => `0${n.toString(8)}`),
    ipv4.map((n) => dotted(n).replace(/^(\d+)/, (part) => `0x${hex(Number(part))}`)),
    ipv6.map((address) => `[${address}]`),
    fc.constantFrom('localhost', 'public.test', 'a.localhost', '127.1', '[::1]', '\u2460.1', '@', '\\', ''),
    fc.string({ unit: 'grapheme' }),
  )
  const url = fc
    .tuple(
      fc.constantFrom('http://', 'https://', 'http:', '//', 'HTTP:/', 'http:\\\\'),
      fc.array(host, { maxLength: 3 }),
      fc.constantFrom('', '/', ':80/', ':22', '#@', '?'),
    )
    .map(([scheme, hosts, end]) => scheme + hosts.join('') + end)
  await fc.assert(
    fc.asyncProperty(url, async (text) => {
      const { net, dialled } = makeRig()
      await assert.rejects(net.request({ url: text }), { name: 'NexusError' })
      for (const to of dialled) {
        const numbers = /^(\d+)\.(\d+)\.(\d+)\.(\d+):(?:80|443)$/.exec(to)
        if (numbers)
          assert.ok(!isClosed(numbers.slice(1).reduce((sum, part) => sum * 256 + Number(part), 0)), `${text}: ${to}`)
        else assert.match(to, /^\[(?:2[0-9a-f]{3}|3[0-9a-f]{3}|64:ff9b:):.*\]:(?:80|443)$/, text)
      }
    }),
    { seed, numRuns: 500 },
  )
})

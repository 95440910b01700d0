/** addresses: which IP addresses are public. Everything else is refused, by the special-purpose registries of IANA and lists of cloud metadata. */
import { BlockList, isIP } from 'node:net'

interface Range {
  /** Name of the range, for people. */
  readonly what: string
  readonly subnets: readonly string[]
  /** A configured origin may have an address of it. */
  readonly isConfigurable?: true
}

/** The first range that contains an address decides. */
const RANGES: readonly Range[] = [
  {
    what: 'cloud metadata',
    subnets: [
      ...['169.254.169.254/32', '169.254.170.2/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
      ...['fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:c1::a9fe:a9fe/128', 'fd00:42::42/128'],
      ...['fd00:a9fe:a9fe::1/128', 'fd00:100::100:200/128'],
    ],
  },
  { what: 'unspecified', subnets: ['0.0.0.0/8', '::/128'] },
  { what: 'loopback', subnets: ['127.0.0.0/8', '::1/128'], isConfigurable: true },
  { what: 'private', subnets: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'], isConfigurable: true },
  { what: 'carrier-grade NAT', subnets: ['100.64.0.0/10'], isConfigurable: true },
  { what: 'link-local', subnets: ['169.254.0.0/16', 'fe80::/10'] },
  { what: 'site-local', subnets: ['fec0::/10'] },
  { what: 'multicast', subnets: ['224.0.0.0/4', 'ff00::/8'] },
  { what: 'IPv4 inside IPv6', subnets: ['::/96', '::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b:1::/48'] },
  { what: 'Teredo', subnets: ['2001::/32'] },
  { what: '6to4', subnets: ['192.88.99.0/24', '2002::/16'] },
  { what: 'benchmark', subnets: ['198.18.0.0/15', '2001:2::/48'] },
  {
    what: 'documentation',
    subnets: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  },
  { what: 'reserved', subnets: ['192.0.0.0/24', '240.0.0.0/4', '2001::/23'] },
]

/** IPv6 has one block of public unicast addresses. */
const PUBLIC_IPV6 = ['2000::/3']
/** A network with NAT64 gives IPv4 servers such addresses (RFC 6052); the last 32 bits are the address that is reached. */
const NAT64 = ['64:ff9b::/96']

/** The range that refuses the address, or undefined. `isConfigured`: the user configured the origin. */
export type AddressRule = (address: string, isConfigured: boolean) => string | undefined

/** `own`: the addresses of this machine, which only a configured origin may have. */
export function createAddressRule(own: readonly string[]): AddressRule {
  const ranges = RANGES.map(({ subnets, ...range }) => ({ ...range, contains: matcher(subnets) }))
  const [isPublicIpv6, isNat64] = [matcher(PUBLIC_IPV6), matcher(NAT64)]
  const isOwn = matcher(
    own.filter((address) => isPlain(address)).map((address) => `${address}/${isIP(address) === 4 ? 32 : 128}`),
  )
  const rule: AddressRule = (address, isConfigured) => {
    if (!isPlain(address)) return 'not an IP address'
    if (isNat64(address)) return rule(embeddedIpv4(address), false)
    const range = ranges.find(({ contains }) => contains(address))
    if (range) return isConfigured && range.isConfigurable ? undefined : range.what
    if (isIP(address) === 6 && !isPublicIpv6(address)) return 'reserved'
    return isOwn(address) && !isConfigured ? 'this machine' : undefined
  }
  return rule
}

/** An address without a zone (`%eth0`), which would choose the interface. */
function isPlain(address: string): boolean {
  return isIP(address) !== 0 && !address.includes('%')
}

/** A test for subnets of the same family: `BlockList` itself also compares IPv4 with IPv4-mapped addresses. */
function matcher(subnets: readonly string[]): (address: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/')
    lists[familyOf(network)].addSubnet(network, Number(prefix), familyOf(network))
  }
  return (address) => lists[familyOf(address)].check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

/** The last two groups of a NAT64 address; `::` is somewhere before them, or takes the place of one. */
function embeddedIpv4(address: string): string {
  const [, tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = ['0', '0', ...tail.split(':').filter((group) => group !== '')].slice(-2)
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]).join('.')
}

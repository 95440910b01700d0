/** hosts: which hosts an address and a setting such as `execution.network.allowedDomains` name. Pure. */

/** One entry of a list of hosts. */
export interface HostRule {
  /** A name in ASCII and lower case, or `*.` and a name for its subdomains; `localhost` is the machine itself. */
  readonly host: string
  readonly port: number | undefined
}

/** A host and the port that somebody asked for. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** Ports of a name that is written without one. */
export const WEB_PORTS: readonly number[] = [443, 80]

const MAX_NAME_CHARS = 253
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const ENTRY = /^(\*\.)?([^*:/?#@\\\s[\]%]+)(?::(\d{1,5}))?$/

/** Reads `name`, `*.name`, `name:PORT` or `localhost:PORT`; undefined for all else, such as addresses, URLs and `*`. */
export function readHostRule(text: string): HostRule | undefined {
  const [, star = '', name = '', digits] = ENTRY.exec(text.trim()) ?? []
  const host = readHostName(name)
  const port = digits === undefined ? undefined : Number(digits)
  if (host === undefined || !isPort(port ?? 443)) return undefined
  // A name without a dot is of a local network, and an address there is never public.
  const isRight = host === 'localhost' ? star === '' && port !== undefined : /\.(?!.*\blocalhost$)/.test(host)
  return isRight ? { host: star + host, port } : undefined
}

/** The name as DNS compares it; undefined for an address in any spelling, and for what is not a name. */
export function readHostName(text: string): string | undefined {
  if (text === '' || /[\s/?#@:\\%[\]]/.test(text)) return undefined
  // The parser also reads the many spellings of an IPv4 address, such as 0x7f.1.
  const host = URL.parse(`http://${text}/`)?.hostname.replace(/\.$/, '')
  if (host === undefined || host.length > MAX_NAME_CHARS || /^[\d.]+$/.test(host)) return undefined
  return host.split('.').every((label) => LABEL.test(label)) ? host : undefined
}

/** Whether a list has all that an entry allows, and none of what is denied. */
export function listsHost(
  { allowed, denied }: { readonly allowed: readonly HostRule[]; readonly denied: readonly HostRule[] },
  wanted: HostRule,
): boolean {
  if (denied.some(({ host, port }) => coversName(host, wanted.host) && (port ?? wanted.port) === wanted.port))
    return false
  return allowed.some((rule) => containsHost(rule, wanted))
}

/** The line of nexus.yaml that lets commands of a skill reach hosts. `key` is that of its entry. */
export function networkLine(key: string, hosts: readonly string[]): string {
  const plain = (text: string): string => (/^[a-z_][\w.-]*$/i.test(text) ? text : JSON.stringify(text))
  return `skills: { entries: { ${plain(key)}: { network: [${hosts.map(plain).join(', ')}] } } }`
}

/** The entries of a list that are hosts. */
export function readHostRules(texts: readonly string[]): HostRule[] {
  return texts.map(readHostRule).filter((rule) => rule !== undefined)
}

/** In the form of a setting. */
export function shownRule({ host, port }: HostRule): string {
  return port === undefined ? host : `${host}:${port}`
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535
}

/** Whether an entry of what is allowed contains the host: without a port it means 443 and 80. */
export function allowsHost({ host, port }: HostRule, to: HostPort): boolean {
  return coversName(host, to.host) && (port === undefined ? WEB_PORTS.includes(to.port) : port === to.port)
}

/** Whether an entry of what is denied contains the host: without a port it means every port. */
export function deniesHost({ host, port }: HostRule, to: HostPort): boolean {
  return coversName(host, to.host) && (port === undefined || port === to.port)
}

/** Whether all that `narrow` allows is also allowed by `wide`. */
export function containsHost(wide: HostRule, narrow: HostRule): boolean {
  if (!coversName(wide.host, narrow.host)) return false
  const ports = narrow.port === undefined ? WEB_PORTS : [narrow.port]
  return ports.every((port) => allowsHost({ ...wide, host: narrow.host }, { host: narrow.host, port }))
}

function coversName(pattern: string, name: string): boolean {
  return pattern === name || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)))
}

/** In the form of a setting: the port only where it is not one of the web. */
export function shownHost({ host, port }: HostPort): string {
  return WEB_PORTS.includes(port) ? host : `${host}:${port}`
}

const SIMPLE_START = /^[a-z][a-z0-9+.-]*:\/\/[^/]/i

/**
 * Protocol, host and port of an address: all of it that may be shown. Undefined when these cannot be known for sure. An `@` behind
 * the authority may end a password with a slash, and then what seems to be the host is a user's name.
 */
export function hostOf(address: string): string | undefined {
  // oxlint-disable-next-line no-control-regex
  if (!SIMPLE_START.test(address) || /[\u0000-\u0020\u007f\\]/.test(address)) return undefined
  const url = URL.parse(address)
  if (!url?.host || /[/?#].*@/.test(address.slice(address.indexOf('//') + 2))) return undefined
  return `${url.protocol}//${url.host}`
}

/** True when a pattern of `CallLimits.networkDomains` contains the other: `*` is every host, `*.x` every subdomain of x, without x itself. */
export function containsDomain(pattern: string, narrow: string): boolean {
  if (pattern === narrow || pattern === '*') return true
  return pattern.startsWith('*.') && narrow !== '*' && narrow.endsWith(pattern.slice(1))
}

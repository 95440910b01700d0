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

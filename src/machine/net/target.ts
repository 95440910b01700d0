/** target: from the text of a URL to what may be looked up, checked by every rule that needs no lookup. */
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { containsDomain, hostOf, toSafeLine } from '../../kernel/index.ts'
import { invalid, refused, USE_PUBLIC } from './errors.ts'
import type { NetOptions } from './types.ts'

export interface Target {
  readonly url: URL
  /** Scheme, host and port: what is compared and what is shown. */
  readonly origin: string
  /** The name, or the address without brackets; in lower case, without a final dot. */
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** The user configured this origin. */
  readonly isConfigured: boolean
}

const MAX_URL_CHARS = 8192
const MAX_NAME_CHARS = 253
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const PORTS = [80, 443]

export interface TargetRules extends Pick<NetOptions, 'ports' | 'origins'> {
  readonly domains?: readonly string[] | undefined
}

/** `base`: the URL that redirected here. */
export function readTarget(text: string, rules: TargetRules, base?: URL): Target {
  const { ports = PORTS, origins = [], domains } = rules
  const parts = readParts(text, base)
  const isConfigured = origins.some((origin) => readOrigin(origin) === parts.origin)
  const target = { ...parts, isConfigured }
  if (domains && !domains.some((pattern) => containsDomain(inAscii(pattern), target.host)))
    throw refused(
      `Nexus did not contact ${target.host}: the allowed domains of this call do not contain it.`,
      'Use a host of an allowed domain, or add this one to the allowed domains.',
    )
  if (isConfigured) return target
  if (target.host === 'localhost' || target.host.endsWith('.localhost'))
    throw refused(`Nexus did not contact ${target.origin}: the name is for this machine only.`, USE_PUBLIC)
  if (!ports.includes(target.port))
    throw refused(
      `Nexus did not contact ${target.origin}: only the ports ${ports.join(', ')} are allowed.`,
      'Use the URL without a port.',
    )
  return target
}

/** The parts of a URL as the parser that is also used to connect reads them. */
function readParts(text: string, base?: URL): Omit<Target, 'isConfigured'> {
  const url = readUrl(text, base)
  const host = readHost(url.hostname)
  if (url.username !== '' || url.password !== '')
    throw invalid(`The URL of ${host} contains a user name or password.`, 'Remove what is before the @ of the URL.')
  const isTls = url.protocol === 'https:'
  const shownPort = url.port === '' ? '' : `:${url.port}`
  const origin = `${url.protocol}//${isIP(host) === 6 ? `[${host}]` : host}${shownPort}`
  return { url, origin, host, isTls, port: Number(url.port || (isTls ? 443 : 80)) }
}

function readUrl(text: string, base: URL | undefined): URL {
  // The parser removes some of them, and then the text and what it names differ.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw invalid('The URL contains a control character.', 'Remove line breaks, tabs and NUL from the URL.')
  const url = URL.parse(text, base?.href)
  if (Math.max(text.length, url?.href.length ?? 0) > MAX_URL_CHARS)
    throw invalid(
      `The URL has more than ${MAX_URL_CHARS} characters.`,
      'Shorten it, or send the data in the body of a POST.',
    )
  if (!url) throw invalid('The URL cannot be read.', 'Write a whole URL such as https://example.com/page.')
  if (url.protocol === 'http:' || url.protocol === 'https:') return url
  throw refused(
    `Nexus did not open the URL: it supports http and https, not ${toSafeLine(url.protocol.slice(0, -1))}.`,
    'Use an http or https URL.',
  )
}

function readHost(hostname: string): string {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const isName = host.length <= MAX_NAME_CHARS && host.split('.').every((label) => LABEL.test(label))
  if (isIP(host) === 0 && !isName)
    throw invalid('The URL was not opened: its host is not a valid name or address.', 'Correct the host of the URL.')
  return host
}

/** A configured origin in the form that is compared. */
export function readOrigin(text: string): string {
  const url = URL.parse(text)
  const isOrigin = url && /^https?:$/.test(url.protocol) && `${url.pathname}${url.search}${url.hash}` === '/'
  if (!isOrigin)
    throw invalid(
      `The allowed origin ${hostOf(text) ?? '(not shown)'} cannot be used.`,
      'Write scheme, host and port only, such as http://127.0.0.1:8888.',
    )
  return readParts(text).origin
}

/** A pattern with letters of any script in the form of the host; one that cannot be a name matches nothing. */
function inAscii(pattern: string): string {
  if (pattern === '*') return pattern
  return pattern.startsWith('*.') ? `*.${domainToASCII(pattern.slice(2)) || '/'}` : domainToASCII(pattern)
}

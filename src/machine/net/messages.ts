/** messages: every sentence about requests, one row a fault, from facts. An address is shown as its origin: paths and queries may contain secrets. */
import { type ErrorCode, NexusError, toSafeLine } from '../../kernel/index.ts'

export interface Message {
  readonly code: ErrorCode
  readonly message: string
  readonly fix: string
}

type Facts<Names extends string> = Readonly<Record<Names, string>>

const row =
  (code: ErrorCode) =>
  (message: string, fix: string): Message => ({ code, message, fix })
const invalid = row('INVALID_ARGUMENT')
const refused = row('ADDRESS_REFUSED')
const network = row('NETWORK_FAILED')
const limit = row('LIMIT_EXCEEDED')

/** Which time limit ended a request. */
export type TimeLimit = 'connectMs' | 'headersMs' | 'idleMs' | 'totalMs'
const SLOW: Readonly<Record<TimeLimit, string>> = {
  connectMs: 'it accepted no connection',
  headersMs: 'it sent no complete response headers',
  idleMs: 'it stopped sending the body',
  totalMs: 'the response was not complete',
}

const PUBLIC = 'Use a public address: this tool cannot open services of this machine or its network.'

export const MESSAGES = {
  badUrl: () => invalid('The URL cannot be read.', 'Write a whole URL such as https://example.com/page.'),
  longUrl: ({ most }: { readonly most: number }) =>
    invalid(`The URL has more than ${most} characters.`, 'Shorten it, or send the data in the body of a POST.'),
  controlInUrl: () =>
    invalid('The URL contains a control character.', 'Remove line breaks, tabs and NUL from the URL.'),
  userinfo: ({ host }: Facts<'host'>) =>
    invalid(`The URL of ${host} contains a user name or password.`, 'Remove what is before the @ of the URL.'),
  scheme: ({ scheme }: Facts<'scheme'>) =>
    refused(
      `Nexus did not open the URL: it supports http and https, not ${toSafeLine(scheme)}.`,
      'Use an http or https URL.',
    ),
  badHost: () =>
    invalid('The URL was not opened: its host is not a valid name or address.', 'Correct the host of the URL.'),
  port: ({ origin, ports }: Facts<'origin'> & { readonly ports: readonly number[] }) =>
    refused(
      `Nexus did not contact ${origin}: only the ports ${ports.join(', ')} are allowed.`,
      'Use the URL without a port.',
    ),
  domain: ({ host }: Facts<'host'>) =>
    refused(
      `Nexus did not contact ${host}: the allowed domains of this call do not contain it.`,
      'Use a host of an allowed domain, or add this one to the allowed domains.',
    ),
  localName: ({ origin }: Facts<'origin'>) =>
    refused(`Nexus did not contact ${origin}: the name is for this machine only.`, PUBLIC),
  address: ({ origin, range }: Facts<'origin' | 'range'>) =>
    refused(`Nexus did not contact ${origin}: it has an address that is not public (${range}).`, PUBLIC),
  badOrigin: ({ origin }: Facts<'origin'>) =>
    invalid(
      `The allowed origin ${origin} cannot be used.`,
      'Write scheme, host and port only, such as http://127.0.0.1:8888.',
    ),
  badHeader: ({ name }: Facts<'name'>) =>
    invalid(
      `The request was not sent: the header ${JSON.stringify(toSafeLine(name))} or its value cannot be used.`,
      'Remove the header. Nexus sets Host, Accept-Encoding, lengths and connection headers itself.',
    ),
  badMethod: () =>
    invalid('The request was not sent: its method is unsupported.', 'Use GET, HEAD, POST, PUT, PATCH or DELETE.'),
  unresolved: ({ host, reason }: Facts<'host' | 'reason'>) =>
    network(`The name ${host} could not be resolved: ${reason}.`, 'Check the spelling of the host and your DNS.'),
  unreached: ({ origin, reason }: Facts<'origin' | 'reason'>) =>
    network(
      `${origin} could not be reached: ${reason}.`,
      'Check that the server runs and that your network reaches it.',
    ),
  tls: ({ origin, reason }: Facts<'origin' | 'reason'>) =>
    network(
      `${origin} was not used: its TLS connection failed (${reason}).`,
      'Check the host of the URL. The owner of the server must renew or correct its certificate.',
    ),
  proxy: ({ origin, reason }: Facts<'origin' | 'reason'>) =>
    network(
      `The proxy did not connect Nexus to ${origin}: ${reason}.`,
      'Check the proxy variables and the rules of the proxy.',
    ),
  badProxy: () => invalid('The proxy variable cannot be used.', 'Write it as http://HOST:PORT, or https://HOST:PORT.'),
  broken: ({ origin, reason }: Facts<'origin' | 'reason'>) =>
    network(
      `The response of ${origin} cannot be used: ${reason}.`,
      'Try again. If it fails again, report it to the owner of the server.',
    ),
  encoding: ({ origin, encoding }: Facts<'origin' | 'encoding'>) =>
    network(
      `The response of ${origin} cannot be read: its encoding ${JSON.stringify(toSafeLine(encoding))} is unsupported.`,
      'Use another URL of the server. Nexus reads gzip, deflate and br.',
    ),
  badRedirect: ({ origin }: Facts<'origin'>) =>
    network(`${origin} redirects to a URL that cannot be used.`, 'Request the final URL yourself.'),
  /** Why the target of a redirect was not used, with the origin that named it. */
  redirected: ({ origin, code, message, fix }: Facts<'origin' | 'message' | 'fix'> & { readonly code: ErrorCode }) =>
    row(code)(`${message} ${origin} redirected to it.`, fix),
  downgrade: ({ origin }: Facts<'origin'>) =>
    refused(
      `Nexus did not follow a redirect of ${origin}: it leads from https to http.`,
      'Use an https URL of the target.',
    ),
  redirectedBody: ({ origin }: Facts<'origin'>) =>
    refused(
      `Nexus did not follow a redirect of ${origin}: it would send the request body to another origin.`,
      'Send the request to the final URL yourself.',
    ),
  redirects: ({ origin, most }: Facts<'origin'> & { readonly most: number }) =>
    limit(
      `The request ended at ${origin}: it was redirected more than ${most} times.`,
      'Request the final URL yourself.',
    ),
  tooLarge: ({ origin, maxBytes }: Facts<'origin'> & { readonly maxBytes: number }) =>
    limit(
      `The response of ${origin} was cut off at its limit of ${maxBytes} bytes.`,
      'Request a smaller document, or a part of it.',
    ),
  headersTooLarge: ({ origin, most }: Facts<'origin'> & { readonly most: number }) =>
    limit(
      `The response of ${origin} was refused: its headers have more than ${most} bytes.`,
      'Use another URL of the server.',
    ),
  slow: ({ origin, what, ms }: Facts<'origin'> & { readonly what: TimeLimit; readonly ms: number }) =>
    row('TIMEOUT')(
      `The request to ${origin} ended after ${ms} ms: ${SLOW[what]}.`,
      'Try again later, or raise the time limit.',
    ),
  cancelled: ({ origin }: Facts<'origin'>) =>
    row('CANCELLED')(`The request to ${origin} was cancelled.`, 'Send it again if you still need it.'),
} as const

export function netError({ code, message, fix }: Message, cause?: unknown): NexusError {
  return new NexusError(code, message, { fix, cause })
}

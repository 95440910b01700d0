/** types: what a request is, what it gives, and the two functions that reach outside. */
import type { Duplex } from 'node:stream'
import type { SecureContext } from 'node:tls'
import type { ProxySettings } from './proxy.ts'

/** One address that was checked; it is dialled as it is, without another lookup. */
export interface PinnedAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** Every address of a name, in the order of preference. */
export type Lookup = (name: string) => Promise<readonly { readonly address: string }[]>
/** Opens a TCP connection. Rejects when it fails or the signal aborts. */
export type Connect = (to: PinnedAddress & { readonly port: number }, signal: AbortSignal) => Promise<Duplex>

/** Times in milliseconds, sizes in bytes. */
export interface NetLimits {
  /** From the lookup to the finished TLS handshake, for each hop. */
  readonly connectMs: number
  /** From the sent request to the end of the response headers, for each hop. */
  readonly headersMs: number
  /** Between two parts of the body, while the caller waits for one. */
  readonly idleMs: number
  /** The whole request, redirects and body included. */
  readonly totalMs: number
  /** The body, as sent and as decoded. */
  readonly maxBytes: number
  readonly maxHeaderBytes: number
  readonly maxRedirects: number
}

export interface NetOptions {
  readonly limits?: Partial<NetLimits>
  /** Ports that a URL may have. Default: 80 and 443. */
  readonly ports?: readonly number[]
  /** Origins such as `http://127.0.0.1:8888` that the user configured: any port, and private or loopback addresses. */
  readonly origins?: readonly string[]
  /** Connections go through these proxies. Without it the variables of the environment have no effect. */
  readonly proxy?: ProxySettings
  /** Certificates (PEM) that are trusted instead of Node's list. */
  readonly ca?: string
  /** The same as what `trustedRoots` made of them once, for many connections. */
  readonly roots?: SecureContext
  readonly lookup?: Lookup
  readonly connect?: Connect
  /** The addresses of this machine, which are refused as well. Default: those of its interfaces at each request. */
  readonly ownAddresses?: () => readonly string[]
}

export interface NetRequest {
  readonly url: string
  /** Default: GET, or POST with a body. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent to the first origin. Another origin gets only Accept, Accept-Language, Range and User-Agent of them. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Hosts that this request may reach, in the form of `CallLimits.networkDomains`. Absent: every host. */
  readonly domains?: readonly string[] | undefined
  readonly signal?: AbortSignal
}

export interface NetResponse {
  readonly status: number
  /** The URL that answered, after redirects. */
  readonly url: string
  /** Names in lower case; repeated headers are joined with `, `. Cookies are dropped. */
  readonly headers: Readonly<Record<string, string>>
  /** The decoded body, once. Throws TIMEOUT, LIMIT_EXCEEDED (after the allowed part), CANCELLED or NETWORK_FAILED. */
  readonly body: AsyncIterable<Uint8Array>
  /** Ends the connection. Needed only when the body is not read. */
  close(): void
}

export interface Net {
  /** Throws `NexusError`: INVALID_ARGUMENT, ADDRESS_REFUSED, NETWORK_FAILED, TIMEOUT, LIMIT_EXCEEDED or CANCELLED. */
  request(request: NetRequest): Promise<NetResponse>
}

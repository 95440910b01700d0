/**
 * `connection`: no answer came, or it broke off. `timeout`: none came in time. `http`: the server refused the request before it
 * read it. `rpc`: the method failed. `protocol`: the answer is none of JSON-RPC to this request.
 */
export type ClientErrorKind = 'connection' | 'timeout' | 'http' | 'rpc' | 'protocol'

/** Every failure of a client. `code` is that of JSON-RPC, `status` that of HTTP, where there is one; `data` as the server gave it. */
export class ClientError extends Error {
  readonly kind: ClientErrorKind
  readonly code: number | undefined
  readonly status: number | undefined
  readonly data: unknown

  constructor(
    kind: ClientErrorKind,
    message: string,
    more: {
      readonly code?: number | undefined
      readonly status?: number | undefined
      readonly data?: unknown
      readonly cause?: unknown
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'ClientError'
    this.kind = kind
    this.code = more.code
    this.status = more.status
    this.data = more.data
  }
}

/** exchange: one request and the headers of its response, on a connection that is used once. */
import { type IncomingMessage, request as httpRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorCode, errorMessage } from '../../kernel/index.ts'
import type { Run } from './deadline.ts'
import { MESSAGES, netError } from './messages.ts'
import { reasonOf } from './resolve.ts'
import type { Target } from './target.ts'

export interface Outgoing {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

/** The response with its body unread. Its errors are kept for who reads it. */
export async function exchange(
  socket: Duplex,
  target: Target,
  { method, headers, body }: Outgoing,
  { origin, limits }: Run,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = httpRequest({
    method,
    path: `${target.url.pathname}${target.url.search}`,
    headers: { ...headers, host: hostHeader(target), ...(body && { 'content-length': String(body.length) }) },
    maxHeaderSize: limits.maxHeaderBytes,
    createConnection: () => socket,
  })
  request.on('error', reject)
  request.once('close', () => reject(new Error('the connection was closed before a response')))
  request.once('response', (response) => {
    response.on('error', () => {})
    resolve(response)
  })
  request.end(body)
  return await promise.catch((error: unknown) => {
    socket.destroy()
    if (errorCode(error) === 'HPE_HEADER_OVERFLOW')
      throw netError(MESSAGES.headersTooLarge({ origin, most: limits.maxHeaderBytes }), error)
    const reason = errorCode(error) === undefined ? errorMessage(error) : reasonOf(error)
    throw netError(MESSAGES.broken({ origin, reason }), error)
  })
}

function hostHeader({ origin }: Target): string {
  return origin.slice(origin.indexOf('//') + 2)
}

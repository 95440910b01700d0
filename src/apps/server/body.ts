/** The body of a request, within a limit. */
import type { IncomingMessage } from 'node:http'
import { type Refusal, REFUSALS } from './refusals.ts'

/** The text; invalid UTF-8 becomes U+FFFD, which no name or id has. A body that is too large is not read to its end. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | Refusal> {
  const said = Number(request.headers['content-length'] ?? 0)
  if (said > maxBytes) return REFUSALS.tooLarge
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        request.pause()
        resolve(REFUSALS.tooLarge)
      } else chunks.push(chunk)
    })
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    request.on('error', () => resolve(REFUSALS.cutOff))
    request.on('close', () => resolve(REFUSALS.cutOff))
  })
}

/** Why a POST cannot be one of JSON-RPC; undefined when it can. */
export function formProblem({ headersDistinct }: IncomingMessage): Refusal | undefined {
  const types = headersDistinct['content-type'] ?? []
  const type = types[0]?.split(';')[0]?.trim().toLowerCase()
  if (types.length !== 1 || type !== 'application/json') return REFUSALS.type
  const encoding = headersDistinct['content-encoding']?.join().toLowerCase()
  return encoding === undefined || encoding === 'identity' ? undefined : REFUSALS.encoding
}

const MAX_NAME_CHARS = 1_024
const MAX_VALUE_CHARS = 8_192
const MAX_URL_CHARS = 8_192

/** Source: contracts §1.1. Their number and sum are limits of the listener. */
export function headerProblem({ rawHeaders, url = '' }: IncomingMessage): Refusal | undefined {
  // Another form names a server too, which no check has seen.
  if (!url.startsWith('/')) return REFUSALS.notFound
  if (url.length > MAX_URL_CHARS) return REFUSALS.header
  for (let at = 0; at < rawHeaders.length; at += 2)
    if ((rawHeaders[at]?.length ?? 0) > MAX_NAME_CHARS || (rawHeaders[at + 1]?.length ?? 0) > MAX_VALUE_CHARS)
      return REFUSALS.header
  return undefined
}

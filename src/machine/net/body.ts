/** body: the decoded parts of a response, within size and time, without keeping more than one part. */
import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import { isNexusError } from '../../kernel/index.ts'
import { abortError, type Run } from './deadline.ts'
import { MESSAGES, netError } from './messages.ts'
import { reasonOf } from './resolve.ts'

/** Encodings that a request asks for; `deflate` is read as well. */
export const ACCEPTED_ENCODINGS = 'gzip, br'
const BODILESS = [204, 205, 304]

/** The decoder of a response; undefined when it has none. Throws for an encoding that is unsupported. */
export function decoderOf(response: IncomingMessage, method: string, origin: string): Transform | undefined {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase()
  if (method === 'HEAD' || BODILESS.includes(response.statusCode ?? 0)) return undefined
  if (encoding === '' || encoding === 'identity') return undefined
  if (['gzip', 'x-gzip', 'deflate'].includes(encoding)) return createUnzip()
  if (encoding === 'br') return createBrotliDecompress()
  throw netError(MESSAGES.encoding({ origin, encoding }))
}

/** Ends the connection when it ends, however it ends; `finish` is called then. */
export async function* readBody(
  response: IncomingMessage,
  decoder: Transform | undefined,
  run: Run,
  finish: () => void,
): AsyncGenerator<Uint8Array> {
  const { origin, signal, limits } = run
  try {
    const source = decoder ? decodedWithin(response, decoder, run) : response
    const parts = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    for (let size = 0; ;) {
      const { value, done } = await nextPart(parts, response, run)
      if (done) return
      const allowed = limits.maxBytes - size
      size += value.length
      if (value.length > allowed) {
        if (allowed > 0) yield value.subarray(0, allowed)
        throw tooLarge(run)
      }
      yield value
    }
  } catch (error) {
    if (signal.aborted) throw abortError(signal, origin)
    throw isNexusError(error) ? error : netError(MESSAGES.broken({ origin, reason: reasonOf(error) }), error)
  } finally {
    response.destroy()
    decoder?.destroy()
    finish()
  }
}

/** Only the time that the caller waits is limited. */
async function nextPart(
  parts: AsyncIterator<Buffer>,
  response: IncomingMessage,
  { origin, limits }: Run,
): Promise<IteratorResult<Buffer, void>> {
  const slow = netError(MESSAGES.slow({ origin, what: 'idleMs', ms: limits.idleMs }))
  const timer = setTimeout(() => response.destroy(slow), limits.idleMs)
  try {
    return await parts.next()
  } finally {
    clearTimeout(timer)
  }
}

/** The sent bytes are limited as well: compressed data can decode to nothing for ever. */
function decodedWithin(response: IncomingMessage, decoder: Transform, run: Run): Readable {
  async function* limited(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let size = 0
    for await (const part of source) {
      size += part.length
      if (size > run.limits.maxBytes) throw tooLarge(run)
      yield part
    }
  }
  pipeline(response, limited, decoder, () => {})
  return decoder
}

function tooLarge({ origin, limits }: Run): Error {
  return netError(MESSAGES.tooLarge({ origin, maxBytes: limits.maxBytes }))
}

/** body: the decoded parts of a response, within size and time, without keeping more than one part. */
import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import { isNexusError, toSafeLine } from '../../kernel/index.ts'
import { abortError, type Run, timeout } from './deadline.ts'
import { broken, exceeded, network } from './errors.ts'
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
  throw network(
    `The response of ${origin} cannot be read: its encoding ${JSON.stringify(toSafeLine(encoding))} is unsupported.`,
    'Use another URL of the server. Nexus reads gzip, deflate and br.',
  )
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
    throw isNexusError(error) ? error : broken(origin, reasonOf(error), error)
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
  run: Run,
): Promise<IteratorResult<Buffer, void>> {
  const timer = setTimeout(() => response.destroy(timeout(run, 'idleMs')), run.limits.idleMs)
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
  return exceeded(
    `The response of ${origin} was cut off at its limit of ${limits.maxBytes} bytes.`,
    'Request a smaller document, or a part of it.',
  )
}

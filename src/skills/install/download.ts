import { createNet } from '../../machine/net/index.ts'
import { isLoopback } from './locator.ts'
import type { GitAccess } from './repository.ts'
import { installError, MESSAGES } from './messages.ts'

/** Fetches a file whole. Throws NETWORK_FAILED, LIMIT_EXCEEDED. */
export async function download(
  url: string,
  { maxBytes, signal, onBytes }: Pick<GitAccess, 'signal' | 'onBytes'> & { readonly maxBytes: number },
): Promise<Uint8Array> {
  const { origin, hostname } = new URL(url)
  const net = createNet({ limits: { maxBytes }, origins: isLoopback(hostname) ? [origin] : undefined })
  const response = await net.request({ url, signal })
  if (response.status !== 200) {
    response.close()
    throw installError('NETWORK_FAILED', MESSAGES.downloadFailed(url, response.status))
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    chunks.push(chunk)
    onBytes?.((bytes += chunk.length))
  }
  return Buffer.concat(chunks)
}

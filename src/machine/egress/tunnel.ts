/** tunnel: passes the bytes of one connection on, after its first ones have named the host that was asked for. */
import type { Duplex } from 'node:stream'
import { type HostPort, WEB_PORTS } from '../../kernel/index.ts'
import { readClientHello } from './client-hello.ts'
import type { Door } from './door.ts'

/** Where a connection goes on whose first bytes are a request of HTTP: each of its requests is checked. */
export type TakesHttp = (client: Duplex, to: HostPort) => void

const REQUEST = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|PROPFIND|REPORT|MKCOL|COPY|MOVE|LOCK) /
const LONGEST_METHOD = 9

/** `upstream` is connected already. The server may speak first, save on ports of the web. */
export function tunnel(
  client: Duplex,
  upstream: Duplex,
  { to, door, takesHttp }: { readonly to: HostPort; readonly door: Door; readonly takesHttp: TakesHttp },
): void {
  const takesTls = door.terminator?.takesTls(to)
  const release = joined(client, upstream)
  if (to.host === 'localhost') {
    client.pipe(upstream)
    upstream.pipe(client)
    return
  }
  upstream.pipe(client)
  let first = Buffer.alloc(0)
  const stop = (detail?: string): void => {
    door.refuse(to, 'other-host', detail)
    client.destroy()
    upstream.destroy()
  }
  const onData = (part: Buffer): void => {
    first = Buffer.concat([first, part])
    const kind = kindOf(first, to)
    if (kind === 'more') return
    client.pause().off('data', onData)
    if (kind === 'http') {
      upstream.unpipe(client)
      release()
      upstream.destroy()
      client.unshift(first)
      takesHttp(client, to)
    } else if (kind === 'tls' && takesTls) {
      upstream.unpipe(client)
      release()
      client.unshift(first)
      takesTls(client, upstream, to)
    } else if (kind === 'tls' || kind === 'pass') {
      upstream.write(first)
      client.pipe(upstream)
    } else stop(kind.stop)
  }
  client.on('data', onData).resume()
}

/** Both ends end together, and an error of one ends the other, until the returned function parts them. */
export function joined(client: Duplex, upstream: Duplex): () => void {
  const [endClient, endUpstream] = [(): unknown => client.destroy(), (): unknown => upstream.destroy()]
  client.on('error', endUpstream)
  upstream.on('error', endClient)
  client.once('close', endUpstream)
  upstream.once('close', endClient)
  return () => {
    upstream.off('close', endClient)
    client.off('close', endUpstream)
  }
}

function kindOf(first: Buffer, { host, port }: HostPort): 'more' | 'pass' | 'tls' | 'http' | { readonly stop: string } {
  const hello = readClientHello(first)
  if (hello.type === 'more') return 'more'
  if (hello.type === 'hello') {
    if (hello.name === host) return 'tls'
    return { stop: hello.name === undefined ? 'its TLS names no host' : 'its TLS names another host' }
  }
  const start = first.toString('latin1', 0, LONGEST_METHOD + 1)
  if (REQUEST.test(start)) return 'http'
  if (first.length <= LONGEST_METHOD && /^[A-Z]+$/.test(start)) return 'more'
  return WEB_PORTS.includes(port) ? { stop: 'it is neither TLS nor HTTP' } : 'pass'
}

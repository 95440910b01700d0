/** socks: connections that a command asks for by SOCKS5 (RFC 1928), by name and without a password. */
import type { Duplex } from 'node:stream'
import { type Door, RefusedConnection } from './door.ts'
import { type TakesHttp, tunnel } from './tunnel.ts'

const VERSION = 5
const CONNECT = 1
const BY_NAME = 3
/** Lengths of the address types 1 and 4. */
const ADDRESS_BYTES: ReadonlyMap<number, number> = new Map([
  [1, 4],
  [4, 16],
])
const MAX_REQUEST_BYTES = 64 * 1024
const [SUCCEEDED, FAILED, NOT_ALLOWED, UNREACHABLE, NO_COMMAND, NO_ADDRESS_TYPE] = [0, 1, 2, 4, 7, 8]
const NO_METHOD = 0xff

export function acceptSocks(client: Duplex, door: Door, takesHttp: TakesHttp): void {
  let bytes = Buffer.alloc(0)
  let isGreeted = false
  client.on('error', () => client.destroy())
  const onData = (part: Buffer): void => {
    bytes = Buffer.concat([bytes, part])
    if (!isGreeted) {
      const length = greetingLength(bytes)
      if (length === undefined) return
      isGreeted = bytes.subarray(2, length).includes(0)
      if (!isGreeted) return void client.end(Buffer.from([VERSION, NO_METHOD]))
      client.write(Buffer.from([VERSION, 0]))
      bytes = bytes.subarray(length)
    }
    const request = bytes.length > MAX_REQUEST_BYTES ? { refusal: FAILED } : readRequest(bytes)
    if (request === undefined) return
    client.pause().off('data', onData)
    if ('refusal' in request) return reply(client, request.refusal)
    if (bytes.length > request.length) client.unshift(bytes.subarray(request.length))
    void open(client, request, { door, takesHttp })
  }
  client.on('data', onData).resume()
}

/** Undefined until the greeting is whole. */
function greetingLength(bytes: Buffer): number | undefined {
  const length = 2 + (bytes[1] ?? 0)
  return bytes.length < 2 || bytes.length < length ? undefined : length
}

interface SocksRequest {
  readonly name: string
  readonly port: number
  /** Bytes of the request. */
  readonly length: number
}

function readRequest(bytes: Buffer): SocksRequest | { readonly refusal: number } | undefined {
  if (bytes.length < 5) return undefined
  const [version, command, , type = 0, size = 0] = bytes
  if (version !== VERSION) return { refusal: FAILED }
  if (command !== CONNECT) return { refusal: NO_COMMAND }
  const addressBytes = type === BY_NAME ? size : ADDRESS_BYTES.get(type)
  if (addressBytes === undefined) return { refusal: NO_ADDRESS_TYPE }
  const start = type === BY_NAME ? 5 : 4
  const length = start + addressBytes + 2
  if (bytes.length < length) return undefined
  const address = bytes.subarray(start, start + addressBytes)
  const name = type === BY_NAME ? address.toString('latin1') : literal(address)
  return { name, port: bytes.readUInt16BE(length - 2), length }
}

/** Only for the note about its refusal. */
function literal(address: Buffer): string {
  if (address.length === 4) return [...address].join('.')
  return `[${[...Array(8).keys()].map((index) => address.readUInt16BE(index * 2).toString(16)).join(':')}]`
}

async function open(
  client: Duplex,
  { name, port }: SocksRequest,
  { door, takesHttp }: { readonly door: Door; readonly takesHttp: TakesHttp },
): Promise<void> {
  try {
    const to = door.read(name, port)
    await door.admit(to)
    const upstream = await door.dial(to)
    client.write(answerOf(SUCCEEDED))
    tunnel(client, upstream, { to, door, takesHttp })
  } catch (error) {
    const isUnreachable = error instanceof RefusedConnection && error.because === 'unreachable'
    reply(client, isUnreachable ? UNREACHABLE : NOT_ALLOWED)
  }
}

function reply(client: Duplex, code: number): void {
  client.end(answerOf(code))
}

/** The bound address is of no use to a client, so it is zero. */
function answerOf(code: number): Buffer {
  return Buffer.from([VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0])
}

/** client-hello: the name that the first message of a TLS connection asks for (RFC 8446 §4.1.2, RFC 6066 §3). Pure. */

/** `more`: the message is not whole yet. `name`: absent where the client names no host. `no`: not a ClientHello. */
export type Hello =
  | { readonly type: 'more' }
  | { readonly type: 'no' }
  | { readonly type: 'hello'; readonly name?: string }

const HANDSHAKE = 0x16
const CLIENT_HELLO = 1
const SERVER_NAME = 0
/** A ClientHello has at most a few kilobytes, also with keys that resist quantum computers. */
const MAX_HELLO_BYTES = 64 * 1024
/** So that a client which sends it byte by byte costs little. */
const MAX_RECORDS = 32
const HEADER_BYTES = 5
const MAX_RECORD_BYTES = 16_640

export function readClientHello(bytes: Buffer): Hello {
  const message = handshakeOf(bytes)
  if (message === 'more' || message === 'no') return { type: message }
  try {
    return { type: 'hello', ...nameIn(message) }
  } catch (error) {
    if (error instanceof RangeError) return { type: 'no' }
    throw error
  }
}

/** The whole first message, which may be cut into several records. */
function handshakeOf(bytes: Buffer): Buffer | 'more' | 'no' {
  const parts: Buffer[] = []
  for (let at = 0; parts.length < MAX_RECORDS;) {
    const record = recordAt(bytes, at)
    if (typeof record === 'string') return record
    parts.push(record.part)
    const message = messageIn(Buffer.concat(parts))
    if (message !== 'more') return message
    if (record.part.length < record.length) return 'more'
    at += HEADER_BYTES + record.length
  }
  return 'no'
}

/** The part of a record that is there. */
function recordAt(bytes: Buffer, at: number): { readonly part: Buffer; readonly length: number } | 'more' | 'no' {
  const [type = HANDSHAKE, major = 3] = bytes.subarray(at, at + 2)
  if (type !== HANDSHAKE || major !== 3) return 'no'
  if (bytes.length < at + HEADER_BYTES) return 'more'
  const length = bytes.readUInt16BE(at + 3)
  if (length === 0 || length > MAX_RECORD_BYTES) return 'no'
  const start = at + HEADER_BYTES
  return { part: bytes.subarray(start, start + length), length }
}

function messageIn(bytes: Buffer): Buffer | 'more' | 'no' {
  const [type = CLIENT_HELLO] = bytes
  if (type !== CLIENT_HELLO) return 'no'
  if (bytes.length < 4) return 'more'
  const end = 4 + bytes.readUIntBE(1, 3)
  if (end > MAX_HELLO_BYTES) return 'no'
  return bytes.length < end ? 'more' : bytes.subarray(4, end)
}

/** Throws RangeError where a length leads out of the message. */
function nameIn(hello: Buffer): { readonly name?: string } {
  const reader = new Reader(hello)
  reader.skip(2 + 32)
  reader.skip(reader.number(1))
  reader.skip(reader.number(2))
  reader.skip(reader.number(1))
  if (reader.isAtEnd) return {}
  const names: string[] = []
  const extensions = new Reader(reader.take(reader.number(2)))
  while (!extensions.isAtEnd) {
    const type = extensions.number(2)
    const data = extensions.take(extensions.number(2))
    if (type === SERVER_NAME) names.push(...namesOf(data))
  }
  // Two names could be read differently by the server.
  if (names.length > 1) throw new RangeError('two names')
  const [name] = names
  return name === undefined ? {} : { name }
}

function namesOf(data: Buffer): string[] {
  const list = new Reader(data)
  const entries = new Reader(list.take(list.number(2)))
  const names: string[] = []
  while (!entries.isAtEnd) {
    const type = entries.number(1)
    const value = entries.take(entries.number(2))
    if (type === 0) names.push(value.toString('latin1').toLowerCase().replace(/\.$/, ''))
  }
  return names
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  number(size: 1 | 2): number {
    return this.take(size).readUIntBE(0, size)
  }

  take(size: number): Buffer {
    const end = this.#at + size
    if (end > this.#bytes.length) throw new RangeError('it ends early')
    const part = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return part
  }

  skip(size: number): void {
    this.take(size)
  }
}

/** message-gate: keeps messages that are too long from the transport, which would end the connection for one of them. */
import { Transform, type TransformCallback } from 'node:stream'

/** The SDK's transport takes 10 MiB. */
const MAX_BYTES = 9 * 1024 * 1024
/** Where the id of a message is: SDKs write it first or last. */
const MARGIN_BYTES = 1_024
const NEW_LINE = 0x0a

/** Passes whole lines on. A longer one is dropped, and `onDropped` gets its id, where that is found at its beginning or end. */
export class MessageGate extends Transform {
  readonly #onDropped: (id: string | number | undefined) => void
  #line: Buffer[] = []
  #bytes = 0
  /** The beginning of a line that is being dropped. */
  #head: Buffer | undefined
  #tail = Buffer.alloc(0)

  constructor(onDropped: (id: string | number | undefined) => void) {
    super()
    this.#onDropped = onDropped
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, from)) {
      this.#add(chunk.subarray(from, end + 1))
      this.#endLine()
      from = end + 1
    }
    if (from < chunk.length) this.#add(chunk.subarray(from))
    done()
  }

  /** The last line may lack its end; the transport then knows what to do with it. */
  override _flush(done: TransformCallback): void {
    this.#endLine()
    done()
  }

  #add(part: Buffer): void {
    this.#bytes += part.length
    if (this.#head === undefined) this.#line.push(part)
    if (this.#bytes <= MAX_BYTES) return
    if (this.#head === undefined) {
      this.#head = Buffer.concat(this.#line).subarray(0, MARGIN_BYTES)
      this.#line = []
    }
    this.#tail = Buffer.concat([this.#tail, part.subarray(-MARGIN_BYTES)]).subarray(-MARGIN_BYTES)
  }

  #endLine(): void {
    if (this.#head === undefined) for (const part of this.#line) this.push(part)
    else this.#onDropped(idIn(this.#head.toString('utf8'), this.#tail.toString('utf8')))
    this.#line = []
    this.#bytes = 0
    this.#head = undefined
    this.#tail = Buffer.alloc(0)
  }
}

/** Before any value that has members, or as the very last member. */
function idIn(head: string, tail: string): string | number | undefined {
  const id = String.raw`"id"\s*:\s*("[^"\\]{0,200}"|-?\d{1,15})`
  const found =
    new RegExp(String.raw`^\s*\{[^{}[\]]*?${id}`).exec(head) ?? new RegExp(String.raw`${id}\s*\}\s*$`).exec(tail)
  return found?.[1] === undefined ? undefined : (JSON.parse(found[1]) as string | number)
}

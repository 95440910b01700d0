/** output: turns chunks of bytes into text as they come, up to a limit. */
import type { CommandRequest } from './sandbox.ts'

/** Collects one stream. Characters that are split between chunks stay whole; invalid bytes become U+FFFD. */
export class OutputText {
  readonly #stream: 'stdout' | 'stderr'
  readonly #maxBytes: number
  readonly #onOutput: CommandRequest['onOutput']
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #parts: string[] = []
  #bytes = 0

  constructor(stream: 'stdout' | 'stderr', options: { maxBytes: number; onOutput: CommandRequest['onOutput'] }) {
    this.#stream = stream
    this.#maxBytes = options.maxBytes
    this.#onOutput = options.onOutput
  }

  /** Takes a chunk; what is beyond the limit is counted and dropped. */
  add(chunk: Uint8Array): void {
    const room = this.#maxBytes - this.#bytes
    this.#bytes += chunk.length
    if (room > 0) this.#emit(this.#decoder.decode(chunk.subarray(0, room), { stream: true }))
  }

  /** All bytes that were added, kept or not. */
  get bytes(): number {
    return this.#bytes
  }

  /** The kept text. `totalBytes` says how much really came; a character cut by the limit is left out. */
  finish(totalBytes: number = this.#bytes): { text: string; truncated: boolean } {
    const truncated = totalBytes > this.#maxBytes
    if (!truncated) this.#emit(this.#decoder.decode())
    return { text: this.#parts.join(''), truncated }
  }

  #emit(text: string): void {
    if (text === '') return
    this.#parts.push(text)
    this.#onOutput?.({ stream: this.#stream, text })
  }
}

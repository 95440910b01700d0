/** output: turns chunks of bytes into text as they come, up to a limit. */
import type { CheckedRequest } from './request.ts'

/** Collects one stream. Characters that are split between chunks stay whole; invalid bytes become U+FFFD. */
export class OutputText {
  readonly #stream: 'stdout' | 'stderr'
  readonly #onOutput: CheckedRequest['onOutput']
  readonly #maxKeptBytes: number
  readonly #kept: Beginning
  readonly #live: Beginning
  readonly #parts: string[] = []
  #bytes = 0

  constructor(
    stream: 'stdout' | 'stderr',
    { maxOutputBytes, maxLiveBytes, onOutput }: Pick<CheckedRequest, 'maxOutputBytes' | 'maxLiveBytes' | 'onOutput'>,
  ) {
    this.#stream = stream
    this.#onOutput = onOutput
    this.#maxKeptBytes = maxOutputBytes
    this.#kept = new Beginning(maxOutputBytes)
    this.#live = new Beginning(onOutput ? maxLiveBytes : 0)
  }

  /** Takes a chunk; what is beyond the limits is counted and dropped. */
  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    this.#keep(this.#kept.add(chunk))
    this.#emit(this.#live.add(chunk))
  }

  /** All bytes that were added, kept or not. */
  get bytes(): number {
    return this.#bytes
  }

  /** The kept text. `totalBytes` says how much really came; a character cut by the limit is left out. */
  finish(totalBytes: number = this.#bytes): { text: string; truncated: boolean } {
    this.#keep(this.#kept.end(totalBytes))
    this.#emit(this.#live.end(totalBytes))
    return { text: this.#parts.join(''), truncated: totalBytes > this.#maxKeptBytes }
  }

  #keep(text: string): void {
    if (text !== '') this.#parts.push(text)
  }

  #emit(text: string): void {
    if (text !== '') this.#onOutput?.({ stream: this.#stream, text })
  }
}

/** The first bytes of a stream as text. */
class Beginning {
  readonly #maxBytes: number
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(chunk: Uint8Array): string {
    const room = this.#maxBytes - this.#bytes
    this.#bytes += chunk.length
    return room > 0 ? this.#decoder.decode(chunk.subarray(0, room), { stream: true }) : ''
  }

  end(totalBytes: number): string {
    return totalBytes > this.#maxBytes ? '' : this.#decoder.decode()
  }
}

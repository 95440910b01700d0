/** output: turns chunks of bytes into text as they come, up to a limit. */
import type { CheckedRequest } from './request.ts'

type OutputPart = 'stdout' | 'stderr'

/** The output of one command: kept for its result up to a limit, and passed on as it comes up to another. */
export class CommandOutput {
  readonly #onBytes: CheckedRequest['onBytes']
  readonly #streams: { readonly [part in OutputPart]: OutputText }

  constructor(limits: OutputLimits) {
    this.#onBytes = limits.onBytes
    this.#streams = { stdout: new OutputText('stdout', limits), stderr: new OutputText('stderr', limits) }
  }

  /** Takes a chunk; what is beyond the limits is counted and dropped. */
  add(part: OutputPart, chunk: Uint8Array): void {
    this.#onBytes?.(part, chunk)
    this.#streams[part].add(chunk)
  }

  /** The output part of a result. `totals` says how much really came, when not all of it was added. */
  finish(totals: { readonly stdoutBytes?: number; readonly stderrBytes?: number } = {}) {
    const { stdout, stderr } = this.#streams
    const { stdoutBytes = stdout.bytes, stderrBytes = stderr.bytes } = totals
    const [out, error] = [stdout.finish(stdoutBytes), stderr.finish(stderrBytes)]
    return {
      stdout: out.text,
      stderr: error.text,
      stdoutTruncated: out.truncated,
      stderrTruncated: error.truncated,
      stdoutBytes,
      stderrBytes,
    }
  }
}

type OutputLimits = Pick<CheckedRequest, 'maxOutputBytes' | 'maxLiveBytes' | 'onOutput' | 'onBytes'>

/** Collects one stream. Characters that are split between chunks stay whole; invalid bytes become U+FFFD. */
class OutputText {
  readonly #part: OutputPart
  readonly #onOutput: CheckedRequest['onOutput']
  readonly #maxKeptBytes: number
  readonly #kept: Beginning
  readonly #live: Beginning
  readonly #texts: string[] = []
  bytes = 0

  constructor(part: OutputPart, { maxOutputBytes, maxLiveBytes, onOutput }: OutputLimits) {
    this.#part = part
    this.#onOutput = onOutput
    this.#maxKeptBytes = maxOutputBytes
    this.#kept = new Beginning(maxOutputBytes)
    this.#live = new Beginning(onOutput ? maxLiveBytes : 0)
  }

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length
    const text = this.#kept.add(chunk)
    if (text !== '') this.#texts.push(text)
    this.#emit(this.#live.add(chunk))
  }

  /** The kept text; a character cut by the limit is left out. */
  finish(totalBytes: number): { text: string; truncated: boolean } {
    this.#texts.push(this.#kept.end(totalBytes))
    this.#emit(this.#live.end(totalBytes))
    return { text: this.#texts.join(''), truncated: totalBytes > this.#maxKeptBytes }
  }

  #emit(text: string): void {
    if (text !== '') this.#onOutput?.({ stream: this.#part, text })
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

import { isUtf8 } from 'node:buffer'
import { readSync } from 'node:fs'

/** How much of a file is read to find its frontmatter; real frontmatters have 200 to 1,500 bytes. */
const HEAD_BYTES = 4_096
/**
 * Frontmatters are kept side by side in blocks, outside of the JavaScript heap. A block lives as long as one of them, and a look that
 * reads a single file must not hold on to much: so the first has room for one reading, and each is twice as large as the one before.
 */
const BLOCK_BYTES = { first: HEAD_BYTES + 1, most: 262_144 }
const NO_BYTES = Buffer.alloc(0)

/** Reads the beginnings of files one after the other, each where it may stay. What is not kept is overwritten by the next. */
export class HeadBuffer {
  /** The block that holds the last head read, from `start` to `end`. One more byte behind it may be written. */
  bytes = NO_BYTES
  start = 0
  end = 0
  /** The file ends with the head. */
  isWhole = false
  private blockBytes = BLOCK_BYTES.first

  /** Reads the head of a file of a size that was just opened. Nothing may be awaited between this and `keep`. */
  read(fd: number, size: number): void {
    if (this.bytes.length - this.start <= HEAD_BYTES) this.begin()
    // From where the file is, its beginning: to name a place would be one more thing for Node to check.
    const length = readSync(fd, this.bytes, this.start, HEAD_BYTES, null)
    this.end = this.start + length
    // Behind it may be what is left of another file, which is no part of this one.
    this.bytes[this.end] = 0
    this.isWhole = length === size
  }

  /** False when the head up to an offset is no text: a NUL, or not UTF-8. */
  isText(end: number): boolean {
    const { bytes, start } = this
    const behind = bytes[end] as number
    // So that the search for a NUL ends there.
    bytes[end] = 0
    const isText = bytes.indexOf(0, start) === end && isUtf8(new Uint8Array(bytes.buffer, start, end - start))
    bytes[end] = behind
    return isText
  }

  /** Keeps the head up to an offset, and the byte after it. */
  keep(end: number): void {
    this.start = end + 1
  }

  /** A block of its own, of zeros: what some other part of the program wrote there before must not be read. */
  private begin(): void {
    this.bytes = Buffer.alloc(this.blockBytes)
    this.blockBytes = Math.min(this.blockBytes * 2, BLOCK_BYTES.most)
    this.start = 0
  }
}

import { isUtf8 } from 'node:buffer'
import { readSync } from 'node:fs'

/** How much of a file is read to find its frontmatter; real frontmatters have 200 to 1,500 bytes. */
const HEAD_BYTES = 4_096
/** Frontmatters are kept side by side in blocks of this size, outside of the JavaScript heap. */
const BLOCK_BYTES = 262_144

/** The first bytes of a file in a block. One more byte after `end` may be written. */
export interface Head {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

/** Reads the beginnings of files one after the other. What is not kept is overwritten by the next. */
export interface HeadBuffer {
  /** Nothing may be awaited between this and `keep`. */
  read(fd: number): Head
  /** Keeps the bytes of the last head up to an offset, and the one after it. */
  keep(end: number): void
}

export function createHeadBuffer(): HeadBuffer {
  // Slow: a block of its own. From the pool it would keep other buffers alive.
  let bytes = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  let used = 0
  return {
    read(fd) {
      if (used + HEAD_BYTES + 1 > bytes.length) {
        bytes = Buffer.allocUnsafeSlow(BLOCK_BYTES)
        used = 0
      }
      return { bytes, start: used, end: used + readSync(fd, bytes, used, HEAD_BYTES, 0) }
    },
    keep(end) {
      used = end + 1
    },
  }
}

/** False when the bytes are no text: a NUL, or not UTF-8. */
export function isText(bytes: Buffer, start: number, end: number): boolean {
  const view = bytes.subarray(start, end)
  return isUtf8(view) && !view.includes(0)
}

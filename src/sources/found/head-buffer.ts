import { isUtf8 } from 'node:buffer'
import { readSync } from 'node:fs'

/** How much of a file is read to find its frontmatter; real frontmatters have 200 to 1,500 bytes. */
const HEAD_BYTES = 4_096
/**
 * Frontmatters are kept side by side in blocks, outside of the JavaScript heap. A block lives as long as one of them, and a look that
 * reads a single file must not hold on to much: so the first is small, and each is twice as large as the one before.
 */
const BLOCK_BYTES = { first: 2_048, most: 262_144 }
const BLANK = 32
const NO_BYTES = Buffer.alloc(0)

/** Where the bytes of a head are kept: byte `n` of the file is byte `n + shift` of the block. */
export interface KeptHead {
  readonly bytes: Buffer
  readonly shift: number
}

/** Reads the beginnings of files one after the other. What is not kept is overwritten by the next. */
export interface HeadBuffer {
  /** The last head read, from byte 0. One more byte behind it may be written. */
  readonly bytes: Buffer
  /** How many bytes were read. Nothing may be awaited between this and `keep`. */
  read(fd: number): number
  /** False when the first `length` bytes of the head are no text: a NUL, or not UTF-8. */
  isText(length: number): boolean
  /** Keeps the bytes of the head up to an offset, and the one after it. */
  keep(end: number): KeptHead
}

export function createHeadBuffer(): HeadBuffer {
  // One buffer for all, because a view on a part of one costs more than reading a file.
  const bytes = Buffer.allocUnsafeSlow(HEAD_BYTES + 1)
  let blockBytes = BLOCK_BYTES.first
  let block = NO_BYTES
  let used = 0
  return {
    bytes,
    read: (fd) => readSync(fd, bytes, 0, HEAD_BYTES, 0),
    isText(length) {
      bytes.fill(BLANK, length)
      return isUtf8(bytes) && !bytes.includes(0)
    },
    keep(end) {
      if (used + end + 1 > block.length) {
        // Slow: a block of its own. From the pool it would keep other buffers alive.
        block = Buffer.allocUnsafeSlow(Math.max(blockBytes, end + 1))
        blockBytes = Math.min(blockBytes * 2, BLOCK_BYTES.most)
        used = 0
      }
      bytes.copy(block, used, 0, end + 1)
      const kept = { bytes: block, shift: used }
      used += end + 1
      return kept
    },
  }
}

import { hash } from 'node:crypto'
import { closeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { openRoot } from '../files/beneath.ts'
import { readInto } from '../files/open.ts'
import { sha256 } from './sha256.ts'

/** Up to here our own sum takes less time than loading Node's. */
const OWN_BYTES = 16_384

/** sha256 (hex) of a file's bytes as they are now, or empty when it cannot be read as a regular file of at most `maxBytes`. */
export function fileDigest(path: string, maxBytes: number): string {
  try {
    const directory = openRoot(dirname(path))
    try {
      const { fd, stats } = directory.file(basename(path))
      try {
        if (stats.size > maxBytes) return ''
        const bytes = new Uint8Array(stats.size + 1)
        const read = bytes.subarray(0, readInto(fd, bytes))
        return read.length <= OWN_BYTES ? sha256(read) : hash('sha256', read, 'hex')
      } finally {
        closeSync(fd)
      }
    } finally {
      directory.close()
    }
  } catch {
    // Gone, closed to us, or a link by now: it has no digest any more. Loading the skill says why.
    return ''
  }
}

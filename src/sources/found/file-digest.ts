import { closeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type FileStamp, sha256 } from '../../kernel/index.ts'
import { openRoot } from '../files/beneath.ts'
import { readInto, stampOf } from '../files/open.ts'

/** A digest, and the file that it was made of. */
export interface FileDigest {
  /** sha256, hex. */
  readonly digest: string
  readonly stamp: FileStamp
}

/** The digest of a file's bytes as they are now, or undefined when it cannot be read as a regular file of at most `maxBytes`. */
export function fileDigest(path: string, maxBytes: number): FileDigest | undefined {
  try {
    const directory = openRoot(dirname(path))
    try {
      const { fd, stats } = directory.file(basename(path))
      try {
        if (stats.size > maxBytes) return undefined
        const bytes = new Uint8Array(stats.size + 1)
        const digest = sha256(bytes.subarray(0, readInto(fd, bytes)))
        return { digest, stamp: stampOf(stats) }
      } finally {
        closeSync(fd)
      }
    } finally {
      directory.close()
    }
  } catch {
    // Gone, closed to us, or a link by now: it has no digest any more. Loading the skill says why.
    return undefined
  }
}

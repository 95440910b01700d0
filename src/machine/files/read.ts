import { closeSync, readlinkSync, type Stats } from 'node:fs'
import { FileError, tooLarge } from './errors.ts'
import { kindOf, openAnyWithoutWaiting, type OpenedFile, readInto } from './open.ts'
import { createPace, type Pace } from './pace.ts'

const CHUNK_BYTES = 1_048_576

/** The bytes of an open file, in slices. `path` is for the message. Throws EFBIG when there are more than `maxBytes`. */
export async function readAll(
  { fd, stats }: OpenedFile,
  path: string,
  { maxBytes, pace = createPace() }: { readonly maxBytes: number; readonly pace?: Pace },
): Promise<Uint8Array> {
  if (stats.size > maxBytes) throw tooLarge(path, stats.size, maxBytes)
  const chunks: Uint8Array[] = []
  let total = 0
  for (;;) {
    // One byte more than the file says, so that its end is seen without another round.
    const chunk = new Uint8Array(Math.max(1, Math.min(CHUNK_BYTES, Math.max(0, stats.size - total) + 1)))
    const count = readInto(fd, chunk, { position: total })
    total += count
    if (total > maxBytes) throw tooLarge(path, total, maxBytes)
    chunks.push(chunk.subarray(0, count))
    if (count < chunk.length) return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks)
    const pause = pace()
    if (pause) await pause
  }
}

/** A small file as it was at one moment, with what it is and where it is without links (undefined where the system does not say). */
export interface SmallFile {
  readonly bytes: Uint8Array
  readonly stats: Stats
  readonly realPath: string | undefined
}

/**
 * Reads a file of ours by its path, following links; what it is, how large and whose are facts of the file that is read. Never waits on a
 * FIFO or terminal. Throws FileError: ENXIO for what is not a regular file, EFBIG for more than `maxBytes`, else the code of the system.
 */
export function readSmall(path: string, { maxBytes }: { readonly maxBytes: number }): SmallFile {
  const { fd, stats } = openAnyWithoutWaiting(path)
  try {
    if (!stats.isFile()) throw new FileError('ENXIO', path, { detail: kindOf(stats) })
    const buffer = new Uint8Array(Math.min(stats.size, maxBytes) + 1)
    const length = readInto(fd, buffer)
    if (length > maxBytes) throw tooLarge(path, stats.size, maxBytes)
    return { bytes: buffer.subarray(0, length), stats, realPath: pathOf(fd) }
  } finally {
    closeSync(fd)
  }
}

function pathOf(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    // No /proc here: the caller asks by path.
    return undefined
  }
}

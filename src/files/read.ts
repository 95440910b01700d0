import { FileError } from './errors.ts'
import { MESSAGES } from './messages.ts'
import { type OpenedFile, readInto } from './open.ts'
import { createPace, type Pace } from './pace.ts'

const CHUNK_BYTES = 1_048_576

/** The bytes of an open file, in slices. `path` is for the message. Throws EFBIG when there are more than `maxBytes`. */
export async function readAll(
  { fd, stats }: OpenedFile,
  path: string,
  { maxBytes, pace = createPace() }: { readonly maxBytes: number; readonly pace?: Pace },
): Promise<Uint8Array> {
  const tooLarge = (size: number): FileError =>
    new FileError('EFBIG', path, { detail: MESSAGES.tooLarge(size, maxBytes) })
  if (stats.size > maxBytes) throw tooLarge(stats.size)
  const chunks: Uint8Array[] = []
  let total = 0
  for (;;) {
    // One byte more than the file says, so that its end is seen without another round.
    const chunk = new Uint8Array(Math.max(1, Math.min(CHUNK_BYTES, Math.max(0, stats.size - total) + 1)))
    const count = readInto(fd, chunk, { position: total })
    total += count
    if (total > maxBytes) throw tooLarge(total)
    chunks.push(chunk.subarray(0, count))
    if (count < chunk.length) return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks)
    const pause = pace()
    if (pause) await pause
  }
}

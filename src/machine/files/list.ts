import { type Dir, type Dirent, opendirSync, readdirSync, statSync } from 'node:fs'
import { asFileError, type Directory } from './directory.ts'
import { nameOf } from './names.ts'
import { createPace, type Pace } from './pace.ts'

const BATCH = 256

/** Kind of an entry. `other` is a FIFO, a socket or a device. */
export type Kind = 'file' | 'directory' | 'link' | 'other'

/** An entry of a directory as it was listed. */
export interface Named {
  readonly name: string
  readonly kind: Kind
}

export interface ListOptions {
  readonly max?: number
  readonly pace?: Pace
}

/** Entries of a directory in the order of the system. `isComplete` is false when there are more than `max`. Throws FileError. */
export async function listNames(
  directory: Directory,
  { max = Infinity, pace = createPace() }: ListOptions = {},
): Promise<{ entries: Named[]; isComplete: boolean }> {
  const entries: Named[] = []
  const attempt = <T>(step: () => T): T => {
    try {
      return step()
    } catch (error) {
      throw asFileError(error, directory.path, directory.place)
    }
  }
  const open = attempt(() =>
    opendirSync(directory.place as string, { encoding: 'buffer' as BufferEncoding, bufferSize: BATCH }),
  )
  try {
    directory.checkPlace()
    for (;;) {
      // Declared for texts only; with the encoding `buffer` the name is one.
      const entry = attempt(() => (open as Dir).readSync() as Dirent<Buffer> | null)
      if (entry === null) return { entries, isComplete: true }
      if (entries.length >= max) return { entries, isComplete: false }
      entries.push({ name: nameOf(entry.name), kind: kindOfEntry(entry) })
      if (entries.length % BATCH === 0) {
        const pause = pace()
        if (pause) await pause
      }
    }
  } finally {
    open.closeSync()
  }
}

export function kindOfEntry(entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): Kind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

/** The names in a directory by its path; none where it is absent or closed to us. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** True for a directory, also through a link; false for what is absent or out of reach. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

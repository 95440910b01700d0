import { opendirSync, readdirSync, statSync } from 'node:fs'
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
  // One character is one byte then, which costs half of what buffers cost.
  const open = attempt(() => opendirSync(directory.place as string, { encoding: 'latin1', bufferSize: BATCH }))
  try {
    directory.checkPlace()
    for (;;) {
      const entry = attempt(() => open.readSync())
      if (entry === null) return { entries, isComplete: true }
      if (entries.length >= max) return { entries, isComplete: false }
      entries.push({ name: nameIn(entry.name), kind: kindOfEntry(entry) })
      if (entries.length % BATCH === 0) {
        const pause = pace()
        if (pause) await pause
      }
    }
  } finally {
    open.closeSync()
  }
}

function nameIn(latin1: string): string {
  return /^[ -~]*$/.test(latin1) ? latin1 : nameOf(Buffer.from(latin1, 'latin1'))
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

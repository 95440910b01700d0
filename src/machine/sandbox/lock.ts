/** lock: changes of a workspace are checked and made by one owner at a time, also across processes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { FileError } from '../files/index.ts'

/** Longer than a command may take to come back. */
const MAX_WAIT_MS = 660_000
const POLL_MS = 5
const SQLITE_BUSY = 5

/** How long an owner waits for its turn. */
interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  readonly maxWaitMs?: number
}

/**
 * Waits for the lock of a file, which is made, and does work under it. SQLite has the system lock the file: the lock excludes other owners
 * in this process too, and ends with the process. Throws FileError EBUSY at the end of the wait, or the signal's reason.
 */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  { signal, maxWaitMs = MAX_WAIT_MS }: WaitOptions = {},
): Promise<T> {
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    const until = performance.now() + maxWaitMs
    while (!isTaken(() => database.exec('begin immediate'))) {
      signal?.throwIfAborted()
      if (performance.now() > until) throw new FileError('EBUSY', file)
      await sleep(POLL_MS)
    }
    return await work()
  } finally {
    database.close()
  }
}

function isTaken(begin: () => void): boolean {
  try {
    begin()
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false
    throw error
  }
}

import { errorCode, errorMessage, isNexusError, NexusError } from '../../kernel/index.ts'

/** SQLite's primary result codes that mean something to a person. */
const CODE = { busy: 5, locked: 6, io: 10, corrupt: 11, full: 13, notDatabase: 26 }

/** Turns a failure of SQLite or of the file system into STORE_FAILED that names the file and what to do. */
export function toStoreError(path: string, error: unknown): NexusError {
  if (isNexusError(error)) return error
  const { problem, fix } = explain(path, error)
  return new NexusError('STORE_FAILED', `The state file ${path} ${problem}: ${errorMessage(error)}.`, {
    fix,
    cause: error,
  })
}

/** True for the error of `toStoreError` when another process holds a lock. */
export function isBusy(error: unknown): boolean {
  const code = error instanceof Error ? primaryCode(error.cause) : undefined
  return code === CODE.busy || code === CODE.locked
}

/** SQLite's own code, or the name of a failure of the file system. */
function primaryCode(error: unknown): number | string | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' ? code & 0xff : errorCode(error)
}

/** The failure of a file that holds something Nexus did not write. */
export function damagedFile(path: string, cause?: unknown): NexusError {
  const what = 'is damaged; nothing in it was changed'
  return new NexusError('STORE_FAILED', `The state file ${path} ${what}.`, { fix: moveAway(path), cause })
}

function explain(path: string, error: unknown): { problem: string; fix: string } {
  switch (primaryCode(error)) {
    case CODE.corrupt:
    case CODE.notDatabase:
      return { problem: 'is damaged; nothing in it was changed', fix: moveAway(path) }
    case CODE.busy:
    case CODE.locked:
      return {
        problem: 'is in use by another process that does not let go',
        fix: `Find the process with "fuser ${path}" and end it, then try again.`,
      }
    case CODE.full:
    case 'ENOSPC':
    case 'EDQUOT':
      return {
        problem: 'cannot grow: the disk is full',
        fix: 'Free some space and try again; everything recorded before is kept.',
      }
    case CODE.io:
      return {
        problem: 'could not be read or written',
        fix: 'Check the disk and its free space; everything recorded before is kept.',
      }
    default:
      return {
        problem: 'cannot be used',
        fix: `Give this user write access to ${path} and its directory, or name another one with NEXUS_STATE_DIR.`,
      }
  }
}

function moveAway(path: string): string {
  return `Move it away together with ${path}-wal and ${path}-shm and start again with an empty one, or put a backup in its place.`
}

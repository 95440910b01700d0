import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { errorCode, makeDirectory, NexusError } from '../../kernel/index.ts'
import { isBusy, toStoreError } from './store-error.ts'

/** One row as SQLite gives it: an object without a prototype. */
export type Row = Record<string, SQLOutputValue>
export type Values = Record<string, SQLInputValue>

/** An open state file. Every failure is a `NexusError` STORE_FAILED that names the file. */
export interface Connection {
  readonly path: string
  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, values?: Values): number
  get(sql: string, values?: Values): Row | undefined
  all(sql: string, values?: Values): Row[]
  /** Runs `work` in one write transaction: all of it is durable afterwards, or nothing happened. Do not nest. */
  transaction<T>(work: () => T): T
  close(): void
}

/** What the tables are read and written with: one file, one project. */
export interface Scope {
  readonly connection: Connection
  readonly projectId: string
  readonly now: () => number
  readonly owner: string
}

/** How long a writer waits for another process: writes take milliseconds, so this long means something is stuck. */
const BUSY_TIMEOUT_MS = 5_000
const WAL_ATTEMPTS = 50

/** Opens the file with a write-ahead log and full synchronisation; makes file and directories when they are missing. */
export async function openConnection(file: string): Promise<Connection> {
  const path = resolve(file)
  const guard = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw toStoreError(path, error)
    }
  }
  const { DatabaseSync } = await import('node:sqlite')
  const database = guard(() => {
    createPrivateFile(path)
    return new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true, defensive: true })
  })
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    if (!database.isOpen) {
      const fix = 'Open a store of its own for work that goes on after close().'
      throw new NexusError('STORE_FAILED', `The store over ${path} is closed.`, { fix })
    }
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  const run = (sql: string, values: Values = {}): number => guard(() => Number(prepare(sql).run(values).changes))
  const connection: Connection = {
    path,
    run,
    get: (sql, values = {}) => guard(() => prepare(sql).get(values)),
    all: (sql, values = {}) => guard(() => prepare(sql).all(values)),
    transaction(work) {
      run('begin immediate')
      try {
        const result = work()
        run('commit')
        return result
      } catch (error) {
        if (database.isOpen && database.isTransaction) run('rollback')
        throw error
      }
    },
    close() {
      statements.clear()
      if (database.isOpen) guard(() => database.close())
    },
  }
  try {
    await useWriteAheadLog(connection)
  } catch (error) {
    connection.close()
    throw error
  }
  return connection
}

/** Switching the file to WAL needs it alone for a moment and does not wait for others by itself, so it is tried again. */
async function useWriteAheadLog(connection: Connection): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      connection.get('pragma journal_mode = wal')
      break
    } catch (error) {
      if (!isBusy(error) || attempt === WAL_ATTEMPTS) throw error
      await delay(20)
    }
  }
  connection.run('pragma synchronous = full')
  // macOS only: its plain fsync leaves data in the drive's cache.
  connection.run('pragma fullfsync = on')
  connection.run('pragma checkpoint_fullfsync = on')
  connection.run('pragma trusted_schema = off')
}

/**
 * Makes the file before SQLite does, for the mode: the log beside it gets the same. An existing file is not opened here:
 * closing any handle on it would drop the locks that other connections of this process hold.
 */
function createPrivateFile(path: string): void {
  const directory = dirname(path)
  const firstCreated = makeDirectory(directory, { mkdirSync, statSync, mode: 0o700 })
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return
    throw error
  }
  // The new names must survive loss of power too, or the acknowledged rows have no file.
  const last = firstCreated === undefined ? directory : dirname(firstCreated)
  for (let current = directory; ; current = dirname(current)) {
    syncDirectory(current)
    if (current === last || current === dirname(current)) return
  }
}

function syncDirectory(path: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

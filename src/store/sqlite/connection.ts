import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, errorCode, makeDirectory, systemClock } from '../../kernel/index.ts'
import { MESSAGES } from '../messages.ts'
import { storeError } from '../rules.ts'
import type { Schema } from '../sql/migrate.ts'
import type { Connection, Statements, Values } from '../sql/scope.ts'
import { damagedFile, isBusy, toStoreError } from './store-error.ts'

/** Marks the file as ours in its header: "NXSK". */
const APPLICATION_ID = 0x4e58534b

export const SQLITE_SCHEMA: Schema = {
  dialect: {
    isSqlite: true,
    counter: 'integer primary key autoincrement',
    identity: 'integer primary key',
    integer: 'integer',
    strict: ' strict',
  },
  async version(statements) {
    // Tables first: another process may make them, with the mark, between the two statements.
    if ((await statements.get('select count(*) as tables from sqlite_schema'))?.tables === 0) return 0
    const isOurs = (await statements.get('pragma application_id'))?.application_id === APPLICATION_ID
    const path = String((await statements.get('pragma database_list'))?.file)
    if (!isOurs) throw storeError('STORE_FAILED', MESSAGES.foreignDatabase({ path }))
    return Number((await statements.get('select max(version) as version from migrations'))?.version ?? 0)
  },
  // Its transactions are one after the other.
  lock: () => Promise.resolve(),
  async mark(tx) {
    await tx.run(`pragma application_id = ${APPLICATION_ID}`)
  },
}

/** How long a writer waits for another one: writes take milliseconds, so this long means something is stuck. */
const BUSY_MS = 5_000
const LONGEST_PAUSE_MS = 20
/** How long changes may follow each other before the event loop has a turn. */
const LONGEST_RUN_MS = 5
/** SQLite's name for a database that is in memory only. */
const MEMORY = ':memory:'

/**
 * Opens the file with a write-ahead log and full synchronisation; makes file and directories when they are missing.
 * `:memory:` opens a database of its own in memory.
 * SQLite runs in this process, so its clock is `clock`. What is called meanwhile waits until a transaction has ended.
 */
export async function openConnection(file: string, clock: Clock = systemClock): Promise<Connection> {
  const path = file === MEMORY ? file : resolve(file)
  const guard = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw toStoreError(path, error)
    }
  }
  const { DatabaseSync } = await import('node:sqlite')
  const database = guard(() => {
    if (path !== MEMORY) createPrivateFile(path)
    return new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: true, defensive: true })
  })
  const prepared = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    if (!database.isOpen) throw storeError('STORE_FAILED', MESSAGES.storeClosed({ path }))
    const statement = prepared.get(sql) ?? database.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }
  const bind = (sql: string, values: Values): Values =>
    sql.includes(':now') ? { ...values, now: Math.trunc(clock.now()) } : values
  const direct: Statements = {
    run: async (sql, values = {}) => guard(() => Number(prepare(sql).run(bind(sql, values)).changes)),
    get: async (sql, values = {}) => guard(() => prepare(sql).get(bind(sql, values))),
    all: async (sql, values = {}) => guard(() => prepare(sql).all(bind(sql, values))),
  }
  let last: Promise<unknown> = Promise.resolve()
  const yieldWhenDue = createYield()
  const inTurn = <T>(work: () => T | Promise<T>): Promise<T> => {
    const result = last.then(yieldWhenDue).then(work)
    last = result.catch(() => {})
    return result
  }
  const connection: Connection = {
    run: (sql, values) => inTurn(() => waitForOthers(() => direct.run(sql, values))),
    get: (sql, values) => inTurn(() => waitForOthers(() => direct.get(sql, values))),
    all: (sql, values) => inTurn(() => waitForOthers(() => direct.all(sql, values))),
    transaction: (work, ending = () => []) =>
      inTurn(async () => {
        await waitForOthers(() => direct.run('begin immediate'))
        try {
          const result = await work(direct)
          for (const { sql, values } of ending()) await direct.run(sql, values)
          await direct.run('commit')
          return result
        } catch (error) {
          if (database.isOpen && database.isTransaction) await direct.run('rollback')
          throw error
        }
      }),
    damaged: (cause) => damagedFile(path, cause),
    description: {
      database: `state file ${path}`,
      elsewhere: 'name another directory with NEXUS_STATE_DIR',
      anew: `Move ${path}* to another directory, then try again: Nexus makes a new one.`,
    },
    close: () =>
      inTurn(() => {
        prepared.clear()
        if (database.isOpen) guard(() => database.close())
      }),
  }
  try {
    if (path !== MEMORY) await useWriteAheadLog(connection)
  } catch (error) {
    await connection.close()
    throw error
  }
  return connection
}

/** SQLite answers at once, so that a queue of changes would go on without a turn of the event loop: timers and sockets would wait. */
function createYield(): () => Promise<void> | undefined {
  let since: number | undefined
  return () => {
    if (since === undefined) {
      since = performance.now()
      setImmediate(() => (since = undefined))
      return undefined
    }
    return performance.now() - since > LONGEST_RUN_MS ? new Promise((resolve) => setImmediate(resolve)) : undefined
  }
}

/** Tries a statement outside of a transaction again while another connection writes. SQLite's own wait would stop the event loop. */
async function waitForOthers<T>(statement: () => Promise<T>): Promise<T> {
  const end = performance.now() + BUSY_MS
  for (let pause = 1; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await statement()
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error
      await delay(pause)
    }
  }
}

async function useWriteAheadLog(connection: Connection): Promise<void> {
  // Reads only: the file of another program is refused before anything is written to it.
  await SQLITE_SCHEMA.version(connection)
  await connection.get('pragma journal_mode = wal')
  await connection.run('pragma synchronous = full')
  // macOS only: its plain fsync leaves data in the drive's cache.
  await connection.run('pragma fullfsync = on')
  await connection.run('pragma checkpoint_fullfsync = on')
  await connection.run('pragma trusted_schema = off')
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

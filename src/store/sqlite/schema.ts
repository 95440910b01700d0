import { MESSAGES } from '../messages.ts'
import { storeError } from '../rules.ts'
import type { Schema } from '../sql/migrate.ts'

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

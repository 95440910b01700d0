import type { Target } from '../database.ts'
import { POSTGRES } from '../messages.ts'
import { storeError } from '../rules.ts'
import type { Schema } from '../sql/migrate.ts'

/** Migrations of one database wait for each other with it: "NXSK". */
const MIGRATION_LOCK = 0x4e58534b

/** The tables are in a schema named `nexus`, so that another program's tables in the same database are never met. */
export function postgresSchema(target: Target): Schema {
  return {
    dialect: {
      isSqlite: false,
      counter: 'bigint generated always as identity primary key',
      identity: 'bigint generated always as identity primary key',
      integer: 'bigint',
      strict: '',
    },
    async version(statements) {
      const facts = await statements.get(`select current_setting('server_encoding') as encoding,
        to_regclass('nexus.migrations')::text as migrations,
        (select count(*) from pg_catalog.pg_tables where schemaname = 'nexus') as tables`)
      const encoding = String(facts?.encoding)
      if (encoding !== 'UTF8') throw storeError('STORE_FAILED', POSTGRES.notUtf8({ ...target, encoding }))
      if (facts?.migrations === null && facts.tables === 0) return 0
      if (facts?.migrations === null) throw storeError('STORE_FAILED', POSTGRES.foreignSchema(target))
      return Number((await statements.get('select max(version) as version from nexus.migrations'))?.version ?? 0)
    },
    async lock(tx) {
      await tx.get(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    },
    async mark(tx) {
      await tx.run('create schema if not exists nexus')
    },
  }
}

/** schema: how a Postgres database keeps the schema, and what state it is in. */
import type { StoreStatus, Target } from '../database.ts'
import { POSTGRES } from '../messages.ts'
import { storeError } from '../rules.ts'
import type { Schema } from '../sql/migrate.ts'
import type { Connection, Statements } from '../sql/scope.ts'
import { readStatus } from '../sql/status.ts'
import type { PostgresStoreOptions } from '../store.ts'
import { statementsOf } from './connection.ts'
import { type Connections, openPool, POOL_LIMITS } from './pool.ts'
import { reported } from './store-error.ts'

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

/** A connection for the schema: no project, and no second attempt, so that a wrong address is reported at once. */
export function plainConnection(connections: Connections): Connection {
  const { target } = connections
  const direct = <T>(work: (statements: Statements) => Promise<T>): Promise<T> =>
    connections.use((query) => work(statementsOf(query, undefined)))
  return {
    run: (sql, values) => direct((statements) => statements.run(sql, values)),
    get: (sql, values) => direct((statements) => statements.get(sql, values)),
    all: (sql, values) => direct((statements) => statements.all(sql, values)),
    transaction: (work) =>
      connections.use(async (query) => {
        await query('begin; set local statement_timeout = 0')
        try {
          const result = await work(statementsOf(query, undefined))
          await query('commit')
          return result
        } catch (error) {
          await query('rollback').catch(() => {})
          throw error
        }
      }),
    damaged: (cause) => storeError('STORE_FAILED', POSTGRES.damaged(target), cause),
    description: POSTGRES.description(target),
    close: () => connections.close(),
  }
}

const FACTS = `select current_setting('server_version') as version,
  (select coalesce(sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass)), 0)::bigint
    from pg_catalog.pg_tables where schemaname = 'nexus') as bytes`

/** See `storeStatus`. */
export async function postgresStatus({ url, pool }: Pick<PostgresStoreOptions, 'url' | 'pool'>): Promise<StoreStatus> {
  const connections = await openPool(url, { ...POOL_LIMITS, ...pool })
  const connection = plainConnection(connections)
  return reported(connections.target, async () => {
    try {
      const facts = await connection.get(FACTS)
      const status = await readStatus(connection, postgresSchema(connections.target))
      return { ...status, software: `PostgreSQL ${String(facts?.version)}`, bytes: Number(facts?.bytes) }
    } finally {
      await connection.close()
    }
  })
}

import type { StoreStatus } from '../database.ts'
import { readStatus } from '../sql/status.ts'
import type { PostgresStoreOptions } from '../store.ts'
import { openPool, POOL_LIMITS } from './pool.ts'
import { plainConnection } from './plain-connection.ts'
import { postgresSchema } from './schema.ts'
import { reported } from './store-error.ts'

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

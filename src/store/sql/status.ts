import type { StoreStatus } from '../database.ts'
import { type Schema, schemaState } from './migrate.ts'
import type { Connection } from './scope.ts'

const TABLES = [
  'sessions',
  'session_messages',
  'turns',
  'ledger_entries',
  'approvals',
  'events',
  'leases',
  'blob_references',
  'agents',
]

/** The part of a status that both databases read alike. */
export async function readStatus(
  connection: Connection,
  schema: Schema,
): Promise<Pick<StoreStatus, 'database' | 'version' | 'pending' | 'rows'>> {
  const { version, pending } = await schemaState(connection, schema)
  const counts = TABLES.map((table) => `(select count(*) from ${table}) as ${table}`)
  // A step before the last one may lack some of the tables.
  const counted = pending.length > 0 ? {} : await connection.get(`select ${counts.join(', ')}`)
  return {
    database: connection.description.database,
    version,
    pending: pending.map(({ version: step, name }) => ({ version: step, name })),
    rows: Object.fromEntries(Object.entries(counted ?? {}).map(([table, count]) => [table, Number(count)])),
  }
}

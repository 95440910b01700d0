import { MESSAGES } from '../messages.ts'
import { storeError } from '../rules.ts'
import { type Dialect, type Migration, migrationsOf } from './migrations.ts'
import type { Connection, Statements } from './scope.ts'

/** How one kind of database keeps the schema. */
export interface Schema {
  readonly dialect: Dialect
  /** The last step that was applied; 0 when the database has nothing. Throws for the database of another program. */
  version(statements: Statements): Promise<number>
  /** Runs first in the transaction of a migration: waits until no other one runs. */
  lock(tx: Statements): Promise<void>
  /** Marks the database as ours. */
  mark(tx: Statements): Promise<void>
}

export interface SchemaState {
  readonly version: number
  /** The steps that this Nexus would apply. */
  readonly pending: readonly Migration[]
}

/** Which steps a database has and lacks. Throws for the database of a newer Nexus, of one before the first release, or of another program. */
export async function schemaState(
  { description, ...statements }: Pick<Connection, 'description' | 'all' | 'get' | 'run'>,
  schema: Schema,
  migrations: readonly Migration[] = migrationsOf(schema.dialect),
): Promise<SchemaState> {
  const first = migrations[0]?.version ?? 0
  const known = migrations.at(-1)?.version ?? 0
  const version = await schema.version(statements)
  if (version > known) throw storeError('STORE_FAILED', MESSAGES.newerSchema({ ...description, version, known }))
  if (version > 0 && version < first)
    throw storeError('STORE_FAILED', MESSAGES.unreleasedSchema({ ...description, version }))
  return { version, pending: migrations.filter((step) => step.version > version) }
}

/**
 * Brings the schema up to date, in one transaction: it happens whole or not at all, and of two processes that arrive
 * together the second waits and finds it done. Refuses what `schemaState` refuses.
 */
export async function migrate(
  connection: Connection,
  schema: Schema,
  migrations: readonly Migration[] = migrationsOf(schema.dialect),
): Promise<void> {
  if ((await schemaState(connection, schema, migrations)).pending.length === 0) return
  await connection.transaction(async (tx) => {
    await schema.lock(tx)
    const { pending } = await schemaState({ ...tx, description: connection.description }, schema, migrations)
    await schema.mark(tx)
    const { integer, strict } = schema.dialect
    await tx.run(
      `create table if not exists migrations
        (version integer primary key, name text not null, applied_at ${integer} not null)${strict}`,
    )
    for (const { version, name, statements } of pending) {
      for (const statement of statements) await tx.run(statement)
      await tx.run('insert into migrations (version, name, applied_at) values (:version, :name, :now)', {
        version,
        name,
      })
    }
  })
}

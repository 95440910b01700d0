import type { PostgresStoreOptions } from './store.ts'

/** How messages name a database, and how a person gets another one. */
export interface Description {
  /** Such as `state file /home/me/.nexus/state/nexus.db`. */
  readonly database: string
  readonly elsewhere: string
  /** How to start with an empty one. */
  readonly anew: string
}

/** Where a database of a server is, without user and password: what messages may show. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly database: string
}

/** Which store a configuration chooses. */
export type StoreChoice =
  | { readonly type: 'sqlite'; readonly path: string }
  | ({ readonly type: 'postgres' } & Pick<PostgresStoreOptions, 'url' | 'pool'>)
  | { readonly type: 'memory' }

/** The state of a database. `version` is 0 for one that has nothing yet. */
export interface StoreStatus {
  /** Such as `Postgres database nexus on 127.0.0.1:5432`; no user, no password. */
  readonly database: string
  /** Name and version, such as `SQLite 3.50.4`. */
  readonly software: string
  readonly version: number
  /** The steps of the schema that `migrateStore` would apply. */
  readonly pending: readonly { readonly version: number; readonly name: string }[]
  readonly bytes: number
  /** How many rows each table has, of all projects. */
  readonly rows: Readonly<Record<string, number>>
}

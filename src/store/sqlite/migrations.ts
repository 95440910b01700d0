import { NexusError } from '../../kernel/index.ts'
import type { Connection } from './connection.ts'

/** One step of the schema. Steps are only ever added; one that was released is never edited. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly statements: readonly string[]
}

/** Marks the file as ours in its header: "NXSK". */
const APPLICATION_ID = 0x4e58534b

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'ledger and sessions',
    statements: [
      `create table ledger_entries (
        project_id text not null,
        seq integer not null,
        call_id text not null,
        session_id text,
        turn_id text,
        opener text not null,
        call text not null,
        decision text not null,
        skill text,
        state text not null check (state in ('open', 'closed', 'interrupted')),
        outcome text,
        opened_at integer not null,
        closed_at integer,
        primary key (project_id, call_id),
        check ((state = 'open') = (outcome is null))
      ) strict`,
      'create unique index ledger_by_order on ledger_entries (project_id, seq)',
      'create index ledger_by_session on ledger_entries (project_id, session_id, seq)',
      'create index ledger_by_turn on ledger_entries (project_id, turn_id, seq)',
      `create index ledger_open on ledger_entries (project_id, seq) where state = 'open'`,
      `create table sessions (
        project_id text not null,
        seq integer not null,
        id text not null,
        agent_id text not null,
        title text not null,
        created_at integer not null,
        updated_at integer not null,
        message_count integer not null default 0,
        snapshot text,
        state text not null check (state in ('idle', 'running')),
        owner text,
        primary key (project_id, id)
      ) strict`,
      'create unique index sessions_by_order on sessions (project_id, seq)',
      'create index sessions_by_use on sessions (project_id, updated_at, seq)',
      `create table session_messages (
        project_id text not null,
        session_id text not null,
        seq integer not null,
        message text not null,
        primary key (project_id, session_id, seq),
        foreign key (project_id, session_id) references sessions (project_id, id)
      ) strict`,
    ],
  },
]

/**
 * Brings the schema up to date, in one transaction: it happens whole or not at all, and of two processes that arrive
 * together the second waits and finds it done. Refuses a newer schema and the database of another program.
 */
export function migrate(connection: Connection, nowMs: number, migrations: readonly Migration[] = MIGRATIONS): void {
  const known = migrations.at(-1)?.version ?? 0
  if (schemaVersion(connection, known) === known) return
  connection.transaction(() => {
    const current = schemaVersion(connection, known)
    connection.run(`pragma application_id = ${APPLICATION_ID}`)
    connection.run(
      'create table if not exists migrations (version integer primary key, name text not null, applied_at integer not null) strict',
    )
    for (const { version, name, statements } of migrations) {
      if (version <= current) continue
      for (const statement of statements) connection.run(statement)
      connection.run('insert into migrations (version, name, applied_at) values (:version, :name, :nowMs)', {
        version,
        name,
        nowMs,
      })
    }
  })
}

/** The last step applied to the file, 0 for an empty one. */
function schemaVersion(connection: Connection, known: number): number {
  const isOurs = connection.get('pragma application_id')?.application_id === APPLICATION_ID
  const isEmpty = connection.get('select count(*) as tables from sqlite_schema')?.tables === 0
  if (!isOurs && isEmpty) return 0
  if (!isOurs) {
    throw new NexusError(
      'STORE_FAILED',
      `The file ${connection.path} is the database of another program; it was not changed.`,
      {
        fix: 'Name another directory for the state with NEXUS_STATE_DIR.',
      },
    )
  }
  const version = Number(connection.get('select max(version) as version from migrations')?.version ?? 0)
  if (version <= known) return version
  throw new NexusError(
    'STORE_FAILED',
    `The state file ${connection.path} was written by a newer Nexus (schema ${version}, this one knows ${known}); it was not changed.`,
    { fix: 'Update with "npm install -g nexus-skills@latest", or name another directory with NEXUS_STATE_DIR.' },
  )
}

import { countedMessages, waitingTurns } from './sqlite-migrations.ts'

/** One step of the schema. Steps are only ever added; one that was released is never edited. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly statements: readonly string[]
}

/** The words in which the databases differ. */
export interface Dialect {
  readonly isSqlite: boolean
  /** The type of a key that only grows and is never used twice, also after its row was removed. */
  readonly counter: string
  /** The type of a key that grows. */
  readonly identity: string
  readonly integer: string
  /** The end of a table that refuses values of another type. */
  readonly strict: string
}

/** The steps of the schema, for both databases. Numbers below the first one are of versions that were never released. */
export function migrationsOf({ counter, identity, integer, strict, isSqlite }: Dialect): readonly Migration[] {
  return [
    {
      version: 9,
      name: 'the first schema',
      statements: [
        `create table leases (
        fence ${counter},
        project_id text not null,
        name text not null,
        owner text not null,
        acquired_at ${integer} not null,
        expires_at ${integer} not null,
        unique (project_id, name)
      )${strict}`,
        'create unique index leases_by_fence on leases (project_id, fence)',
        'create index leases_by_end on leases (project_id, expires_at)',

        `create table ledger_entries (
        seq ${counter},
        project_id text not null,
        call_id text not null,
        agent_id text not null,
        session_id text,
        turn_id text,
        origin text not null,
        fence ${integer} not null,
        call text not null,
        decision text not null,
        skill text,
        state text not null
          check (state in ('asked', 'answered', 'started', 'done', 'failed', 'denied', 'interrupted', 'not run')),
        outcome text,
        opened_at ${integer} not null,
        started_at ${integer},
        closed_at ${integer},
        unique (project_id, call_id),
        check ((state in ('asked', 'answered', 'started')) = (outcome is null))
      )${strict}`,
        'create index ledger_by_session on ledger_entries (project_id, session_id, seq)',
        'create index ledger_by_turn on ledger_entries (project_id, turn_id, seq)',
        'create index ledger_by_order on ledger_entries (project_id, seq)',
        `create index ledger_open on ledger_entries (project_id, seq) where state in ('asked', 'answered', 'started')`,

        `create table sessions (
        seq ${counter},
        project_id text not null,
        id text not null,
        agent_id text not null,
        title text not null,
        scope text,
        created_at ${integer} not null,
        updated_at ${integer} not null,
        snapshot text,
        loaded text not null,
        unique (project_id, id)
      )${strict}`,
        'create index sessions_by_scope on sessions (project_id, scope)',
        // The newest event stays: its identity needs no counter of its own to only grow.
        `create table session_messages (
        seq ${identity},
        project_id text not null,
        session_id text not null,
        message text not null,
        at ${integer} not null,
        foreign key (project_id, session_id) references sessions (project_id, id)
      )${strict}`,
        'create index messages_by_session on session_messages (project_id, session_id, seq)',

        `create table turns (
        seq ${counter},
        project_id text not null,
        id text not null,
        session_id text not null,
        request_id text,
        message text not null,
        state text not null check (state in ('queued', 'running', 'done', 'cancelled', 'dropped', 'interrupted')),
        queued_fence ${integer} not null,
        fence ${integer},
        cancel_requested ${integer} not null,
        created_at ${integer} not null,
        started_at ${integer},
        ended_at ${integer},
        result text,
        unique (project_id, id),
        foreign key (project_id, session_id) references sessions (project_id, id)
      )${strict}`,
        'create index turns_by_session on turns (project_id, session_id, seq)',
        'create unique index turns_by_request on turns (project_id, session_id, request_id)',
        `create unique index turns_running on turns (project_id, session_id) where state = 'running'`,
        `create index turns_queued on turns (project_id, session_id, seq) where state = 'queued'`,

        `create table approvals (
        seq ${counter},
        project_id text not null,
        id text not null,
        call_id text not null,
        session_id text,
        agent_path text not null,
        tool text not null,
        command text not null,
        prefix text,
        scope text not null,
        can_remember ${integer} not null,
        skill_digest text,
        created_at ${integer} not null,
        expires_at ${integer} not null,
        state text not null check (state in ('open', 'allowed', 'denied', 'expired', 'not run')),
        answered_by text,
        answered_at ${integer},
        unique (project_id, id),
        unique (project_id, call_id),
        foreign key (project_id, call_id) references ledger_entries (project_id, call_id)
      )${strict}`,
        'create index approvals_by_order on approvals (project_id, seq)',
        `create index approvals_open on approvals (project_id, seq) where state = 'open'`,

        `create table remembered_approvals (
        seq ${counter},
        project_id text not null,
        id text not null,
        agent_path text not null,
        tool text not null,
        match text not null check (match in ('exact', 'prefix')),
        text text not null,
        scope text not null,
        skill_digest text,
        created_at ${integer} not null,
        answered_by text not null,
        unique (project_id, id)
      )${strict}`,
        'create index remembered_by_tool on remembered_approvals (project_id, agent_path, tool)',

        `create table events (
        id ${identity},
        project_id text not null,
        agent_id text,
        session_id text,
        type text not null,
        refs text not null,
        at ${integer} not null
      )${strict}`,

        `create table blob_references (
        seq ${counter},
        project_id text not null,
        id text not null,
        digest text not null,
        bytes ${integer} not null,
        name text not null,
        is_cut ${integer} not null,
        call_id text,
        session_id text,
        created_at ${integer} not null,
        expires_at ${integer},
        unique (project_id, id)
      )${strict}`,
        'create index blob_references_by_digest on blob_references (project_id, digest)',
        'create index blob_references_by_order on blob_references (project_id, seq)',
        ...(isSqlite ? [] : POSTGRES_ONLY),
      ],
    },
    {
      version: 10,
      name: 'turns that wait for an answer, and what they used',
      statements: [
        ...(isSqlite ? waitingTurns({ counter, integer, strict }) : WAITING_TURNS),
        `alter table turns add column steps ${integer} not null default 0`,
        `alter table turns add column input_tokens ${integer} not null default 0`,
        `alter table turns add column output_tokens ${integer} not null default 0`,
        `alter table turns add column total_tokens ${integer} not null default 0`,
        `alter table turns add column hidden_calls text not null default '[]'`,
        'drop index turns_running',
        `create unique index turns_under_way on turns (project_id, session_id) where state in ('running', 'waiting')`,
        `alter table approvals add column waiting_ttl_ms ${integer} not null default 604800000`,
        `alter table approvals add column answered_kind text check (answered_kind in ('person', 'key', 'agent'))`,
      ],
    },
    {
      version: 11,
      name: 'agents of the pool',
      statements: [
        `create table agents (
        seq ${counter},
        project_id text not null,
        key text not null,
        id text not null,
        parent text,
        path text not null,
        depth ${integer} not null,
        session_id text not null,
        is_temporary ${integer} not null,
        permissions text not null,
        ceiling text not null,
        settings text not null,
        epoch ${integer} not null,
        created_at ${integer} not null,
        ended_at ${integer},
        unique (project_id, key),
        unique (project_id, session_id)
      )${strict}`,
        'create unique index agents_living on agents (project_id, id) where ended_at is null',
        'create index agents_by_parent on agents (project_id, parent, seq)',
        // Until now the path of every agent that could be opened by its row was its id.
        'alter table approvals rename column agent_path to agent_id',
        'alter table remembered_approvals rename column agent_path to agent_id',
      ],
    },
    {
      version: 12,
      name: 'leases under that of a process, removal and retention',
      statements: [
        `alter table leases add column held_by ${integer}`,
        'alter table leases add column process text',
        // The number of a message that was removed is never used again.
        ...(isSqlite ? countedMessages({ counter, integer, strict }) : []),
        `create table trims (
        project_id text not null primary key,
        last_event ${integer} not null
      )${strict}`,
      ],
    },
    {
      version: 13,
      name: 'estimated tokens and the time of turns',
      statements: [
        `alter table turns add column estimated_tokens ${integer} not null default 0`,
        `alter table turns add column active_ms ${integer} not null default 0`,
      ],
    },
    {
      version: 14,
      name: 'idempotent calls',
      statements: [`alter table ledger_entries add column idempotent ${integer} not null default 0`],
    },
    {
      version: 15,
      name: 'cached tokens and the cost of turns',
      statements: [
        `alter table turns add column cached_tokens ${integer} not null default 0`,
        // In billionths.
        `alter table turns add column cost ${integer} not null default 0`,
      ],
    },
    {
      version: 16,
      name: 'times in which no process had a turn',
      statements: [`alter table turns add column away text not null default ''`],
    },
  ]
}

const WAITING_TURNS = [
  'alter table turns drop constraint turns_state_check',
  `alter table turns add constraint turns_state_check
    check (state in ('queued', 'running', 'waiting', 'done', 'cancelled', 'dropped', 'interrupted'))`,
]

const POSTGRES_ONLY = [
  'create index events_by_order on events (project_id, id)',
  // The last change of every open store: after a lost connection it says whether that change was committed.
  `create table writers (
        project_id text not null,
        id text not null,
        change bigint not null,
        at bigint not null,
        primary key (project_id, id)
      )`,
]

import type { Dialect, Migration } from './dialect.ts'

/** The steps of the schema, for both databases. */
export function migrationsOf({ counter, identity, integer, strict, isSqlite }: Dialect): readonly Migration[] {
  const onlySqlite = (statements: readonly string[]) => (isSqlite ? statements : [])
  const onlyPostgres = (statements: readonly string[]) => (isSqlite ? [] : statements)
  return [
    {
      version: 1,
      name: 'ledger and sessions',
      statements: onlySqlite([
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
      ]),
    },
    {
      version: 2,
      name: 'leases, turns, approvals, events; order from identities',
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
        ...onlySqlite([
          ...['ledger_entries', 'sessions', 'session_messages'].map(
            (name) => `alter table ${name} rename to old_${name}`,
          ),
          ...['ledger_by_order', 'ledger_by_session', 'ledger_by_turn', 'ledger_open'].map(
            (name) => `drop index ${name}`,
          ),
          ...['sessions_by_order', 'sessions_by_use'].map((name) => `drop index ${name}`),
        ]),

        `create table ledger_entries (
        seq ${counter},
        project_id text not null,
        call_id text not null,
        agent_id text not null,
        session_id text,
        turn_id text,
        opener text,
        fence ${integer},
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
        ...onlySqlite([
          `insert into ledger_entries (project_id, call_id, agent_id, session_id, turn_id, opener, call, decision, skill,
          state, outcome, opened_at, started_at, closed_at)
        select project_id, call_id, coalesce(call ->> '$.agentId', 'main'), session_id, turn_id, opener, call, decision, skill,
          case
            when state = 'open' then 'started'
            when state = 'interrupted' then 'interrupted'
            when outcome ->> '$.type' <> 'failed' then 'done'
            when decision ->> '$.type' = 'deny' then 'denied'
            else 'failed' end,
          outcome, opened_at, opened_at, closed_at
        from old_ledger_entries order by project_id, seq`,
        ]),
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
        created_at ${integer} not null,
        updated_at ${integer} not null,
        snapshot text,
        loaded text not null,
        state text not null check (state in ('idle', 'running')),
        owner text,
        unique (project_id, id)
      )${strict}`,
        ...onlySqlite([
          `insert into sessions (project_id, id, agent_id, title, created_at, updated_at, snapshot, loaded, state, owner)
        select project_id, id, agent_id, json_quote(title), created_at, updated_at, snapshot,
          coalesce(snapshot -> '$.loaded', '[]'), state, owner
        from old_sessions order by project_id, seq`,
        ]),
        // Messages are never removed, and the newest event stays: their identities need no counter of their own to only grow.
        `create table session_messages (
        seq ${identity},
        project_id text not null,
        session_id text not null,
        message text not null,
        at ${integer} not null,
        foreign key (project_id, session_id) references sessions (project_id, id)
      )${strict}`,
        ...onlySqlite([
          `insert into session_messages (project_id, session_id, message, at)
        select project_id, session_id, message, (select updated_at from old_sessions
          where old_sessions.project_id = old_session_messages.project_id and old_sessions.id = session_id)
        from old_session_messages order by project_id, session_id, seq`,
        ]),
        'create index messages_by_session on session_messages (project_id, session_id, seq)',
        ...onlySqlite(['drop table old_session_messages', 'drop table old_sessions', 'drop table old_ledger_entries']),
        `create table turns (
        seq ${counter},
        project_id text not null,
        id text not null,
        session_id text not null,
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
        ...onlyPostgres([
          'create index events_by_order on events (project_id, id)',
          // The last change of every open store: after a lost connection it says whether that change was committed.
          `create table writers (
          project_id text not null,
          id text not null,
          change ${integer} not null,
          at ${integer} not null,
          primary key (project_id, id)
        )`,
        ]),
      ],
    },
    {
      version: 3,
      name: 'leases alone say who runs what',
      statements: [
        'alter table sessions drop column state',
        'alter table sessions drop column owner',
        'alter table ledger_entries drop column opener',
      ],
    },
    {
      version: 4,
      name: 'where a remembered answer applies',
      statements: [
        `alter table approvals add column scope text not null default '""'`,
        `alter table approvals add column can_remember ${integer} not null default 0`,
        // Null for the answers of before: they match no call.
        'alter table remembered_approvals add column scope text',
      ],
    },
    {
      version: 5,
      name: 'where a session was started',
      statements: [
        // Null for the sessions of before: they are listed with those of all scopes only.
        'alter table sessions add column scope text',
        'create index sessions_by_scope on sessions (project_id, scope)',
      ],
    },
    {
      version: 6,
      name: 'what saved output is kept for',
      statements: [
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
      ],
    },
    {
      version: 7,
      name: 'request ids of callers',
      statements: [
        'alter table turns add column request_id text',
        'create unique index turns_by_request on turns (project_id, session_id, request_id)',
      ],
    },
  ]
}

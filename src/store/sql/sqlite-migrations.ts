/** Steps that make a table again: SQLite changes no constraint and no key. */
type Words = Readonly<Record<'counter' | 'integer' | 'strict', string>>

export function countedMessages({ counter, integer, strict }: Words): string[] {
  return [
    `create table counted_messages (
        seq ${counter},
        project_id text not null,
        session_id text not null,
        message text not null,
        at ${integer} not null,
        foreign key (project_id, session_id) references sessions (project_id, id)
      )${strict}`,
    'insert into counted_messages select seq, project_id, session_id, message, at from session_messages',
    'drop table session_messages',
    'alter table counted_messages rename to session_messages',
    'create index messages_by_session on session_messages (project_id, session_id, seq)',
  ]
}

export function waitingTurns({ counter, integer, strict }: Words): string[] {
  const columns = `seq, project_id, id, session_id, request_id, message, state, queued_fence, fence, cancel_requested,
    created_at, started_at, ended_at, result`
  return [
    `create table turns_with_waiting (
        seq ${counter},
        project_id text not null,
        id text not null,
        session_id text not null,
        request_id text,
        message text not null,
        state text not null
          check (state in ('queued', 'running', 'waiting', 'done', 'cancelled', 'dropped', 'interrupted')),
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
    `insert into turns_with_waiting (${columns}) select ${columns} from turns`,
    'drop table turns',
    'alter table turns_with_waiting rename to turns',
    'create index turns_by_session on turns (project_id, session_id, seq)',
    'create unique index turns_by_request on turns (project_id, session_id, request_id)',
    `create unique index turns_running on turns (project_id, session_id) where state = 'running'`,
    `create index turns_queued on turns (project_id, session_id, seq) where state = 'queued'`,
  ]
}

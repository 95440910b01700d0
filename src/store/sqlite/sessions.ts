import { checkLimit, checkName, messagesToJson, noSuchSession, sessionExists, sessionNotIn, toJson } from '../rules.ts'
import type { SessionRecord, Sessions, StoredMessage } from '../store.ts'
import { json, optionalJson, optionalText } from './columns.ts'
import type { Row, Scope } from './connection.ts'

const INSERT = `insert into sessions (project_id, seq, id, agent_id, title, created_at, updated_at, state)
  select :projectId, coalesce(max(seq), 0) + 1, :id, :agentId, :title, :now, :now, 'idle'
  from sessions where project_id = :projectId
  on conflict (project_id, id) do nothing`

const GET = 'select * from sessions where project_id = :projectId and id = :id'

const LIST = 'select * from sessions where project_id = :projectId order by updated_at desc, seq desc limit :limit'

const COUNT_UP = `update sessions set message_count = message_count + :added, updated_at = max(updated_at, :now)
  where project_id = :projectId and id = :id returning message_count`

const INSERT_MESSAGE = `insert into session_messages (project_id, session_id, seq, message)
  values (:projectId, :id, :seq, :message)`

const MESSAGES = 'select message from session_messages where project_id = :projectId and session_id = :id order by seq'

const UPDATE = `update sessions set
    state = coalesce(:state, state),
    owner = case when :setOwner then :owner else owner end,
    snapshot = coalesce(:snapshot, snapshot),
    updated_at = max(updated_at, :now)
  where project_id = :projectId and id = :id and state = coalesce(:expectedState, state)`

const RUNNING = `select id, owner from sessions where project_id = :projectId and state = 'running'`

const SET_IDLE = `update sessions set state = 'idle', owner = null where project_id = :projectId and id = :id`

/** The histories of one project. */
export function createSqliteSessions(scope: Scope): Sessions {
  const { connection, projectId, now } = scope
  const { path } = connection
  const get = (id: string): SessionRecord | undefined => {
    const row = connection.get(GET, { projectId, id })
    return row && toRecord(path, row)
  }
  const mustGet = (id: string): SessionRecord => {
    const record = get(id)
    if (!record) throw noSuchSession(id)
    return record
  }
  return {
    async create({ id, agentId, title }) {
      checkName('session id', id)
      checkName('agent id', agentId)
      if (connection.run(INSERT, { projectId, id, agentId, title: title.toWellFormed(), now: now() }) === 0)
        throw sessionExists(id)
      return mustGet(id)
    },
    get: async (id) => get(id),
    async list({ limit } = {}) {
      return connection.all(LIST, { projectId, limit: checkLimit(limit) ?? -1 }).map((row) => toRecord(path, row))
    },
    async append(id, messages) {
      const texts = messagesToJson(messages)
      connection.transaction(() => {
        const row = connection.get(COUNT_UP, { projectId, id, added: texts.length, now: now() })
        if (!row) throw noSuchSession(id)
        const first = Number(row.message_count) - texts.length + 1
        for (const [index, message] of texts.entries())
          connection.run(INSERT_MESSAGE, { projectId, id, seq: first + index, message })
      })
    },
    async messages(id) {
      mustGet(id)
      return connection.all(MESSAGES, { projectId, id }).map((row) => json<StoredMessage>(path, row.message))
    },
    async update(id, { state, owner, snapshot, expectedState }) {
      const changed = connection.run(UPDATE, {
        projectId,
        id,
        state: state ?? null,
        setOwner: owner === undefined ? 0 : 1,
        owner: owner ?? null,
        snapshot: snapshot ? toJson('snapshot', snapshot) : null,
        expectedState: expectedState ?? null,
        now: now(),
      })
      const record = mustGet(id)
      if (changed === 0 && expectedState !== undefined) throw sessionNotIn(id, expectedState)
      return record
    },
  }
}

/** Ends the turns whose owner is gone. Runs inside a transaction. */
export function idleAbandoned({ connection, projectId }: Scope, isAlive: (owner: string) => boolean): void {
  for (const row of connection.all(RUNNING, { projectId })) {
    const owner = optionalText(row.owner)
    if (owner === undefined || !isAlive(owner)) connection.run(SET_IDLE, { projectId, id: String(row.id) })
  }
}

function toRecord(path: string, row: Row): SessionRecord {
  const owner = optionalText(row.owner)
  const snapshot = optionalJson<NonNullable<SessionRecord['snapshot']>>(path, row.snapshot)
  return {
    id: String(row.id),
    agentId: String(row.agent_id),
    title: String(row.title),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    messageCount: Number(row.message_count),
    ...(snapshot && { snapshot }),
    state: row.state === 'running' ? 'running' : 'idle',
    ...(owner !== undefined && { owner }),
  }
}

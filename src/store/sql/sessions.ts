import type { SessionRecord, Sessions, StoredMessage } from '../sessions.ts'
import { MESSAGES } from '../messages.ts'
import {
  checkLimit,
  checkName,
  checkSessionLease,
  messagesToJson,
  sessionEvents,
  storeError,
  toJson,
} from '../rules.ts'
import type { Lease } from '../leases.ts'
import { ALL_ROWS, defined, filters, json, optionalJson, optionalNumber } from './columns.ts'
import { assertOwned, fencing, OWNED } from './leases.ts'
import { endDue } from './reclaim.ts'
import type { Change, Row, Scope, Statements, Values } from './scope.ts'

const INSERT = `insert into sessions (project_id, id, agent_id, title, scope, created_at, updated_at, loaded)
  values (:projectId, :id, :agentId, :title, :scope, :now, :now, '[]')
  on conflict (project_id, id) do nothing`

/** An append changes no row of `sessions`: the number of messages and the time of the last are read from theirs. */
const COLUMNS = `id, agent_id, title, scope, created_at, updated_at, snapshot, loaded, seq,
  (select count(*) from session_messages
    where session_messages.project_id = :projectId and session_messages.session_id = sessions.id) as message_count,
  (select at from session_messages
    where session_messages.project_id = :projectId and session_messages.session_id = sessions.id
    order by session_messages.seq desc limit 1) as last_message_at`

const GET = `select ${COLUMNS} from sessions where project_id = :projectId and id = :id`

const USED = 'case when last_message_at > updated_at then last_message_at else updated_at end'

const list = (where: string): string => `select * from (
    select ${COLUMNS} from sessions where project_id = :projectId ${where}) as listed
  where :usedAt is null or ${USED} < :usedAt or (${USED} = :usedAt and seq < (
    select edge.seq from sessions as edge where edge.project_id = :projectId and edge.id = :afterId))
  order by ${USED} desc, seq desc limit :limit`

const INSERT_MESSAGE = `insert into session_messages (project_id, session_id, message, at)
  select :projectId, id, :message, :now from sessions
  where project_id = :projectId and id = :id and ${OWNED} returning seq`

const MESSAGES_OF =
  'select message from session_messages where project_id = :projectId and session_id = :id order by seq'

const UPDATE = `update sessions set
    snapshot = coalesce(:snapshot, snapshot),
    loaded = coalesce(:loaded, loaded),
    updated_at = case when updated_at > :now then updated_at else :now end
  where project_id = :projectId and id = :id and ${OWNED}`

const BUSY = `select 1 as busy where
  exists (select 1 from turns where project_id = :projectId and session_id = :id and (state in ('running', 'waiting')
    or (state = 'queued' and exists (select 1 from leases
      where leases.project_id = :projectId and leases.fence = turns.queued_fence))))
  or exists (select 1 from approvals where project_id = :projectId and session_id = :id and state = 'open')`

/**
 * Sessions of living agents, and of ended ones below a living one: what those used counts against its budget.
 * Ids of configured agents have no row.
 */
export const NEEDED_SESSIONS = `select session_id from agents where project_id = :projectId and key in (
  with recursive needed(key) as (
    select key from agents where project_id = :projectId and ended_at is null
    union select agents.key from agents join "needed" on agents.parent = "needed".key where agents.project_id = :projectId
  ) select key from "needed")`

const IS_NEEDED = `select 1 as needed from sessions
  where project_id = :projectId and id = :id and id in (${NEEDED_SESSIONS})`

/** Its row goes with its session: nothing but calls in the ledger refers to it then. */
const REMOVE_AGENT = 'delete from agents where project_id = :projectId and session_id = :id'

const REMOVE = ['approvals', 'blob_references', 'turns', 'session_messages'].map(
  (table) => `delete from ${table} where project_id = :projectId and session_id = :id`,
)
const REMOVE_SESSION = 'delete from sessions where project_id = :projectId and id = :id'

/** The histories of one project. */
export function createSqlSessions(scope: Scope): Sessions {
  const get = async (statements: Statements, id: string): Promise<SessionRecord | undefined> => {
    const row = await statements.get(GET, { id })
    return row && toSession(scope, row)
  }
  const mustGet = async (statements: Statements, id: string): Promise<SessionRecord> => {
    const record = await get(statements, id)
    if (!record) throw noSuchSession(id)
    return record
  }
  return {
    create: (session) =>
      scope.change(async (tx) => {
        await insertSession(tx, session)
        return mustGet(tx, session.id)
      }),
    get: (id) => get(scope, id),
    async list({ limit, scope: started, after } = {}) {
      const { sql, values } = filters({ scope: started === undefined ? undefined : toJson('scope', started) })
      const place = { usedAt: after?.updatedAt ?? null, afterId: after?.id ?? null }
      const rows = await scope.all(list(sql), { ...values, ...place, limit: checkLimit(limit) ?? ALL_ROWS })
      return rows.map((row) => toSession(scope, row))
    },
    async append(id, messages, lease) {
      const texts = messagesToJson(messages)
      const fence = fenceOf(id, lease)
      return scope.change(async (tx) => {
        if (await insertMessages(tx, { ...fence, id }, texts)) return
        await mustGet(tx, id)
        await assertOwned(tx, lease)
      })
    },
    async messages(id) {
      const rows = await scope.all(MESSAGES_OF, { id })
      if (rows.length === 0) await mustGet(scope, id)
      return rows.map((row) => json<StoredMessage>(scope, row.message))
    },
    async remove(id) {
      await scope.change(async (tx) => {
        await endDue(tx)
        const { agentId } = await mustGet(tx, id)
        if (await tx.get(IS_NEEDED, { id })) throw storeError('CONFLICT', MESSAGES.sessionNeeded({ id }))
        if (await tx.get(BUSY, { id })) throw storeError('CONFLICT', MESSAGES.sessionBusy({ id }))
        await removeSession(tx, id, agentId)
      })
    },
    async update(id, { snapshot, loaded }, lease) {
      const values = {
        ...fenceOf(id, lease),
        id,
        snapshot: snapshot ? toJson('snapshot', snapshot) : null,
        loaded: loaded ? toJson('loaded skills', loaded) : null,
      }
      return scope.change(async (tx) => {
        const before = await mustGet(tx, id)
        if ((await tx.run(UPDATE, values)) === 0) await assertOwned(tx, lease)
        for (const event of sessionEvents(before, { snapshot, loaded })) tx.event(event)
        return mustGet(tx, id)
      })
    },
  }
}

/** Removes a session that is not used in the transaction of another change. */
export async function removeSession(tx: Change, id: string, agentId: string): Promise<void> {
  for (const statement of [...REMOVE, REMOVE_AGENT, REMOVE_SESSION]) await tx.run(statement, { id })
  tx.event({ type: 'session.removed', agentId, sessionId: id })
}

/** Makes a session in the transaction of another change. */
export async function insertSession(
  tx: Change,
  { id, agentId, title, scope }: Parameters<Sessions['create']>[0],
): Promise<void> {
  const values = { id: checkName('session id', id), agentId: checkName('agent id', agentId) }
  const texts = { title: toJson('title', title), scope: scope === undefined ? null : toJson('scope', scope) }
  if ((await tx.run(INSERT, { ...values, ...texts })) === 0)
    throw storeError('CONFLICT', MESSAGES.sessionExists({ id }))
  tx.event({ type: 'session.created', agentId, sessionId: id })
}

/** Adds messages to the history of a session in the transaction of another change that has checked the lease. */
export async function addMessages(
  tx: Change,
  sessionId: string,
  lease: Lease,
  messages: readonly StoredMessage[],
): Promise<void> {
  const isWritten = await insertMessages(tx, { ...fenceOf(sessionId, lease), id: sessionId }, messagesToJson(messages))
  if (!isWritten && messages.length > 0) throw noSuchSession(sessionId)
}

/** False when nothing was written. */
async function insertMessages(tx: Change, about: Values & { id: string }, texts: readonly string[]): Promise<boolean> {
  const seqs: number[] = []
  for (const message of texts) {
    const written = await tx.get(INSERT_MESSAGE, { ...about, message })
    if (written) seqs.push(Number(written.seq))
  }
  if (seqs.length === 0) return false
  const references = { firstMessage: seqs[0], lastMessage: seqs.at(-1) }
  tx.event({ type: 'session.messages', sessionId: about.id, references })
  return true
}

function noSuchSession(id: string): Error {
  return storeError('INVALID_ARGUMENT', MESSAGES.noSuchSession({ id }))
}

function fenceOf(id: string, lease: Lease): Values {
  return fencing(checkSessionLease(id, lease))
}

function toSession(scope: Scope, row: Row): SessionRecord {
  return defined<SessionRecord>({
    id: String(row.id),
    agentId: String(row.agent_id),
    title: json<string>(scope, row.title),
    scope: optionalJson<string>(scope, row.scope),
    createdAt: Number(row.created_at),
    updatedAt: Math.max(Number(row.updated_at), optionalNumber(row.last_message_at) ?? 0),
    messageCount: Number(row.message_count),
    snapshot: optionalJson<NonNullable<SessionRecord['snapshot']>>(scope, row.snapshot),
    loaded: json<SessionRecord['loaded']>(scope, row.loaded),
  })
}

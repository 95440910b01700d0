import type { NexusError } from '../../kernel/index.ts'
import type { Description } from '../database.ts'
import type { EventReferences, NewEvent, StoredEvent } from '../events.ts'
import { toJson } from '../rules.ts'
import type { Wakes, Woken } from './follow.ts'
import { defined, optionalText, type Row, type Values } from './columns.ts'

export type { Row, Values }

/** Statements with named values such as `:id`. `:now` is the database's clock, given by the connection, never by a caller. */
export interface Statements {
  /** Returns how many rows it changed. */
  run(sql: string, values?: Values): Promise<number>
  get(sql: string, values?: Values): Promise<Row | undefined>
  all(sql: string, values?: Values): Promise<Row[]>
}

/** An open database. Every failure is a `NexusError` STORE_FAILED that names it. */
export interface Connection extends Statements {
  /** Runs `work` in one write transaction: all of it is durable afterwards, or nothing happened. Do not nest. */
  transaction<T>(work: (tx: Statements) => Promise<T>): Promise<T>
  /** The failure of a database that contains something Nexus did not write. */
  damaged(cause: unknown): NexusError
  readonly description: Description
  /** Wakes the other processes that follow the project of the connection, when the change is committed; absent where they see it. */
  notify?(tx: Statements): Promise<unknown>
  close(): Promise<void>
}

/** A transaction that writes the events of its changes. */
export interface Change extends Statements {
  event(event: NewEvent): Promise<StoredEvent>
}

/** The statements of one project: every `:projectId` is that project. */
export interface Scope extends Statements {
  readonly projectId: string
  change<T>(work: (tx: Change) => Promise<T>): Promise<T>
  /** Calls back when there may be new events; returns what ends it. */
  onWake(listener: Woken): () => void
  damaged(cause: unknown): NexusError
}

/** Without an agent of its own, an event has that of its session. */
const INSERT_EVENT = `insert into events (project_id, agent_id, session_id, type, refs, at)
  values (:projectId, coalesce(:agentId, (select agent_id from sessions where project_id = :projectId and id = :sessionId)),
    :sessionId, :type, :refs, :now)
  returning id, at, agent_id`

/** Changes that end a wait of another process, such as that for an answer. */
const WAKES_OTHERS = /^(turn\.(?!running|step)|approval\.|session\.released)/
/** In this process also the end of a call. */
const WAKES = /^(turn\.(?!running|step)|approval\.|session\.released|call\.(done|failed|denied|interrupted|not-run))/

export function createScope(connection: Connection, projectId: string, wakes: Wakes): Scope {
  return {
    ...scoped(connection, projectId),
    damaged: (cause) => connection.damaged(cause),
    projectId,
    async change(work) {
      let types: string[] = []
      const result = await connection.transaction(async (raw) => {
        types = [] // A lost connection runs the work again; what it wrote before was rolled back.
        const tx = scoped(raw, projectId)
        const event = (each: NewEvent): Promise<StoredEvent> => {
          types.push(each.type)
          return insertEvent(tx, projectId, each)
        }
        const done = await work({ ...tx, event })
        if (types.some((type) => WAKES_OTHERS.test(type))) await connection.notify?.(raw)
        return done
      })
      if (types.some((type) => WAKES.test(type))) wakes.wake(projectId)
      return result
    },
    onWake: (listener) => wakes.on(projectId, listener),
  }
}

async function insertEvent(tx: Statements, projectId: string, event: NewEvent): Promise<StoredEvent> {
  const { type, agentId, sessionId } = event
  const refs = toJson('references', event.references ?? {})
  const values = { agentId: agentId ?? null, sessionId: sessionId ?? null, type, refs }
  const row = await tx.get(INSERT_EVENT, values)
  return defined<StoredEvent>({
    id: Number(row?.id),
    projectId,
    at: Number(row?.at),
    type,
    agentId: optionalText(row?.agent_id),
    sessionId,
    references: JSON.parse(refs) as EventReferences,
  })
}

function scoped(statements: Statements, projectId: string): Statements {
  const bind = (sql: string, values: Values): Values => (sql.includes(':projectId') ? { ...values, projectId } : values)
  return {
    run: (sql, values = {}) => statements.run(sql, bind(sql, values)),
    get: (sql, values = {}) => statements.get(sql, bind(sql, values)),
    all: (sql, values = {}) => statements.all(sql, bind(sql, values)),
  }
}

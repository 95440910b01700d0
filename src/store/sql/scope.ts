import type { NexusError } from '../../kernel/index.ts'
import type { Description } from '../database.ts'
import type { EventReferences, NewEvent, StoredEvent } from '../events.ts'
import { toJson } from '../rules.ts'
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
  listen(listener: (event: StoredEvent) => void): () => void
  damaged(cause: unknown): NexusError
}

/** Without an agent of its own, an event has that of its session. */
const INSERT_EVENT = `insert into events (project_id, agent_id, session_id, type, refs, at)
  values (:projectId, coalesce(:agentId, (select agent_id from sessions where project_id = :projectId and id = :sessionId)),
    :sessionId, :type, :refs, :now)
  returning id, at, agent_id`

export function createScope(connection: Connection, projectId: string): Scope {
  const listeners = new Set<(event: StoredEvent) => void>()
  const deliver = (events: readonly StoredEvent[]): void => {
    for (const event of events)
      for (const listener of listeners) {
        try {
          listener(event)
        } catch (error) {
          process.emitWarning(`A listener of store events threw: ${String(error)}`, 'NexusWarning')
        }
      }
  }
  return {
    ...scoped(connection, projectId),
    damaged: (cause) => connection.damaged(cause),
    projectId,
    async change(work) {
      let events: StoredEvent[] = []
      const result = await connection.transaction((raw) => {
        events = [] // A lost connection runs the work again; what it wrote before was rolled back.
        const tx = scoped(raw, projectId)
        const event = async (each: NewEvent): Promise<StoredEvent> => {
          const written = await insertEvent(tx, projectId, each)
          events.push(written)
          return written
        }
        return work({ ...tx, event })
      })
      deliver(events)
      return result
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
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

import type { NexusError } from '../../kernel/index.ts'
import type { Description } from '../database.ts'
import type { NewEvent } from '../events.ts'
import { checkLimit, toJson } from '../rules.ts'
import type { Wakes, Woken } from './follow.ts'
import { ALL_ROWS, type Row, type Values } from './columns.ts'

export type { Row, Values }

/** Statements with named values such as `:id`. `:now` is the database's clock, given by the connection, never by a caller. */
export interface Statements {
  /** Returns how many rows it changed. */
  run(sql: string, values?: Values): Promise<number>
  get(sql: string, values?: Values): Promise<Row | undefined>
  all(sql: string, values?: Values): Promise<Row[]>
}

export interface Statement {
  readonly sql: string
  readonly values: Values
}

/** An open database. Every failure is a `NexusError` STORE_FAILED that names it. */
export interface Connection extends Statements {
  /**
   * Runs `work` in one write transaction: all of it is durable afterwards, or nothing happened. Do not nest.
   * Statements that `last` returns go with the commit: nobody needs their answers.
   */
  transaction<T>(work: (tx: Statements) => Promise<T>, last?: () => readonly Statement[]): Promise<T>
  /** The failure of a database that contains something Nexus did not write. */
  damaged(cause: unknown): NexusError
  readonly description: Description
  /** Wakes the other processes that follow the project `:projectId`, when the change is committed; absent where they see it. */
  readonly notify?: string
  close(): Promise<void>
}

/** A transaction that writes the events of its changes, with its commit and in their order. */
export interface Change extends Statements {
  event(event: NewEvent): void
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
    :sessionId, :type, :refs, :now)`

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
      let events: NewEvent[] = []
      const isAny = (wanted: RegExp): boolean => events.some(({ type }) => wanted.test(type))
      const result = await connection.transaction(
        (raw) => {
          events = [] // A lost connection runs the work again; what it wrote before was rolled back.
          return work({ ...scoped(raw, projectId), event: (each) => void events.push(each) })
        },
        () => [
          ...events.map((event) => ({ sql: INSERT_EVENT, values: { ...valuesOf(event), projectId } })),
          ...(connection.notify !== undefined && isAny(WAKES_OTHERS)
            ? [{ sql: connection.notify, values: { projectId } }]
            : []),
        ],
      )
      if (isAny(WAKES)) wakes.wake(projectId)
      return result
    },
    onWake: (listener) => wakes.on(projectId, listener),
  }
}

function valuesOf({ type, agentId, sessionId, references }: NewEvent): Values {
  const refs = toJson('references', references ?? {})
  return { agentId: agentId ?? null, sessionId: sessionId ?? null, type, refs }
}

interface Page {
  readonly limit?: number | undefined
  /** Only rows before the one of this key; none when it is gone. */
  readonly before?: string | null | undefined
}

/** Rows of a table, the oldest first; with a limit the newest ones. Throws INVALID_ARGUMENT for a limit that is none. */
export async function listRows(
  { all }: Pick<Statements, 'all'>,
  { table, key, columns = '*' }: { readonly table: string; readonly key: string; readonly columns?: string },
  { sql, values, limit, before = null }: Page & { readonly sql: string; readonly values: Values },
): Promise<Row[]> {
  const rows = await all(
    `select ${columns} from ${table} where project_id = :projectId ${sql} and (:before is null or seq < (
      select edge.seq from ${table} as edge where edge.project_id = :projectId and edge.${key} = :before))
    order by seq desc limit :limit`,
    { ...values, before, limit: checkLimit(limit) ?? ALL_ROWS },
  )
  return rows.reverse()
}

/** An event whose number the caller needs. */
export async function appendEvent(tx: Statements, event: NewEvent): Promise<Row> {
  const [row] = await tx.all(`${INSERT_EVENT} returning *`, valuesOf(event))
  if (!row) throw new Error('The event was not written.')
  return row
}

function scoped(statements: Statements, projectId: string): Statements {
  const bind = (sql: string, values: Values): Values => (sql.includes(':projectId') ? { ...values, projectId } : values)
  return {
    run: (sql, values = {}) => statements.run(sql, bind(sql, values)),
    get: (sql, values = {}) => statements.get(sql, bind(sql, values)),
    all: (sql, values = {}) => statements.all(sql, bind(sql, values)),
  }
}

import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, newId, type NexusError } from '../../kernel/index.ts'
import { POSTGRES } from '../messages.ts'
import { storeError } from '../rules.ts'
import type { Connection, Statement, Statements, Values } from '../sql/scope.ts'
import { CHANNEL, type Connections, type Query } from './pool.ts'
import { translate, withLiterals } from './statements.ts'
import { ConnectionLost, toStoreError } from './store-error.ts'

/** How long a lost server is waited for: longer than a restart, and than a transaction that was left may stay open. */
const RETRY_MS = 30_000
/** A process that stopped inside a transaction would bar the other writers of its project for longer. */
const IDLE_MS = 5_000
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [20, 1_000]

/**
 * The connection of one project's store. Two rules keep its promises:
 * - Every change takes the lock of its project first and keeps it until its commit. So writers of a project come one
 *   after the other, what a statement checks stays true until the commit, and ids of events grow in the order of commits.
 * - Every change writes its number into the row of its store (`writers`). When the connection is lost, the commit may
 *   have happened: the next attempt, which has the lock only when the lost one is over, reads that number, and either
 *   returns what the lost attempt did or runs the change again.
 */
export function createPostgresConnection(
  connections: Connections,
  { projectId, clock }: { readonly projectId: string; readonly clock: Clock | undefined },
): Connection {
  const { target, limits } = connections
  const project = { projectId, writer: newId() }
  const begin = `begin isolation level read committed; set local statement_timeout = ${limits.statementTimeoutMs};
    set local idle_in_transaction_session_timeout = ${IDLE_MS}; select pg_advisory_xact_lock(${lockOf(projectId)})`
  let isClosed = false
  let changes = 0
  /** With its values in the text, so that it goes to the server in one message with the begin or the commit. */
  const literally = ({ sql, values }: Statement): string => withLiterals(sql, values, connections.literal, clock)
  const direct = (work: (statements: Statements) => Promise<unknown>) =>
    retrying(() => connections.use((query) => work(statementsOf(query, clock))))
  const retrying = async <T>(attempt: () => Promise<T>): Promise<T> => {
    const end = performance.now() + RETRY_MS
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error
        if (isClosed || performance.now() + pause > end) throw toStoreError(target, error)
        await delay(pause)
      }
    }
  }
  const change = <T>(work: (tx: Statements) => Promise<T>, ending: () => readonly Statement[]): Promise<T> => {
    const number = ++changes
    let sent: { readonly result: T } | undefined
    return retrying(() =>
      connections.use(async (query) => {
        const tx = statementsOf(query, clock)
        try {
          const write = literally({ sql: WRITE_CHANGE, values: { ...project, number } })
          if (!sent) await query(`${begin}; ${write}`)
          else {
            await query(begin)
            if ((await tx.get(LAST_CHANGE, project))?.change === number) {
              await query('rollback')
              return sent.result
            }
            sent = undefined
            await query(write)
          }
          const result = await work(tx)
          sent = { result }
          const answers = [await query([...ending().map(literally), 'commit'].join('; '))].flat()
          if (answers.at(-1)?.command === 'COMMIT') return result
          throw storeError('STORE_FAILED', POSTGRES.notCommitted(target))
        } catch (error) {
          if (!(error instanceof ConnectionLost)) await query('rollback')
          throw error
        }
      }),
    )
  }
  let last: Promise<unknown> = Promise.resolve()
  /** One change at a time: the others would wait for the same lock, and take the connections from the readers. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
  return {
    run: (sql, values) => direct((statements) => statements.run(sql, values)) as Promise<number>,
    get: (sql, values) => direct((statements) => statements.get(sql, values)) as ReturnType<Statements['get']>,
    all: (sql, values) => direct((statements) => statements.all(sql, values)) as ReturnType<Statements['all']>,
    transaction: (work, ending = () => []) => inTurn(() => change(work, ending)),
    damaged: (cause): NexusError => storeError('STORE_FAILED', POSTGRES.damaged(target), cause),
    description: POSTGRES.description(target),
    notify: NOTIFY,
    close: () =>
      inTurn(async () => {
        if (isClosed) return
        isClosed = true
        await connections.use((query) => statementsOf(query, clock).run(FORGET_WRITER, project)).catch(() => {})
      }),
  }
}

const NOTIFY = `values (pg_notify('${CHANNEL}', :projectId))`

const LAST_CHANGE = 'select change from writers where project_id = :projectId and id = :writer'

const WRITE_CHANGE = `insert into writers (project_id, id, change, at) values (:projectId, :writer, :number, :now)
  on conflict (project_id, id) do update set change = excluded.change, at = excluded.at`

/** Its own row, and those of processes that were killed. */
const FORGET_WRITER = 'delete from writers where project_id = :projectId and (id = :writer or at < :now - 86400000)'

/** The project's lock as the number that Postgres takes. */
function lockOf(projectId: string): bigint {
  return createHash('sha256').update(`nexus project ${projectId}`).digest().readBigInt64BE()
}

export function statementsOf(query: Query, clock: Clock | undefined): Statements {
  const translated = (sql: string, values: Values = {}) => {
    const { text, values: numbered } = translate(sql, values, clock)
    return numbered.length > 0 ? query(text, numbered) : query(text)
  }
  return {
    run: async (sql, values) => (await translated(sql, values)).rowCount ?? 0,
    get: async (sql, values) => (await translated(sql, values)).rows[0],
    all: async (sql, values) => (await translated(sql, values)).rows,
  }
}

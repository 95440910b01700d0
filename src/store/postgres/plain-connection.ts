import { POSTGRES } from '../messages.ts'
import { storeError } from '../rules.ts'
import type { Connection, Statements } from '../sql/scope.ts'
import { statementsOf } from './connection.ts'
import type { Connections } from './pool.ts'

/** A connection for the schema: no project, and no second attempt, so that a wrong address is reported at once. */
export function plainConnection(connections: Connections): Connection {
  const { target } = connections
  const direct = <T>(work: (statements: Statements) => Promise<T>): Promise<T> =>
    connections.use((query) => work(statementsOf(query, undefined)))
  return {
    run: (sql, values) => direct((statements) => statements.run(sql, values)),
    get: (sql, values) => direct((statements) => statements.get(sql, values)),
    all: (sql, values) => direct((statements) => statements.all(sql, values)),
    transaction: (work) =>
      connections.use(async (query) => {
        await query('begin; set local statement_timeout = 0')
        try {
          const result = await work(statementsOf(query, undefined))
          await query('commit')
          return result
        } catch (error) {
          await query('rollback').catch(() => {})
          throw error
        }
      }),
    damaged: (cause) => storeError('STORE_FAILED', POSTGRES.damaged(target), cause),
    description: POSTGRES.description(target),
    close: () => connections.close(),
  }
}

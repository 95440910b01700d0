import { setTimeout as delay } from 'node:timers/promises'
import { checkName } from '../rules.ts'
import { createWakes } from '../sql/follow.ts'
import { migrate } from '../sql/migrate.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import type { Connection } from '../sql/scope.ts'
import type { Database, DatabaseOptions, PostgresStoreOptions } from '../store.ts'
import { createPostgresConnection } from './connection.ts'
import { type Connections, openPool, POOL_LIMITS } from './pool.ts'
import { plainConnection, postgresSchema } from './schema.ts'
import { reported } from './store-error.ts'

/** See `openDatabase`. */
export async function openPostgresDatabase(
  options: Omit<PostgresStoreOptions, 'projectId'> & DatabaseOptions,
): Promise<Database> {
  const { url, clock, pool } = options
  const connections = await openPool(url, { ...POOL_LIMITS, ...pool })
  const opened = new Set<Connection>()
  const wakes = createWakes((wake) => listenForOthers(connections, wake), connections.limits.idleTimeoutMs)
  try {
    await reported(connections.target, () => migrate(plainConnection(connections), postgresSchema(connections.target)))
  } catch (error) {
    await connections.close()
    throw error
  }
  return {
    project(projectId) {
      checkName('project id', projectId)
      const connection = createPostgresConnection(connections, { projectId, clock })
      opened.add(connection)
      const close = async (): Promise<void> => {
        opened.delete(connection)
        await connection.close()
      }
      return createSqlStore({ ...connection, close }, projectId, wakes)
    },
    async close() {
      await Promise.all([...opened].map((connection) => connection.close()))
      await connections.close()
      wakes.close()
    },
  }
}

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [20, 2_000]
/** Behind a pooler nothing is announced. */
const LOOK_MS = 2_000

/** Listens for commits of other processes; after a lost connection everybody looks for what was missed. */
function listenForOthers(connections: Connections, wake: (projectId?: string) => void): () => void {
  const over = new AbortController()
  const listenOnce = async (): Promise<void> => {
    const lost = Promise.withResolvers<void>()
    const end = await connections.listen(wake, lost.resolve)
    over.signal.addEventListener('abort', () => lost.resolve())
    // It may be over since before it could listen.
    if (over.signal.aborted) lost.resolve()
    wake()
    await lost.promise
    end()
  }
  const listen = async (): Promise<void> => {
    for (let pause = FIRST_PAUSE_MS; !over.signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const isListening = await listenOnce().then(
        () => true,
        () => false,
      )
      if (isListening) pause = FIRST_PAUSE_MS
      await delay(pause, undefined, { signal: over.signal }).catch(() => undefined)
    }
  }
  void listen()
  const timer = setInterval(() => wake(), LOOK_MS)
  return () => {
    over.abort()
    clearInterval(timer)
  }
}

import type { Pool, PoolClient, PoolConfig, QueryResult } from 'pg'
import { NexusError } from '../../kernel/index.ts'
import type { Target } from '../database.ts'
import { MESSAGES, POSTGRES } from '../messages.ts'
import { storeError } from '../rules.ts'
import type { Row } from '../sql/scope.ts'
import { ConnectionLost, toFailure } from './store-error.ts'

/** Limits of the connections to a server. */
export interface PoolLimits {
  readonly maxConnections: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  /** How long a connection stays open that is not used. */
  readonly idleTimeoutMs: number
}

export const POOL_LIMITS: PoolLimits = {
  maxConnections: 4,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  idleTimeoutMs: 30_000,
}

/** The server ends a slow statement; after this much more, the connection itself is given up. */
const GRACE_MS = 2_000

/** Where commits that wake somebody are announced, with their project. */
export const CHANNEL = 'nexus'

/** Throws `ConnectionLost`, or STORE_FAILED. */
export type Query = (text: string, values?: readonly (string | number)[]) => Promise<QueryResult<Row>>

/** Connections to one database. Nothing is kept in a session, so a pooler may give each transaction another one. */
export interface Connections {
  readonly target: Target
  readonly limits: PoolLimits
  /** A text as a literal of a statement. */
  literal(text: string): string
  /** Tells of each commit that wakes somebody, on a connection of its own; `onEnd` when that is lost. Resolves to what ends it. */
  listen(onProject: (projectId: string) => void, onEnd: () => void): Promise<() => void>
  /** Runs `work` on a connection of its own. A connection that failed is not used again. */
  use<T>(work: (query: Query) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Loads `pg` and makes a pool; nothing is connected yet. Throws STORE_FAILED when `pg` is missing or the url is none. */
export async function openPool(url: string, limits: PoolLimits): Promise<Connections> {
  const pg = await loadPg()
  const config = {
    connectionString: withClearMode(url),
    max: limits.maxConnections,
    connectionTimeoutMillis: limits.connectTimeoutMs,
    idleTimeoutMillis: limits.idleTimeoutMs,
    query_timeout: limits.statementTimeoutMs > 0 ? limits.statementTimeoutMs + GRACE_MS : undefined,
    keepAlive: true,
    application_name: 'nexus',
    types: { getTypeParser: (oid: number) => (oid === pg.types.builtins.INT8 ? Number : (text: string) => text) },
  }
  const { pool, target } = makePool(pg, config)
  // Without listeners, a lost connection would end the process. What was under way on it fails by itself.
  pool.on('error', () => {})
  pool.on('connect', (client) => void client.on('error', () => {}))
  return {
    target,
    limits,
    literal: pg.escapeLiteral,
    async listen(onProject, onEnd) {
      const client = new pg.Client(config)
      client.on('error', () => {})
      client.on('notification', ({ payload = '' }) => onProject(payload))
      client.once('end', onEnd)
      const end = (): void => {
        client.off('end', onEnd)
        client.end().catch(() => undefined)
      }
      try {
        await client.connect()
        await client.query(`listen ${CHANNEL}`)
        return end
      } catch (error) {
        end()
        throw error
      }
    },
    async use(work) {
      const client = await connect(pool, target)
      const query: Query = (text, values) =>
        client.query(text, values && [...values]).catch((error: unknown) => {
          throw toFailure(target, error)
        })
      try {
        const result = await work(query)
        client.release()
        return result
      } catch (error) {
        client.release(error instanceof ConnectionLost ? error : false)
        throw error
      }
    },
    close: () => (pool.ended || pool.ending ? Promise.resolve() : pool.end()),
  }
}

async function connect(pool: Pool, target: Target): Promise<PoolClient> {
  if (pool.ended || pool.ending) throw storeError('STORE_FAILED', MESSAGES.storeClosed({ path: target.database }))
  try {
    return await pool.connect()
  } catch (error) {
    throw toFailure(target, error)
  }
}

/** `pg` checks the certificate for these modes as for verify-full, and warns on stderr that a later version may not. */
function withClearMode(url: string): string {
  if (/[?&]uselibpqcompat=true\b/.test(url)) return url
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/, '$1verify-full')
}

/** An @ after the host: the password has a / or ? that cuts it, and the rest would be shown as host and database. */
const ADDRESS = /^postgres(ql)?:\/\/[^/?#]*([/?#][^@]*)?$/

type Pg = (typeof import('pg'))['default']

async function loadPg(): Promise<Pg> {
  try {
    return (await import('pg')).default
  } catch (cause) {
    throw storeError('STORE_FAILED', POSTGRES.noClient(), cause)
  }
}

function makePool(pg: Pg, config: PoolConfig): { pool: Pool; target: Target } {
  try {
    if (!ADDRESS.test(String(config.connectionString))) throw new Error('not an address')
    const { host, port, database } = new pg.Client(config)
    return { pool: new pg.Pool(config), target: { host, port, database: database ?? '' } }
  } catch {
    // The error of the parser contains the url, and with it the password: it is left out.
    const { message, fix } = POSTGRES.badUrl()
    throw new NexusError('STORE_FAILED', message, { fix })
  }
}

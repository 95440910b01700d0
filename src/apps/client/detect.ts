/** Finds out who listens on a port. Source: contracts §1.9, "Detection". */
import { setTimeout as sleep } from 'node:timers/promises'
import { ClientError } from './client-error.ts'
import { createClient, type ClientOptions } from './client.ts'
import { isReady } from './post.ts'

export type Detected = 'no_server' | 'nexus_server' | 'other_service' | 'timeout' | 'error'

const TIMEOUT_MS = 2_000
const WAIT_MS = 30_000
const POLL_MS = 100

/** Asks for the list of agents. A server that wants another key is one of Nexus too. */
export async function detectServer(options: ClientOptions = {}): Promise<Detected> {
  const client = createClient({ timeoutMs: TIMEOUT_MS, retries: 0, ...options })
  try {
    await client.listAgents()
    return 'nexus_server'
  } catch (error) {
    if (!(error instanceof ClientError)) return 'error'
    return toDetected(error)
  }
}

function toDetected({ kind, status, message, cause }: ClientError): Detected {
  if (kind === 'timeout') return 'timeout'
  if (kind === 'connection') return isRefused(cause) ? 'no_server' : 'other_service'
  if (kind === 'rpc') return 'nexus_server'
  const isOurs = (status === 401 || status === 403 || status === 429 || status === 503) && OURS.has(message)
  return isOurs ? 'nexus_server' : 'other_service'
}

/** A foreign server answers 401 too, but not with these words. */
const OURS: ReadonlySet<string> = new Set([
  'Authorization header required',
  'Invalid API key',
  'Too many wrong keys',
  'The server is busy',
  'The server is starting',
  'The server is shutting down',
])

function isRefused(cause: unknown): boolean {
  const code = cause instanceof Error ? (cause.cause as { code?: unknown } | undefined)?.code : undefined
  return code === 'ECONNREFUSED' || code === 'ECONNRESET'
}

/** True when a Nexus server is ready there in time: it is asked every 100 ms, for 30 s. */
export async function waitForServer(
  options: ClientOptions & { readonly waitMs?: number; readonly signal?: AbortSignal } = {},
): Promise<boolean> {
  const until = Date.now() + (options.waitMs ?? WAIT_MS)
  while (Date.now() < until && options.signal?.aborted !== true) {
    if ((await detectServer(options)) === 'nexus_server' && (await isReady(createClient(options).url))) return true
    await sleep(POLL_MS)
  }
  return false
}

/** Only programs of this machine that have the key may speak to the HTTP server, and no page of a browser. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface GuardOptions {
  readonly port: number
  /** Absent: everybody on this machine. */
  readonly key?: string | undefined
  /** Called for a wrong key, with how many there were. */
  readonly onWrongKey: (count: number) => void
}

export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 415 | 429
  readonly message: string
}

export const PATH = '/mcp'
/** Wrong keys in a minute after which more get an answer to wait; the right key is always accepted. */
const MAX_WRONG_KEYS = 50
const MINUTE_MS = 60_000

/** Checks one request before anything of its body is read. */
export function createGuard({
  port,
  key,
  onWrongKey,
}: GuardOptions): (request: IncomingMessage) => Refusal | undefined {
  const hosts = new Set(['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`))
  const wanted = key === undefined ? undefined : digest(key)
  let wrong = { since: 0, count: 0 }

  function keyProblem(values: readonly string[]): Refusal | undefined {
    if (wanted === undefined) return undefined
    const [given = ''] = values
    const token = /^Bearer ([!-~]+)$/i.exec(given)?.[1]
    if (values.length === 1 && token !== undefined && timingSafeEqual(digest(token), wanted)) return undefined
    const now = Date.now()
    if (now - wrong.since > MINUTE_MS) wrong = { since: now, count: 0 }
    onWrongKey(++wrong.count)
    if (wrong.count > MAX_WRONG_KEYS) return { status: 429, message: 'Too many wrong keys' }
    return { status: 401, message: 'A key is needed: Authorization: Bearer <key>' }
  }

  return (request) =>
    siteProblem(request.headersDistinct, hosts) ??
    keyProblem(request.headersDistinct['authorization'] ?? []) ??
    formProblem(request)
}

/** A page of a browser can reach this address too, also under a name of its own. */
function siteProblem(headers: IncomingMessage['headersDistinct'], hosts: ReadonlySet<string>): Refusal | undefined {
  const [host = '', ...more] = headers['host'] ?? []
  if (more.length > 0 || !hosts.has(host)) return { status: 403, message: 'Host is not this server' }
  // A browser names where a page comes from; other programs do not.
  if (headers['origin']?.some((origin) => origin !== `http://${host}`))
    return { status: 403, message: 'Origin is not this server' }
  if (headers['sec-fetch-site']?.some((site) => site !== 'same-origin' && site !== 'none'))
    return { status: 403, message: 'Requests of other sites are refused' }
  return undefined
}

function formProblem({ headersDistinct, method, url }: IncomingMessage): Refusal | undefined {
  if (url !== PATH) return { status: 404, message: `There is only ${PATH}` }
  const type = headersDistinct['content-type']?.join().split(';')[0]?.trim().toLowerCase()
  if (method === 'POST' && type !== 'application/json') return { status: 415, message: 'Send application/json' }
  return undefined
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

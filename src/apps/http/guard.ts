/** Only programs that have the key may speak to a server of ours, and no page of a browser that was not named. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Each header with all its values, so that a second one is seen. */
export type Headers = IncomingMessage['headersDistinct']

export interface SiteOptions {
  readonly port: number
  /** Names that may stand in the Host header besides those of this machine; without a port that of the server is meant. */
  readonly hosts?: readonly string[]
  /** Origins of web pages that may call, besides this server's own. */
  readonly origins?: readonly string[]
}

/** Why a request is refused before its key is looked at. */
export type SiteFinding = 'host' | 'origin' | 'site'
export const SITE_TEXTS: Readonly<Record<SiteFinding, string>> = {
  host: 'Host is not this server',
  origin: 'Origin is not this server',
  site: 'Requests of other sites are refused',
}

/** Why a key does not count: there is none, it is another one, or too many wrong ones came. */
export type KeyFinding = 'missing' | 'wrong' | 'too-many'

const LOCAL_NAMES = ['127.0.0.1', 'localhost', '[::1]']
/** Wrong keys in a minute after which more get an answer to wait; the right key is always accepted. */
const MAX_WRONG_KEYS = 50
const MINUTE_MS = 60_000

/** A page of a browser can reach this address too, also under a name of its own. */
export function createSiteCheck(options: SiteOptions): (headers: Headers) => SiteFinding | undefined {
  const { port, hosts: named = [], origins: pages = [] } = options
  const hosts = new Set([...LOCAL_NAMES, ...named].map((name) => hostAt(name, port)))
  const origins = new Set(pages)
  return (headers) => {
    const [host = '', ...more] = headers['host'] ?? []
    if (more.length > 0 || !hosts.has(host.toLowerCase())) return 'host'
    // A browser names where a page comes from; other programs do not.
    const from = headers['origin'] ?? []
    const isOwn = (origin: string): boolean => origin === `http://${host}` || origin === `https://${host}`
    if (from.some((origin) => !isOwn(origin) && !origins.has(origin))) return 'origin'
    const isNamed = from.length === 1 && origins.has(from[0] ?? '')
    const isOther = (site: string): boolean => site !== 'same-origin' && site !== 'none'
    return !isNamed && headers['sec-fetch-site']?.some(isOther) ? 'site' : undefined
  }
}

function hostAt(name: string, port: number): string {
  const hasPort = /:\d+$/.test(name) && !name.endsWith(']')
  return (hasPort ? name : `${name}:${port}`).toLowerCase()
}

/**
 * Compares the values of `Authorization` with the key, in the same time for every key of its length. Exactly one counts, of the scheme Bearer.
 * `onWrongKey` gets the 1st, 10th, 100th … wrong one of this minute.
 */
export function createKeyCheck(
  key: string,
  onWrongKey: (count: number) => void,
): (values: readonly string[]) => KeyFinding | undefined {
  const wanted = Buffer.from(key)
  let wrong = { since: 0, count: 0 }
  return (values) => {
    const [given = ''] = values
    const token = Buffer.from(/^\s*Bearer\s+([!-~]+)\s*$/i.exec(given)?.[1] ?? '')
    // The length of a key is no secret.
    const isRight = token.length === wanted.length && timingSafeEqual(token, wanted)
    if (values.length === 1 && isRight) return undefined
    if (values.length === 0) return 'missing'
    const now = Date.now()
    if (now - wrong.since > MINUTE_MS) wrong = { since: now, count: 0 }
    // At 1, 10, 100 …: a flood does not fill the log.
    if (/^10*$/.test(String(++wrong.count))) onWrongKey(wrong.count)
    return wrong.count > MAX_WRONG_KEYS ? 'too-many' : 'wrong'
  }
}

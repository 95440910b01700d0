/** proxy: which proxy the variables of an environment name for a URL. Pure: the caller decides whether they are used at all. */
import { invalid } from './errors.ts'

export interface ProxySettings {
  readonly http?: string | undefined
  readonly https?: string | undefined
  /** Hosts without a proxy, separated by commas: `name` (with its subdomains), `name:port` or `*`. */
  readonly no?: string | undefined
}

/** The usual variables; lower case wins, as in curl. */
export function proxySettings(variables: Readonly<Record<string, string | undefined>>): ProxySettings {
  const read = (name: string): string | undefined => variables[name] || variables[name.toUpperCase()] || undefined
  return { http: read('http_proxy'), https: read('https_proxy'), no: read('no_proxy') }
}

export interface Proxy {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** The value of Proxy-Authorization. */
  readonly authorization?: string | undefined
}

type To = Pick<Proxy, 'host' | 'port' | 'isTls'>

export function proxyFor(to: To, { http, https, no = '' }: ProxySettings): Proxy | undefined {
  const text = to.isTls ? https : http
  if (text === undefined || no.split(',').some((entry) => isExempt(to, entry.trim().toLowerCase()))) return undefined
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') throw unusable()
  const isTls = url.protocol === 'https:'
  const user = [url.username, url.password].map(decoded).join(':')
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || (isTls ? 443 : 80)),
    isTls,
    authorization: user === ':' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`,
  }
}

function isExempt({ host, port }: To, entry: string): boolean {
  if (entry === '') return false
  if (entry === '*') return true
  const [, name = '', ownPort] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? ['', entry]
  if (ownPort !== undefined && Number(ownPort) !== port) return false
  const domain = name.replace(/^\*?\./, '').replace(/^\[(.*)\]$/, '$1')
  return host === domain || host.endsWith(`.${domain}`)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw unusable()
  }
}

function unusable(): Error {
  return invalid('The proxy variable cannot be used.', 'Write it as http://HOST:PORT, or https://HOST:PORT.')
}

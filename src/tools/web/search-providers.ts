/** search-providers: what each search service is asked, and what of its answer is a result. */
import { isJsonObject, type JsonValue } from '../../kernel/index.ts'
import type { NetRequest } from '../../machine/net/index.ts'

export interface SearchSettings {
  readonly provider: 'brave' | 'searxng'
  /** With searxng its address, which may be private; with brave another address of the same interface. */
  readonly url?: string
  /** With brave: reads its key, when a search needs it. */
  readonly apiKey?: () => Promise<string | undefined>
  /** Results of a search that asks for no count; default 5. */
  readonly maxResults?: number
}

export interface SearchResult {
  readonly title: string
  readonly url: string
  readonly description: string
}

export interface Asked {
  readonly query: string
  readonly count: number
}

interface Provider {
  readonly url: string | undefined
  readonly request: (at: URL, asked: Asked, key: string | undefined) => Pick<NetRequest, 'url' | 'headers'>
  /** The list of results in its answer, and what each has besides `title` and `url`. */
  readonly results: (answer: JsonValue) => JsonValue | undefined
  readonly description: string
  readonly toText: (text: string) => string
}

/** Source: contracts §3.2. */
export const PROVIDERS: Readonly<Record<SearchSettings['provider'], Provider>> = {
  brave: {
    url: 'https://api.search.brave.com/res/v1/web/search',
    request: (at, { query, count }, key) => ({
      url: withQuery(at, { q: query, count: String(count), text_decorations: 'false' }),
      headers: { accept: 'application/json', ...(key !== undefined && { 'x-subscription-token': key }) },
    }),
    results: (answer) => memberOf(memberOf(answer, 'web'), 'results'),
    description: 'description',
    toText: fromMarkup,
  },
  searxng: {
    url: undefined,
    request: (at, { query }) => ({
      url: withQuery(at, { q: query, format: 'json' }, 'search'),
      headers: { accept: 'application/json' },
    }),
    results: (answer) => memberOf(answer, 'results'),
    description: 'content',
    toText: (text) => text,
  },
}

/** The results in an answer; undefined when it is not the answer of such a service. */
export function readResults(
  answer: JsonValue,
  provider: SearchSettings['provider'],
  count: number,
): readonly SearchResult[] | undefined {
  const { results, description, toText } = PROVIDERS[provider]
  const list = results(answer)
  if (!Array.isArray(list)) return isJsonObject(answer) && list === undefined && provider === 'brave' ? [] : undefined
  const text = (item: JsonValue, key: string): string => {
    const value = memberOf(item, key)
    return typeof value === 'string' ? toText(value) : ''
  }
  return list
    .map((item) => ({ title: text(item, 'title'), url: urlOf(item), description: text(item, description) }))
    .filter(({ url }) => url !== '')
    .slice(0, count)
}

function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Only what web_fetch could read; empty otherwise. */
function urlOf(item: JsonValue): string {
  const given = memberOf(item, 'url')
  const url = typeof given === 'string' ? URL.parse(given) : null
  return url && /^https?:$/.test(url.protocol) ? url.href : ''
}

/** `path` is added to the address, which may have a path of its own. */
function withQuery(at: URL, query: Readonly<Record<string, string>>, path = ''): string {
  const url = new URL(at)
  if (path !== '' && !url.pathname.endsWith(`/${path}`)) url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'" }

/** Brave marks the words that were found, and writes the rest as HTML. */
function fromMarkup(text: string): string {
  return text
    .replace(/<\/?strong>/g, '')
    .replace(/&(amp|lt|gt|quot|#x27|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}

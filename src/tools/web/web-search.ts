import {
  DEFAULTS,
  type Failed,
  type JsonObject,
  type JsonValue,
  type Outcome,
  type Services,
  succeeded,
  type Tool,
  type ToolContext,
  toSafeLine,
} from '../../kernel/index.ts'
import type { NetResponse } from '../../machine/net/index.ts'
import { shorten } from '../bound.ts'
import { defineTool } from '../define.ts'
import { CALLS, failedBy } from '../messages.ts'
import { WEB } from '../services.ts'
import { WEB_TEXTS } from './messages.ts'
import { type Asked, PROVIDERS, readResults, type SearchResult, type SearchSettings } from './search-providers.ts'
import { networkDenied, newMark } from './web-fetch.ts'

/**
 * `web_search{query*, count?}` → `{results: [{title, url, description}]}`, from Brave or SearXNG. Only the configured address may be
 * private. Source: seed 002, "Web Search"; contracts §3.2.
 */
export function createWebSearchTool(services: Services): Tool {
  const usual = services.get(WEB)?.search?.maxResults ?? DEFAULTS.searchResults
  return defineTool({
    name: 'web_search',
    description: 'Search the web. Gives title, URL and description of each result; read a page with web_fetch.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to search for' },
        count: { type: 'integer', minimum: 1, maximum: MAX_COUNT, default: usual, description: 'Most results' },
      },
      required: ['query'],
    },
    options: { capabilities: ['network'] },
    execute: async (args, context) => {
      const query = String(args.query).trim()
      if (query === '') return failedBy('INVALID_PARAM', CALLS.textRequired('query'))
      const denied = networkDenied('web_search', context.limits)
      if (denied) return denied
      const asked = { query, count: Number(args.count ?? usual) }
      const results = await search(services, asked, context)
      return 'type' in results ? results : toFound(query, results)
    },
  })
}

const MAX_COUNT = 10
const LIMITS = { totalMs: 25_000, maxBytes: 2 * 1024 * 1024 }

async function search(
  services: Services,
  asked: Asked,
  context: ToolContext,
): Promise<readonly SearchResult[] | Failed> {
  const { search: settings } = services.require(WEB)
  if (!settings) return failedBy('EXECUTION_ERROR', WEB_TEXTS.noSearch())
  const { provider } = settings
  const response = await send(settings, asked, context)
  const problem = statusProblem(response, provider)
  if (problem) return problem
  const answer = await readJson(response)
  const results = answer === undefined ? undefined : readResults(answer, provider, asked.count)
  return results ?? failedBy('EXECUTION_ERROR', WEB_TEXTS.noResults(provider))
}

async function send(
  { provider, url, apiKey }: SearchSettings,
  asked: Asked,
  { services, signal, limits }: ToolContext,
): Promise<NetResponse> {
  const { net = {} } = services.require(WEB)
  // Loaded when used: it loads the network parts of Node.
  const { createNet } = await import('../../machine/net/index.ts')
  const at = new URL(url ?? PROVIDERS[provider].url ?? '')
  // The address of the user's own service may be private; what it redirects to may not.
  const origins = [...(net.origins ?? []), ...(url === undefined ? [] : [at.origin])]
  const client = createNet({ ...net, origins, limits: { ...LIMITS, ...net.limits } })
  const request = PROVIDERS[provider].request(at, asked, await apiKey?.())
  return client.request({ ...request, domains: limits?.networkDomains, signal })
}

function statusProblem({ status, close }: NetResponse, provider: SearchSettings['provider']): Failed | undefined {
  if (status >= 200 && status < 300) return undefined
  close()
  if (status === 401 || status === 403 || status === 422)
    return failedBy('PERMISSION_DENIED', WEB_TEXTS.searchRefused(provider, status))
  return failedBy('EXECUTION_ERROR', WEB_TEXTS.searchFailed(provider, status))
}

async function readJson({ body }: NetResponse): Promise<JsonValue | undefined> {
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  try {
    return JSON.parse(Buffer.concat(parts).toString()) as JsonValue
  } catch {
    // Not the answer of a search service.
    return undefined
  }
}

const MAX_TITLE_CHARS = 200
const MAX_DESCRIPTION_CHARS = 600

/** One line each, between two lines that no result can know. */
function toFound(query: string, found: readonly SearchResult[]): Outcome {
  const results = found.map(({ title, url, description }): JsonObject & SearchResult => ({
    title: shorten(toSafeLine(title), MAX_TITLE_CHARS),
    url,
    description: shorten(toSafeLine(description), MAX_DESCRIPTION_CHARS),
  }))
  const asked = shorten(toSafeLine(query), MAX_TITLE_CHARS)
  const stats = { found: results.length }
  if (results.length === 0) return succeeded(WEB_TEXTS.nothingFound(asked), { results }, { stats })
  const lines = results.map(({ title, url, description }) => `- ${title} (${url}): ${description}`)
  const text = WEB_TEXTS.framed(lines.join('\n'), { what: `Results of a web search for '${asked}'`, mark: newMark() })
  return succeeded(text, { results }, { stats })
}

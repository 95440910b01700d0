/** Answers to requests that are not of JSON-RPC, or not yet: HTTP status and text. Source: contracts §1.1. */
import { SITE_TEXTS, type SiteFinding } from '../http/index.ts'
import { shown } from '../rpc/index.ts'

export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 413 | 415 | 429 | 503
  readonly error: string
}

export const isRefusal = (value: object): value is Refusal => 'status' in value && 'error' in value

const PATHS = 'Use /, /rpc, or /agent/{agent_id}.'

export const REFUSALS = {
  missing: { status: 401, error: 'Authorization header required' },
  wrong: { status: 403, error: 'Invalid API key' },
  'too-many': { status: 429, error: 'Too many wrong keys' },
  badToken: { status: 403, error: 'Invalid capability token' },
  mcpKey: { status: 403, error: '/mcp needs the key of the server' },
  agentWithoutToken: { status: 403, error: 'X-Nexus-Agent needs X-Nexus-Capability' },
  notFound: { status: 404, error: `Not found. ${PATHS}` },
  method: { status: 405, error: 'Method not allowed' },
  type: { status: 415, error: 'Send application/json' },
  tooLarge: { status: 413, error: 'The body is too large' },
  encoding: { status: 415, error: 'Send the body without a content encoding' },
  cutOff: { status: 400, error: 'The body ended too early' },
  badEventId: { status: 400, error: 'Last-Event-ID must be the id of an event' },
  busy: { status: 503, error: 'The server is busy' },
  streams: { status: 503, error: 'Too many event streams' },
  starting: { status: 503, error: 'The server is starting' },
  closing: { status: 503, error: 'The server is shutting down' },
  header: { status: 400, error: 'A header is too long' },
} as const satisfies Readonly<Record<string, Refusal>>

export const foreignSite = (finding: SiteFinding): Refusal => ({ status: 403, error: SITE_TEXTS[finding] })

export const noAgent = (id: string): Refusal => ({ status: 404, error: `Agent not found: ${shown(id)}` })

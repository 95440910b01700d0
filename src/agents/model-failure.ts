import { type Clock, errorCode, isJsonObject, NexusError, toSafeLine } from '../kernel/index.ts'
import type { ModelChoice } from './model/open-model.ts'
import { keyFix } from './model/resolve-model.ts'

/** Why the model did not answer, in words for people, and whether asking again may help. */
export interface ModelFailure {
  readonly error: NexusError
  readonly isRetryable: boolean
  /** What the server asked for. */
  readonly retryAfterMs?: number | undefined
}

interface Circumstances {
  readonly model: ModelChoice
  readonly clock: Clock
  /** True when a part of the answer had come. */
  readonly isStarted: boolean
}

/** Nobody waits longer before a repeat; a server that wants it is not waited for. */
export const MAX_RETRY_PAUSE_MS = 60_000
const MAX_DETAIL_CHARS = 300

interface Sentence {
  readonly what: string
  readonly fix: string
  readonly isRetryable?: boolean
}

/**
 * Turns what the AI SDK threw or streamed into MODEL_FAILED. The message has neither key nor stack; the original is the
 * `cause`.
 */
export function toModelFailure(thrown: unknown, circumstances: Circumstances): ModelFailure {
  const error = unwrap(thrown)
  const status = statusOf(error)
  const { what, fix, isRetryable = false } = sentence(error, status, circumstances)
  const retryAfterMs = status === undefined ? undefined : readRetryAfter(error, circumstances.clock)
  return {
    error: new NexusError('MODEL_FAILED', what, { fix, cause: thrown }),
    isRetryable: isRetryable && (retryAfterMs ?? 0) <= MAX_RETRY_PAUSE_MS,
    retryAfterMs,
  }
}

/** The failure of an answer that took longer than its step may. */
export function stepTimedOut({ model }: Pick<Circumstances, 'model'>, timeoutMs: number): ModelFailure {
  return {
    error: new NexusError(
      'MODEL_FAILED',
      `The model ${model.describe} did not finish its answer within ${timeoutMs / 1000} s.`,
      {
        fix: 'Try again, use a faster model, or raise the step time limit.',
      },
    ),
    isRetryable: false,
  }
}

function sentence(error: unknown, status: number | undefined, { model, clock, isStarted }: Circumstances): Sentence {
  if (status !== undefined) return ofStatus(error, status, { model, clock })
  const code = networkCode(error)
  if (code === 'ECONNREFUSED') {
    return {
      what: `Nothing answers for the model ${model.describe}: the connection was refused.`,
      fix: 'Start the model server, or correct its address (--base-url, model.baseUrl or OPENAI_BASE_URL).',
      isRetryable: true,
    }
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return {
      what: `The host of the model ${model.describe} was not found.`,
      fix: 'Check the network and the address (model.baseUrl, OPENAI_BASE_URL).',
      isRetryable: code === 'EAI_AGAIN',
    }
  }
  if (isUnreadable(error)) {
    return {
      what: `The model ${model.describe} sent an answer that cannot be read.`,
      fix: "Try again; when it stays so, the address does not speak this provider's interface.",
      isRetryable: true,
    }
  }
  if (code !== undefined || isBrokenConnection(error)) {
    return {
      what: `The model ${model.describe} closed the connection ${isStarted ? 'in the middle of its answer' : 'before it answered'}.`,
      fix: 'Try again; when it stays so, check the network and the model server.',
      isRetryable: true,
    }
  }
  return {
    what: `The model ${model.describe} failed${detail(error, model)}`,
    fix: 'Try again, or choose another model with --model.',
    isRetryable: isOverloaded(error),
  }
}

function ofStatus(error: unknown, status: number, { model, clock }: Omit<Circumstances, 'isStarted'>): Sentence {
  const what = (middle: string): string => `The model ${model.describe} ${middle} (${status})`
  if (status === 401 || status === 403) return refusedKey(status, model)
  if (status === 404) {
    return {
      what: `${what('was not found')}${detail(error, model)}`,
      fix: "Check the model's name and its address. Most addresses end with /v1, such as --base-url http://127.0.0.1:11434/v1.",
    }
  }
  if (status === 429) {
    const pause = readRetryAfter(error, clock)
    const asks = pause === undefined || pause === 0 ? '' : `; it asks to wait ${Math.ceil(pause / 1000)} s`
    return {
      what: `${what('refused the request: too many requests')}${asks}.`,
      fix: "Wait and try again, check the account's rate limit and credit, or choose another model with --model.",
      isRetryable: true,
    }
  }
  if (status >= 500 || status === 408 || status === 409) {
    return {
      what: `${what('failed on its side')}${detail(error, model)}`,
      fix: 'Try again later, or choose another model with --model.',
      isRetryable: true,
    }
  }
  return {
    what: `${what('refused the request')}${detail(error, model)}`,
    fix: 'Often the history is longer than the model can take: start a new session, or choose another model with --model.',
  }
}

/** Which key was sent decides what helps. */
function refusedKey(status: 401 | 403, { describe, key }: ModelChoice): Sentence {
  if (key && key.sent === undefined) {
    const why = key.withheld === undefined ? '' : ` ${key.withheld} is set, but it belongs to another address.`
    const fix = keyFix(key.variable, { isOwn: false, isWithheld: key.withheld !== undefined })
    return { what: `The model ${describe} wants a key, and none was sent (${status}).${why}`, fix }
  }
  const from = key?.sent === undefined ? '' : ` from ${key.sent}`
  return {
    what: `The model ${describe} ${status === 401 ? `refused the key${from}` : `refused access with the key${from}`} (${status}).`,
    fix: `Check that ${key?.sent ?? 'the key'} is valid for this address and may use this model.`,
  }
}

/** What the provider says, as the end of a sentence. Its words are not trusted: one visible line, no key. */
function detail(error: unknown, model: ModelChoice): string {
  const said = toSafeLine(messageOf(error))
  if (said === '') return '.'
  const text = model.redact ? model.redact(said) : said
  const short = text.length > MAX_DETAIL_CHARS ? `${text.slice(0, MAX_DETAIL_CHARS)}…` : text
  return `: ${short}${/[.!?\u2026]$/.test(short) ? '' : '.'}`
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return error
  if (error instanceof Error) return error.message
  if (!isJsonObject(error)) return ''
  const inner = error.error
  if (isJsonObject(inner) && typeof inner.message === 'string') return inner.message
  return typeof error.message === 'string' ? error.message : ''
}

/** A field of a value that came from a library. */
function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as { readonly [name: string]: unknown })[name] : undefined
}

/** The SDK wraps the last error of a series; a list of errors ends with the one that counts. */
function unwrap(error: unknown): unknown {
  return fieldOf(error, 'lastError') ?? error
}

/** An error that came after status 200 is judged by its causes. */
function statusOf(error: unknown): number | undefined {
  const status = fieldOf(error, 'statusCode')
  return typeof status === 'number' && status >= 400 ? status : undefined
}

/** `ECONNREFUSED` and the like, wherever it stands in the chain of causes. */
function networkCode(error: unknown): string | undefined {
  for (let link: unknown = error, depth = 0; link !== undefined && link !== null && depth < 8; depth++) {
    const code = errorCode(link)
    if (code !== undefined && /^(E[A-Z_]+|UND_ERR_[A-Z_]+)$/.test(code)) return code
    link = fieldOf(link, 'cause') ?? fieldOf(fieldOf(link, 'errors'), '0')
  }
  return undefined
}

function isBrokenConnection(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    (error instanceof Error && /terminated|socket|network|fetch failed/i.test(error.message))
  )
}

function isUnreadable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // The second is what the SDK says when the first event of a stream of Anthropic is no event.
  return UNREADABLE.includes(error.name) || /^Expected a normalized .* stream error/.test(error.message)
}

const UNREADABLE = [
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
]

/** Providers report an overload also inside a stream that began with status 200. */
function isOverloaded(error: unknown): boolean {
  return /overloaded|rate.?limit|server.?error|api_error/i.test(`${String(fieldOf(error, 'type'))} ${messageOf(error)}`)
}

function readRetryAfter(error: unknown, clock: Clock): number | undefined {
  const headers = fieldOf(error, 'responseHeaders')
  const exact = Number.parseFloat(String(fieldOf(headers, 'retry-after-ms')))
  if (exact >= 0) return exact
  const text = fieldOf(headers, 'retry-after')
  if (typeof text !== 'string') return undefined
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number.parseFloat(text) * 1000 : Date.parse(text) - clock.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

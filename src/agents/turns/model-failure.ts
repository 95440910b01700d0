import { type Clock, errorCode, isJsonObject, NexusError, toSafeLine } from '../../kernel/index.ts'
import type { ModelChoice } from './model/open-model.ts'
import { FAILURES, type Words } from './messages.ts'

/** Why the model did not answer, in words for people, and whether asking again may help. */
export interface ModelFailure {
  readonly error: NexusError
  readonly isRetryable: boolean
  /** The pause that the server asked for. */
  readonly retryAfterMs?: number | undefined
  /** The provider refused the request because it is longer than the model can take; with its limit, where it names one. */
  readonly isTooLong?: boolean
  readonly limit?: number | undefined
}

interface Circumstances {
  readonly model: ModelChoice
  readonly clock: Clock
  /** True when a part of the answer had come. */
  readonly isStarted: boolean
}

/** The longest wait before a repeat; Nexus does not wait for a server that wants more. */
export const MAX_RETRY_PAUSE_MS = 60_000
const MAX_DETAIL_CHARS = 300

interface Failure {
  readonly words: Words
  readonly isRetryable?: boolean
}

/**
 * Turns what the AI SDK threw or streamed into MODEL_FAILED. The message has neither key nor stack; the original is the
 * `cause`.
 */
export function toModelFailure(thrown: unknown, circumstances: Circumstances): ModelFailure {
  const error = unwrap(thrown)
  const status = statusOf(error)
  if (isTooLong(error, status)) return tooLong(error, thrown, circumstances.model)
  const { words, isRetryable = false } = failureOf(error, status, circumstances)
  const retryAfterMs = status === undefined ? undefined : readRetryAfter(error, circumstances.clock)
  return {
    error: new NexusError('MODEL_FAILED', words.message, { fix: words.fix, cause: thrown }),
    isRetryable: isRetryable && (retryAfterMs ?? 0) <= MAX_RETRY_PAUSE_MS,
    retryAfterMs,
  }
}

const TOO_LONG =
  /context_length_exceeded|exceed_context_size|maximum context|context (length|window|size)|prompt is too long|(input|prompt|request) (is )?too (long|large)|too many (input |prompt )?tokens|maximum number of (input )?tokens/i
const LIMITS = [
  /maximum context length (?:is|of) ([\d,]+)/i,
  /> ([\d,]+) maximum/i,
  /context (?:size|window|length)\D{0,30}([\d,]+)/i,
]

/** By the words of the providers: they have no status of its own for it. */
function isTooLong(error: unknown, status: number | undefined): boolean {
  if (status !== undefined && ![400, 413, 422, 500].includes(status)) return false
  return TOO_LONG.test(`${String(fieldOf(error, 'code') ?? '')} ${messageOf(error)}`)
}

function tooLong(error: unknown, cause: unknown, model: ModelChoice): ModelFailure {
  const { message, fix } = FAILURES.tooLong(model.describe, detail(error, model))
  const named = LIMITS.map((pattern) => pattern.exec(messageOf(error))?.[1]).find((text) => text !== undefined)
  const limit = named === undefined ? undefined : Number(named.replaceAll(',', ''))
  return { error: new NexusError('MODEL_FAILED', message, { fix, cause }), isRetryable: false, isTooLong: true, limit }
}

/** The failure of an answer that took longer than its step may. */
export function stepTimedOut({ model }: Pick<Circumstances, 'model'>, timeoutMs: number): ModelFailure {
  const { message, fix } = FAILURES.stepTimedOut(model.describe, timeoutMs / 1000)
  return { error: new NexusError('MODEL_FAILED', message, { fix }), isRetryable: false }
}

function failureOf(error: unknown, status: number | undefined, { model, clock, isStarted }: Circumstances): Failure {
  if (status !== undefined) return failureOfStatus(error, status, { model, clock })
  const { describe } = model
  const code = networkCode(error)
  if (code === 'ECONNREFUSED') return { words: FAILURES.refusedConnection(describe), isRetryable: true }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return { words: FAILURES.hostNotFound(describe), isRetryable: code === 'EAI_AGAIN' }
  if (/\bbad port\b/.test(messageOf(error))) return { words: FAILURES.badPort(describe) }
  if (isUnreadable(error)) return { words: FAILURES.unreadable(describe), isRetryable: true }
  if (code !== undefined || isBrokenConnection(error))
    return { words: FAILURES.closedConnection(describe, isStarted), isRetryable: true }
  return { words: FAILURES.failed(describe, detail(error, model)), isRetryable: isOverloaded(error) }
}

function failureOfStatus(error: unknown, status: number, { model, clock }: Omit<Circumstances, 'isStarted'>): Failure {
  const { describe } = model
  if (status === 401 || status === 403) return { words: refusedKey(status, model) }
  if (status === 404) return { words: FAILURES.notFound(describe, detail(error, model)) }
  if (status === 429) {
    const pause = readRetryAfter(error, clock)
    const seconds = pause === undefined || pause === 0 ? undefined : Math.ceil(pause / 1000)
    return { words: FAILURES.tooManyRequests(describe, seconds), isRetryable: true }
  }
  if (status >= 500 || status === 408 || status === 409)
    return { words: FAILURES.serverFailed(describe, status, detail(error, model)), isRetryable: true }
  return { words: FAILURES.refused(describe, status, detail(error, model)) }
}

/** The fix depends on the key that was sent. */
function refusedKey(status: 401 | 403, { describe, key }: ModelChoice): Words {
  if (key && key.sent === undefined) return FAILURES.keyMissing(describe, status, key)
  return FAILURES.keyRefused(describe, status, key?.sent)
}

/** The provider's reason, as the end of a sentence. Its words are not trusted: one visible line, no key. */
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

/** `ECONNREFUSED` and the like, anywhere in the chain of causes. */
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

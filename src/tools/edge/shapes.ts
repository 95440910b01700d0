import {
  failed,
  type FailureCode,
  isJsonObject,
  type JsonObject,
  ownValue,
  type Outcome,
  succeeded,
} from '../../kernel/index.ts'
import { toErrorText, toModelText, orNone, toNotedMessage } from './model-text.ts'
import { CALLS, failedBy } from '../messages.ts'
import { isAbsolute, relative, sep } from 'node:path'

/** Seed 000's result of a tool: exactly one of the two. */
export type OutputOrError = { readonly output: string } | { readonly error: string }

export interface SuccessOutputError {
  readonly success: boolean
  readonly output: string
  readonly error: string | null
}

/** Seed 004's stored result of a call. Source: contracts §5.1. */
export interface StatusResult {
  readonly status: 'success' | 'failed' | 'canceled' | 'timeout' | 'partial'
  readonly result: JsonObject
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly source: string
    readonly http_status: number
    readonly retryable: boolean
  }
}

export function toOutputOrError(outcome: Outcome): OutputOrError {
  return outcome.type === 'failed' ? { error: toErrorText(outcome) } : { output: toModelText(outcome) }
}

/** An outcome in the form of seed 002. A command that ends with another exit code than 0 is a success there too. */
export function toSuccessOutputError(outcome: Outcome): SuccessOutputError {
  return outcome.type === 'failed'
    ? { success: false, output: '', error: toErrorText(outcome) }
    : { success: true, output: toModelText(outcome), error: null }
}

const STATUSES: ReadonlyMap<string, 'canceled' | 'timeout'> = new Map([
  ['CANCELLED', 'canceled'],
  ['TIMEOUT', 'timeout'],
])

/** An outcome in the form of seed 004; `source` names who failed, normally the tool. */
export function toStatusResult(outcome: Outcome, { source = 'tool' }: { readonly source?: string } = {}): StatusResult {
  if (outcome.type !== 'failed') {
    const result = Object.keys(outcome.data).length > 0 ? outcome.data : { text: outcome.text }
    return { status: outcome.type, result }
  }
  const { code, http } = SERVICE_CODES[outcome.code]
  const retryable = http >= 503
  const message = outcome.fix === undefined ? outcome.message : toErrorText(outcome)
  const status = STATUSES.get(outcome.code) ?? 'failed'
  return {
    status,
    result: { error_code: code, error_message: message, error: message, error_detail: outcome.data ?? null },
    error: { code, message, source, http_status: http, retryable },
  }
}

/**
 * The returned value of a tool as an outcome: an outcome, plain text, or the forms of seeds 000 and 002. Anything else is an
 * INTERNAL_ERROR that names what the tool's author must return.
 */
export function toOutcome(toolName: string, value: unknown): Outcome {
  if (typeof value === 'string') return succeeded(value)
  if (isOutcome(value)) return value
  if (isJsonObject(value)) {
    const error = ownValue(value, 'error')
    if (typeof error === 'string' && error !== '') return failed('EXECUTION_ERROR', error)
    const output = ownValue(value, 'output')
    if (typeof output === 'string') return succeeded(output)
    if (ownValue(value, 'success') === true)
      return succeeded('', isJsonObject(output) ? output : { output: output ?? null })
  }
  return failedBy('INTERNAL_ERROR', CALLS.noOutcome(toolName))
}

/** How failures are named and numbered by the skills service. Source: contracts §5.1. */
const SERVICE_CODES: Readonly<Record<FailureCode, { readonly code: string; readonly http: number }>> = {
  NOT_FOUND: { code: 'not_found', http: 404 },
  ACCESS_DENIED: { code: 'auth_failed', http: 403 },
  PERMISSION_DENIED: { code: 'auth_failed', http: 403 },
  INVALID_PARAM: { code: 'bad_request', http: 400 },
  TIMEOUT: { code: 'tool_timeout', http: 504 },
  CANCELLED: { code: 'conflict', http: 409 },
  INTERNAL_ERROR: { code: 'internal_error', http: 500 },
  EXECUTION_ERROR: { code: 'internal_error', http: 500 },
  CONFLICT: { code: 'conflict', http: 409 },
  IS_DIRECTORY: { code: 'bad_request', http: 400 },
  BINARY_FILE: { code: 'bad_request', http: 400 },
  CIRCUIT_OPEN: { code: 'upstream_unavailable', http: 503 },
  INTERRUPTED: { code: 'internal_error', http: 500 },
}

function isOutcome(value: unknown): value is Outcome {
  if (!isJsonObject(value) || !(value.data === undefined || isJsonObject(value.data))) return false
  if (value.type === 'failed')
    return typeof value.message === 'string' && Object.hasOwn(SERVICE_CODES, String(value.code))
  return (
    (value.type === 'success' || value.type === 'partial') && typeof value.text === 'string' && value.data !== undefined
  )
}

/** The universal tool response of seed 003: exactly these keys. Source: contracts §4.1. */
export interface Envelope {
  readonly status: 'success' | 'partial' | 'error'
  readonly data: JsonObject
  readonly text: string
  readonly error?: { readonly code: FailureCode; readonly message: string }
  readonly stats: { readonly time_ms: number; readonly [name: string]: number | string }
  readonly context: { readonly cwd: string; readonly params_input: JsonObject; readonly path_resolved?: string }
}

export interface EnvelopeOptions {
  /** Duration of the call in milliseconds; at least 1 is written. */
  readonly timeMs: number
  /** Relative to the project root; normally `.`. */
  readonly cwd: string
  readonly input: JsonObject
  /** Absolute project root; `path_resolved` is relative to it. Without it an absolute path is left out. */
  readonly root?: string
}

export function toEnvelope(outcome: Outcome, { timeMs, cwd, input, root }: EnvelopeOptions): Envelope {
  const path = outcome.path === undefined ? undefined : toRelative(outcome.path, root)
  const shared = {
    data: outcome.data ?? {},
    stats: { ...outcome.stats, time_ms: Math.max(1, Math.round(timeMs)) },
    context: { cwd, params_input: input, ...(path !== undefined && { path_resolved: path }) },
  }
  if (outcome.type === 'failed') {
    const error = { code: outcome.code, message: toNotedMessage(outcome) }
    return { status: 'error', text: toErrorText(outcome), error, ...shared }
  }
  return { status: outcome.type, text: orNone(outcome.text), ...shared }
}

function toRelative(path: string, root: string | undefined): string | undefined {
  if (!isAbsolute(path)) return path
  return root === undefined ? undefined : relative(root, path).split(sep).join('/') || '.'
}

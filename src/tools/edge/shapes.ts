import {
  failed,
  type FailureCode,
  isJsonObject,
  type JsonObject,
  ownValue,
  type Outcome,
  succeeded,
} from '../../kernel/index.ts'
import { toErrorText, orNone, toNotedMessage } from './model-text.ts'
import { CALLS, failedBy, NEXT_STEPS } from '../messages.ts'
import { isAbsolute, relative, sep } from 'node:path'

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

function isOutcome(value: unknown): value is Outcome {
  if (!isJsonObject(value) || !(value.data === undefined || isJsonObject(value.data))) return false
  if (value.type === 'failed') return typeof value.message === 'string' && Object.hasOwn(NEXT_STEPS, String(value.code))
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

import { isAbsolute, relative, sep } from 'node:path'
import type { FailureCode, JsonObject, Outcome } from '../../kernel/index.ts'
import { orNone, toErrorText, toNotedMessage } from './model-text.ts'

/** The universal tool response of seed 003: exactly these keys. Source: contracts §4.1. */
export interface Envelope {
  readonly status: 'success' | 'partial' | 'error'
  readonly data: JsonObject
  readonly text: string
  /** Only when `status` is `error`. */
  readonly error?: { readonly code: FailureCode; readonly message: string }
  readonly stats: { readonly time_ms: number; readonly [name: string]: number | string }
  readonly context: { readonly cwd: string; readonly params_input: JsonObject; readonly path_resolved?: string }
}

export interface EnvelopeOptions {
  /** Duration of the call in milliseconds; at least 1 is written. */
  readonly timeMs: number
  /** Relative to the project root; normally `.`. */
  readonly cwd: string
  /** The arguments as they were given. */
  readonly input: JsonObject
  /** Absolute project root; `path_resolved` is relative to it. Without it an absolute path is left out. */
  readonly root?: string
}

/** An outcome as the envelope. Pure. */
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

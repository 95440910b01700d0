import {
  CODES,
  type ErrorCode,
  type Failed,
  type FailureCode,
  isNexusError,
  NexusError,
  toSafeText,
} from '../kernel/index.ts'
import type { ErrorMember } from './envelope.ts'
import type { Terminal } from './terminal.ts'

/** What went wrong, ready to be shown. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly fix?: string
  /** Only for faults of Nexus itself. */
  readonly stack?: string
}

/** An error of any kind as a failure; after a cancel everything that is thrown is a consequence of it. */
export function toFailure(error: unknown, signal?: AbortSignal): Failure {
  if (signal?.aborted || (isNexusError(error) && error.code === 'CANCELLED'))
    return { code: 'CANCELLED', message: 'Cancelled.' }
  if (isNexusError(error)) {
    const { code, message, fix } = error
    return { code, message: toSafeText(message), ...(fix !== undefined && { fix: toSafeText(fix) }) }
  }
  const message = 'a fault in Nexus itself. Please report it with the lines below.'
  return { code: 'INTERNAL', message, stack: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

/** Says it on stderr and returns the exit code. */
export function printFailure({ code, message, fix, stack }: Failure, terminal: Terminal): number {
  if (code === 'CANCELLED') terminal.note(message)
  else {
    terminal.note(`${terminal.paintNote('red', 'error')} ${code}: ${message}`)
    if (fix !== undefined) terminal.note(`  ${terminal.paintNote('cyan', 'fix:')} ${fix.replaceAll('\n', '\n    ')}`)
    if (stack !== undefined) terminal.note(stack)
  }
  return CODES[code].exit
}

/** The part of a failure that goes into JSON. */
export function errorMember({ code, message, fix, stack }: Failure): ErrorMember {
  const shown = stack === undefined ? message : `a fault in Nexus itself: ${stack.split('\n', 1)[0] ?? ''}`
  return { code, message: shown, ...(fix !== undefined && { fix }) }
}

/** The error behind a failed call: the one it carries, else the one that is nearest to its code. */
export function callError({ code, error, message, fix }: Failed, options: { readonly fix?: string } = {}): NexusError {
  const next = fix ?? options.fix
  return new NexusError(error ?? ERRORS[code], toSafeText(message), next === undefined ? {} : { fix: next })
}

const ERRORS: Readonly<Record<FailureCode, ErrorCode>> = {
  NOT_FOUND: 'FILE_NOT_FOUND',
  ACCESS_DENIED: 'PATH_OUTSIDE',
  PERMISSION_DENIED: 'CALL_DENIED',
  INVALID_PARAM: 'INVALID_ARGUMENT',
  TIMEOUT: 'TIMEOUT',
  CANCELLED: 'CANCELLED',
  INTERNAL_ERROR: 'INTERNAL',
  EXECUTION_ERROR: 'SANDBOX_FAILED',
  CONFLICT: 'CONFLICT',
  IS_DIRECTORY: 'INVALID_ARGUMENT',
  BINARY_FILE: 'INVALID_ARGUMENT',
  CIRCUIT_OPEN: 'CONFLICT',
  INTERRUPTED: 'STORE_FAILED',
}

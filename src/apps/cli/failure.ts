import {
  CODES,
  type ErrorCode,
  type Failed,
  type FailureCode,
  isNexusError,
  NexusError,
  type ProposedCommand,
  toSafeText,
} from '../../kernel/index.ts'
import { commandData, type ErrorMember } from './envelope.ts'
import { MESSAGES } from './messages/index.ts'
import { fixText, type Terminal } from './terminal.ts'

/** An error that ends the command, ready to be shown. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly fix?: string
  readonly proposal?: ProposedCommand
  /** Only for faults of Nexus itself. */
  readonly stack?: string
}

/** An error of any kind as a failure; after a cancel everything that is thrown is a consequence of it. */
export function toFailure(error: unknown, signal?: AbortSignal): Failure {
  if (signal?.aborted || (isNexusError(error) && error.code === 'CANCELLED'))
    return { code: 'CANCELLED', ...MESSAGES.cancelled() }
  if (isNexusError(error)) {
    const { code, message, fix, proposal } = error
    return {
      code,
      message: toSafeText(message),
      ...(fix !== undefined && { fix: toSafeText(fix) }),
      ...(proposal && { proposal }),
    }
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'INTERNAL', ...MESSAGES.internalFault(), stack }
}

/** Prints it on stderr and returns the exit code. */
export function printFailure(failure: Failure, terminal: Terminal): number {
  const { code, message, stack } = failure
  const fix = fixText(failure, terminal)
  if (code === 'CANCELLED') terminal.note(message)
  else {
    terminal.note(`${terminal.paintNote('red', 'error')} ${code}: ${message}`)
    if (fix !== undefined) terminal.note(`  ${terminal.paintNote('cyan', 'fix:')} ${fix.replaceAll('\n', '\n    ')}`)
    if (stack !== undefined) terminal.note(stack)
  }
  return CODES[code].exit
}

/** The part of a failure that goes into JSON. */
export function errorMember({ code, message, fix, proposal, stack }: Failure): ErrorMember {
  const [first] = stack?.split('\n', 1) ?? []
  return {
    code,
    message: first === undefined ? message : `${message} ${first}`,
    ...(fix !== undefined && { fix }),
    ...commandData(proposal),
  }
}

/** The error behind a failed call: the one it carries, else the one that is nearest to its code. */
export function callError(
  { code, error, message, fix }: Failed,
  options: Pick<Failure, 'fix' | 'proposal'> = {},
): NexusError {
  return new NexusError(error ?? ERRORS[code], toSafeText(message), fix === undefined ? options : { fix })
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

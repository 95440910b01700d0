import {
  type ErrorCode,
  errorCode,
  errorMessage,
  type Failed,
  failed,
  type FailureCode,
  isNexusError,
} from '../kernel/index.ts'
import { shorten } from './bound.ts'
import { CALLS, failedBy } from './messages.ts'

/**
 * A thrown error in words for the model: the tool and the reason, no stack, bounded, with the fix of a `NexusError`.
 * Source: contracts §1.9 ("Skill execution error: …"), §4.2.
 */
export function toFailure(error: unknown, tool: string): Failed {
  if (isNexusError(error)) {
    const fix = error.fix === undefined ? {} : { fix: shorten(error.fix, MAX_MESSAGE_CHARS) }
    return failed(FAILURES[error.code], shorten(error.message, MAX_MESSAGE_CHARS), { error: error.code, ...fix })
  }
  const code = error instanceof Error ? codeOf(error) : 'EXECUTION_ERROR'
  const worded = code === 'INTERNAL_ERROR' ? CALLS.internal : CALLS.threw
  return failedBy(code, worded(tool, shorten(errorMessage(error), MAX_MESSAGE_CHARS)))
}

const FAILURES: Readonly<Record<ErrorCode, FailureCode>> = {
  INVALID_ARGUMENT: 'INVALID_PARAM',
  CONFIG_INVALID: 'EXECUTION_ERROR',
  UNTRUSTED_WORKSPACE: 'PERMISSION_DENIED',
  FOREIGN_OWNER: 'PERMISSION_DENIED',
  SKILL_NOT_FOUND: 'NOT_FOUND',
  AGENT_NOT_FOUND: 'NOT_FOUND',
  SKILL_HELD: 'PERMISSION_DENIED',
  SKILL_INVALID: 'INTERNAL_ERROR',
  FILE_NOT_FOUND: 'NOT_FOUND',
  PATH_OUTSIDE: 'ACCESS_DENIED',
  CALL_DENIED: 'PERMISSION_DENIED',
  CONFLICT: 'CONFLICT',
  LEASE_LOST: 'CONFLICT',
  CANCELLED: 'CANCELLED',
  TIMEOUT: 'TIMEOUT',
  LIMIT_EXCEEDED: 'EXECUTION_ERROR',
  SANDBOX_UNAVAILABLE: 'EXECUTION_ERROR',
  SANDBOX_FAILED: 'EXECUTION_ERROR',
  MODEL_NOT_CONFIGURED: 'EXECUTION_ERROR',
  MODEL_FAILED: 'EXECUTION_ERROR',
  STORE_FAILED: 'INTERNAL_ERROR',
  ADDRESS_REFUSED: 'ACCESS_DENIED',
  NETWORK_FAILED: 'EXECUTION_ERROR',
  INSTALL_FAILED: 'EXECUTION_ERROR',
  INTERNAL: 'INTERNAL_ERROR',
}

const SYSTEM_FAILURES: ReadonlyMap<string, FailureCode> = new Map([
  ['ENOENT', 'NOT_FOUND'],
  ['EACCES', 'PERMISSION_DENIED'],
  ['EPERM', 'PERMISSION_DENIED'],
  ['EISDIR', 'IS_DIRECTORY'],
  ['EEXIST', 'CONFLICT'],
])

const MAX_MESSAGE_CHARS = 2000

function codeOf(error: Error): FailureCode {
  if (error.name === 'AbortError') return 'CANCELLED'
  if (error.name === 'TimeoutError') return 'TIMEOUT'
  const known = SYSTEM_FAILURES.get(errorCode(error) ?? '')
  if (known) return known
  // Faults in the tool's own code throw these.
  const isFault = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError
  return isFault ? 'INTERNAL_ERROR' : 'EXECUTION_ERROR'
}

import type { ErrorCode } from './failures.ts'
import type { JsonObject } from './json.ts'

/** Why a call failed, in the words of the tool response protocol. Source: contracts §4.1. */
export type FailureCode =
  | 'NOT_FOUND'
  | 'ACCESS_DENIED'
  | 'PERMISSION_DENIED'
  | 'INVALID_PARAM'
  | 'TIMEOUT'
  | 'CANCELLED'
  | 'INTERNAL_ERROR'
  | 'EXECUTION_ERROR'
  | 'CONFLICT'
  | 'IS_DIRECTORY'
  | 'BINARY_FILE'
  | 'CIRCUIT_OPEN'
  | 'INTERRUPTED'

/** Numbers about a call that are worth keeping, such as `bytes`; the duration is added by the ledger. */
export type OutcomeStats = { readonly [name: string]: number | string }

/** The call did all that was asked. */
export interface Succeeded {
  readonly type: 'success'
  /** For the model: what was done and what came out. */
  readonly text: string
  readonly data: JsonObject
  readonly stats?: OutcomeStats
  /** The file the call was about, when there is one. */
  readonly path?: string
}

/** The result is usable with a discount: cut, a fallback, or some items failed. `text` says so and how to get the rest. */
export interface PartlySucceeded extends Omit<Succeeded, 'type'> {
  readonly type: 'partial'
}

/** No usable result. `message` names the thing and the place. */
export interface Failed {
  readonly type: 'failed'
  readonly code: FailureCode
  readonly message: string
  /** The next step, when it is known better than the code says. */
  readonly fix?: string
  /** The caller's error behind it, for fronts that end with a code of their own. */
  readonly error?: ErrorCode
  /** Data of the failed call, such as the output until a timeout. */
  readonly data?: JsonObject
  readonly stats?: OutcomeStats
  readonly path?: string
}

/** Outcome of one call: the single internal type, serialised once at the edge by an adapter of `tools/`. */
export type Outcome = Succeeded | PartlySucceeded | Failed

export function succeeded(
  text: string,
  data: JsonObject = {},
  more: { stats?: OutcomeStats; path?: string } = {},
): Succeeded {
  return { type: 'success', text, data, ...more }
}

export function failed(
  code: FailureCode,
  message: string,
  more: Omit<Failed, 'type' | 'code' | 'message'> = {},
): Failed {
  return { type: 'failed', code, message, ...more }
}

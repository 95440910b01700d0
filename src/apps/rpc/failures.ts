/** The faults of a request, by the numbers of JSON-RPC, and the words of it. Names from outside are made safe here. */
import {
  CODES,
  type ErrorCode,
  isNexusError,
  type JsonObject,
  type NexusError,
  toSafeLine,
} from '../../kernel/index.ts'

export interface RpcFailure {
  readonly code: number
  readonly message: string
  /** Our own code and the next step, where there is one. */
  readonly data?: JsonObject
}

const MAX_SHOWN = 80

export const shown = (text: string): string => {
  const line = toSafeLine(text)
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line
}

const PARSE = -32_700
const INVALID_REQUEST = -32_600
const NO_METHOD = -32_601
const INVALID_PARAMS = -32_602
const INTERNAL = -32_603

const failure =
  (code: number) =>
  (message: string): RpcFailure => ({ code, message })
const invalidRequest = failure(INVALID_REQUEST)
const invalidParams = failure(INVALID_PARAMS)

/** Source of the texts: contracts §1.2 and §1.3. */
export const RPC = {
  notJson: () => failure(PARSE)('Parse error: the body is not JSON'),
  tooDeep: (max: number) => failure(PARSE)(`Parse error: the body is nested deeper than ${max} levels`),
  batch: () => invalidRequest('Batch requests are not supported'),
  noObject: () => invalidRequest('The request must be an object'),
  badId: () => invalidRequest('id must be a string, an integer or null'),
  unknownMember: (name: string) => invalidRequest(`Unknown member of the request: ${shown(name)}`),
  version: () => invalidRequest('jsonrpc must be "2.0"'),
  noMethod: () => invalidRequest('method must be a string'),
  positional: () => invalidParams('Positional params (array) not supported'),
  noParams: () => invalidParams('params must be an object'),
  unknownMethod: (name: string) => failure(NO_METHOD)(`Method not found: ${shown(name)}`),
  missing: (name: string) => invalidParams(`Missing required parameter: ${shown(name)}`),
  unknown: (name: string) => invalidParams(`Unknown parameter: ${shown(name)}`),
  wrongType: (name: string, expected: string, got: string) =>
    invalidParams(`${shown(name)} must be ${expected}, got: ${got}`),
  outOfRange: (name: string, limit: string) => invalidParams(`${shown(name)} must be ${limit}`),
  wrongParam: (error: NexusError): RpcFailure => ({ ...invalidParams(error.message), data: dataOf(error) }),
  invalidPreset: (preset: string, valid: readonly string[]) =>
    invalidParams(`Invalid preset: ${shown(preset)}. Valid: [${valid.join(', ')}]`),
  noScope: (scope: string): RpcFailure => ({
    code: CODES.CALL_DENIED.rpc,
    message: `The capability token does not carry the scope ${scope}.`,
    data: { code: 'CALL_DENIED' satisfies ErrorCode },
  }),
  internal: () => failure(INTERNAL)('Internal error. The log of the server says why.'),
}

/** Thrown by a method for params that no schema describes. */
export class RpcError extends Error {
  readonly failure: RpcFailure

  constructor(why: RpcFailure) {
    super(why.message)
    this.name = 'RpcError'
    this.failure = why
  }
}

/** Any error of a method. A foreign one says no more than that it happened: its text may hold anything. */
export function toFailure(error: unknown): RpcFailure {
  if (error instanceof RpcError) return error.failure
  if (!isNexusError(error)) return RPC.internal()
  return { code: CODES[error.code].rpc, message: error.message, data: dataOf(error) }
}

function dataOf({ code, fix }: NexusError): JsonObject {
  return { code, ...(fix !== undefined && { fix }) }
}

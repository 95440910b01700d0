/** errors: the errors of requests. An address is shown as its origin: paths and queries may contain secrets. */
import { type ErrorCode, NexusError } from '../../kernel/index.ts'

export const coded =
  (code: ErrorCode) =>
  (message: string, fix: string, cause?: unknown): NexusError =>
    new NexusError(code, message, { fix, cause })

export const invalid = coded('INVALID_ARGUMENT')
export const refused = coded('ADDRESS_REFUSED')
export const network = coded('NETWORK_FAILED')
export const exceeded = coded('LIMIT_EXCEEDED')

export const USE_PUBLIC = 'Use a public address: this tool cannot open services of this machine or its network.'

export function broken(origin: string, reason: string, cause: unknown): NexusError {
  return network(
    `The response of ${origin} cannot be used: ${reason}.`,
    'Try again. If it fails again, report it to the owner of the server.',
    cause,
  )
}

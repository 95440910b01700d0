import { errorCode, errorMessage, isNexusError, NexusError } from '../../kernel/index.ts'
import type { Target } from '../database.ts'
import { type Message, POSTGRES } from '../messages.ts'

/** The connection was lost, or the server refuses it for a moment: the same may succeed on another connection. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/** SQLSTATEs after which a transaction is over and may be tried again. */
const PASSING = new Set([
  ...['57P01', '57P02', '57P03'], // the server stops, crashed, or starts
  ...['40001', '40P01'], // serialization, deadlock
  '0A000', // another process changed a table that a planned statement reads
  ...['25P03', '53300'], // idle for too long in a transaction, too many connections
])

/** Five characters for a failure that the server reports; undefined for one of the connection itself. */
export function sqlState(error: unknown): string | undefined {
  const code = errorCode(error)
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : undefined
}

/** A failure of `pg` as one that is tried again, or as the one that is reported. Without a SQLSTATE the connection failed. */
export function toFailure(target: Target, error: unknown): Error {
  const state = sqlState(error)
  if (state === undefined || PASSING.has(state) || state.startsWith('08'))
    return new ConnectionLost(reasonOf(error), { cause: error })
  return toStoreError(target, error)
}

/** STORE_FAILED with the exact reason and what to do. Details of rows and the address's secrets are left out. */
export function toStoreError(target: Target, error: unknown): NexusError {
  if (isNexusError(error)) return error
  const cause = error instanceof ConnectionLost ? error.cause : error
  const reason = reasonOf(cause)
  const { message, fix } = explain(target, cause, reason)
  return new NexusError('STORE_FAILED', message, { fix, cause: new Error(reason) })
}

/** One address of several that were tried speaks for all. */
function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  return errorMessage(first)
}

/** Runs work that is not tried again: a lost connection is reported at once. */
export async function reported<T>(target: Target, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ConnectionLost ? toStoreError(target, error) : error
  }
}

/** By SQLSTATE, or its first two characters: the exact one first. */
const EXPLAINED: Readonly<Record<string, (facts: Target & { readonly reason: string }) => Message>> = {
  '28': POSTGRES.refused,
  '3D000': POSTGRES.noDatabase,
  '42501': POSTGRES.noPrivilege,
  '53300': POSTGRES.noConnections,
  '53': POSTGRES.full,
  '55P03': POSTGRES.busy,
  '57014': POSTGRES.busy,
  '57': POSTGRES.unreachable,
  '08': POSTGRES.unreachable,
}

function explain(target: Target, error: unknown, reason: string): Message {
  const state = sqlState(error)
  const facts = { ...target, reason }
  if (state !== undefined) {
    const explained = EXPLAINED[state] ?? EXPLAINED[state.slice(0, 2)]
    return explained?.(facts) ?? POSTGRES.failed({ ...facts, state })
  }
  const isTls = /SSL|TLS|certificate|self.signed/i.test(reason) || errorCode(error)?.startsWith('ERR_TLS') === true
  return isTls ? POSTGRES.noTls(facts) : POSTGRES.unreachable(facts)
}

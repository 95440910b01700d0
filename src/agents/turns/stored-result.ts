/** stored-result: the form of a result in the row of its turn, and back. */
import { CODES, type ErrorCode, isJsonObject, type JsonObject, type JsonValue, NexusError } from '../../kernel/index.ts'
import type { TurnRecord } from '../../store/index.ts'
import type { TurnResult } from './events.ts'
import { TURNS } from './messages.ts'

/** Ids and use are the row's own. */
export function toStored({ end, text, error }: TurnResult): JsonObject {
  return {
    end,
    text,
    ...(error && {
      error: { code: error.code, message: error.message, ...(error.fix !== undefined && { fix: error.fix }) },
    }),
  }
}

/** The result of a turn that is over. One that was cut off is `failed`; one that was cancelled or dropped before it began has no text. */
export function resultOf({ id: turnId, sessionId, state, use: usage, result = {} }: TurnRecord): TurnResult {
  const about = { turnId, sessionId, text: String(result.text ?? ''), usage }
  if (state === 'cancelled' || state === 'dropped') return { ...about, end: 'cancelled' }
  if (state === 'interrupted') {
    const { message, ...fix } = TURNS.interrupted({ turnId, sessionId })
    return { ...about, end: 'failed', error: new NexusError('LEASE_LOST', message, fix) }
  }
  if (result.end === 'done' || result.end === 'max-iterations') return { ...about, end: result.end }
  return { ...about, end: result.end === 'stopped' ? 'stopped' : 'failed', error: toError(result.error) }
}

function toError(stored: JsonValue | undefined): NexusError {
  const { code, message, fix } = isJsonObject(stored) ? stored : {}
  const isKnown = typeof code === 'string' && Object.hasOwn(CODES, code)
  const words = String(message ?? TURNS.unknownFailure().message)
  return new NexusError(isKnown ? (code as ErrorCode) : 'INTERNAL', words, typeof fix === 'string' ? { fix } : {})
}

/** turn-rows: rows of turns as records. */
import type { Away, StoredMessage, TurnRecord, TurnUse } from '../sessions.ts'
import { defined, json, optionalJson, optionalNumber, optionalText } from './columns.ts'
import type { Row, Scope } from './scope.ts'

/** Money is stored in billionths. */
export const BILLION = 1_000_000_000

/** The sums over several turns. */
export const USE = [
  ...['steps', 'input_tokens', 'output_tokens', 'total_tokens', 'estimated_tokens', 'cached_tokens'],
  ...['cost', 'active_ms'],
]
  .map((column) => `coalesce(sum(${column}), 0) as ${column}`)
  .join(', ')

export function toUse(row: Row = {}): TurnUse {
  return {
    steps: Number(row.steps),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    totalTokens: Number(row.total_tokens),
    ...(Number(row.estimated_tokens) > 0 && { estimatedTokens: Number(row.estimated_tokens) }),
    ...(Number(row.cached_tokens) > 0 && { cachedTokens: Number(row.cached_tokens) }),
    ...(Number(row.cost) > 0 && { cost: Number(row.cost) / BILLION }),
    ...(Number(row.active_ms) > 0 && { activeMs: Number(row.active_ms) }),
  }
}

export function toTurn(scope: Scope, row: Row): TurnRecord {
  return defined<TurnRecord>({
    id: String(row.id),
    sessionId: String(row.session_id),
    requestId: optionalText(row.request_id),
    message: json<StoredMessage>(scope, row.message),
    state: String(row.state) as TurnRecord['state'],
    isLeft: Number(row.is_left) === 1,
    isCancelRequested: Number(row.cancel_requested) === 1,
    createdAt: Number(row.created_at),
    startedAt: optionalNumber(row.started_at),
    endedAt: optionalNumber(row.ended_at),
    result: optionalJson<NonNullable<TurnRecord['result']>>(scope, row.result),
    use: toUse(row),
    away: toAway(String(row.away)),
    hiddenCalls: json<string[]>(scope, row.hidden_calls),
  })
}

function toAway(text: string): readonly Away[] | undefined {
  if (text === '') return undefined
  return text.split(',').map((each): Away => {
    const [from = '', to = ''] = each.split('-')
    return to === '' ? [Number(from)] : [Number(from), Number(to)]
  })
}

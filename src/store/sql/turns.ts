import { newId } from '../../kernel/index.ts'
import { MESSAGES } from '../messages.ts'
import { checkName, checkNumber, checkSessionLease, messagesToJson, QUEUE_LIMIT, storeError, toJson } from '../rules.ts'
import type { Lease } from '../leases.ts'
import type { TurnName, TurnRecord, Turns, TurnStep } from '../sessions.ts'
import { filters } from './columns.ts'
import { assertOwned, fencing, OWNED } from './leases.ts'
import { type Change, listRows, type Row, type Scope, type Statements, type Values } from './scope.ts'
import { closeCallsOfTurn } from './reclaim.ts'
import { addMessages } from './sessions.ts'
import { BILLION, toTurn, toUse, USE } from './turn-rows.ts'

/** True while the lease under which it waits lasts; one under another lease lasts as long as that. */
const IS_ALIVE = `exists (select 1 from leases left join leases as holder
    on holder.project_id = leases.project_id and holder.fence = leases.held_by
  where leases.project_id = :projectId and leases.fence = turns.queued_fence
    and coalesce(holder.expires_at, leases.expires_at) > :now)`

const COLUMNS = `id, session_id, request_id, message, state, cancel_requested, created_at, started_at, ended_at, result,
  steps, input_tokens, output_tokens, total_tokens, estimated_tokens, cached_tokens, cost, active_ms, hidden_calls, away,
  case when state = 'queued' and not ${IS_ALIVE} then 1 else 0 end as is_left`

const GET = `select ${COLUMNS} from turns where project_id = :projectId and id = :id`

const BY_REQUEST = `select ${COLUMNS} from turns
  where project_id = :projectId and session_id = :sessionId and request_id = :requestId`

const WAITING = `select count(*) as waiting from turns
  where project_id = :projectId and session_id = :sessionId and state = 'queued' and ${IS_ALIVE}`

const INSERT = `insert into turns
    (project_id, id, session_id, request_id, message, state, queued_fence, cancel_requested, created_at)
  select :projectId, :id, :sessionId, :requestId, :message, 'queued', :fence, 0, :now where ${OWNED}`

const ADOPT = `update turns set queued_fence = :fence
  where project_id = :projectId and session_id = :sessionId and state = 'queued' and not ${IS_ALIVE} and ${OWNED} returning id, seq`

const SESSION = `select (select path from agents where agents.project_id = :projectId and agents.session_id = sessions.id
    and agents.ended_at is not null) as ended from sessions where project_id = :projectId and id = :sessionId`

const UNDER_WAY = `select id, state from turns
  where project_id = :projectId and session_id = :sessionId and state in ('running', 'waiting')`

/** With an id, the turns before it that were left do not bar its way. */
const NEXT = `select id from turns where project_id = :projectId and session_id = :sessionId and state = 'queued'
    and (:id is null or id = :id or ${IS_ALIVE})
  order by seq limit 1`

const TAKE = `update turns set state = 'running', fence = :fence, started_at = :now
  where project_id = :projectId and id = :id and state = 'queued' and ${OWNED}`

/** `away` is a list such as `5-8,9-`; `LEFT` of reclaim.ts writes the first number. */
const TAKE_OVER = `update turns set state = 'running', fence = :fence,
    away = case when away like '%-' then away || cast(cast(:now as bigint) as text) else away end
  where project_id = :projectId and id = :id and state = 'waiting' and ${OWNED}`

const TAKE_OVER_CALLS = `update ledger_entries set fence = :fence
  where project_id = :projectId and turn_id = :id and state in ('asked', 'answered', 'started')`

const COUNT = `steps = steps + :steps, input_tokens = input_tokens + :inputTokens,
    output_tokens = output_tokens + :outputTokens, total_tokens = total_tokens + :totalTokens,
    estimated_tokens = estimated_tokens + :estimatedTokens, cached_tokens = cached_tokens + :cachedTokens,
    cost = cost + :cost, active_ms = active_ms + :activeMs`

const STEP = `update turns set ${COUNT}, hidden_calls = :hiddenCalls
  where project_id = :projectId and id = :id and state = 'running' and fence = :fence and ${OWNED}`

const CANCEL_WAITING = `update turns set state = 'cancelled', ended_at = :now
  where project_id = :projectId and id = :id and state = 'waiting'`

const FINISH = `update turns set state = :state, result = :result, ended_at = :now, ${COUNT}
  where project_id = :projectId and id = :id and state = 'running' and fence = :fence and ${OWNED}`

const END_QUEUED = `update turns set state = :state, ended_at = :now
  where project_id = :projectId and id = :id and state = 'queued'`

const REQUEST_CANCEL = `update turns set cancel_requested = 1
  where project_id = :projectId and id = :id and state = 'running' and cancel_requested = 0`

/** The messages that a call sent have its id. */
const SENT_BY_CALL = `select id from turns
  where project_id = :projectId and request_id = :callId and state in ('queued', 'running', 'waiting')`

const LIST = { table: 'turns', key: 'id', columns: COLUMNS }

/** The queues of one project's sessions. */
export function createSqlTurns(scope: Scope): Turns {
  const mustGet = (statements: Statements, name: TurnName): Promise<TurnRecord> => mustGetTurn(scope, statements, name)
  const takeOver = async (tx: Change, id: string, lease: Lease): Promise<TurnRecord> => {
    if ((await tx.run(TAKE_OVER, { ...fencing(lease), id })) === 0) await assertOwned(tx, lease)
    await tx.run(TAKE_OVER_CALLS, { id, fence: lease.fence })
    return changed(tx, await mustGet(tx, id))
  }
  return {
    async enqueue({ sessionId, message, lease, requestId, limit = QUEUE_LIMIT }) {
      if (requestId !== undefined) checkName('request id', requestId)
      checkNumber('limit', limit, 1)
      const [text = ''] = messagesToJson([message])
      return scope.change(async (tx) => {
        if (requestId !== undefined) {
          const known = await tx.get(BY_REQUEST, { sessionId, requestId })
          if (known?.message === text) return toTurn(scope, known)
          if (known) throw storeError('CONFLICT', MESSAGES.requestExists({ requestId, sessionId }))
        }
        const session = await tx.get(SESSION, { sessionId })
        if (!session) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchSession({ id: sessionId }))
        if (session.ended !== null) throw storeError('CONFLICT', MESSAGES.agentEnded({ path: String(session.ended) }))
        if (Number((await tx.get(WAITING, { sessionId }))?.waiting) >= limit)
          throw storeError('CONFLICT', MESSAGES.queueFull({ sessionId, limit }))
        const id = newId()
        const values = { id, sessionId, requestId: requestId ?? null, message: text }
        const queued = await tx.run(INSERT, { ...fencing(lease), ...values })
        if (queued === 0) await assertOwned(tx, lease)
        return changed(tx, await mustGet(tx, id))
      })
    },
    async take(sessionId, lease, { id, messages = [] } = {}) {
      checkSessionLease(sessionId, lease)
      return scope.change(async (tx) => {
        await assertOwned(tx, lease)
        const other = await tx.get(UNDER_WAY, { sessionId })
        if (other?.state === 'running')
          throw storeError('CONFLICT', MESSAGES.turnRunning({ sessionId, id: String(other.id) }))
        if (id !== undefined) await mustGet(tx, id)
        if (other) return other.id === id ? takeOver(tx, String(other.id), lease) : undefined
        const next = await tx.get(NEXT, { sessionId, id: id ?? null })
        if (!next || (id !== undefined && next.id !== id)) return undefined
        const taken = String(next.id)
        if ((await tx.run(TAKE, { ...fencing(lease), id: taken })) === 0) await assertOwned(tx, lease)
        const turn = await changed(tx, await mustGet(tx, taken))
        await addMessages(tx, sessionId, lease, messages)
        return turn
      })
    },
    step: (id, lease, step) => scope.change((tx) => addStep(scope, tx, { id, lease, step })),
    async finish(id, lease, { state, result, messages = [], tokens, activeMs }) {
      const text = result === undefined ? null : toJson('result', result)
      const values = { id, state, result: text, ...counting(tokens, activeMs) }
      return scope.change(async (tx) => {
        const finished = await tx.run(FINISH, { ...fencing(lease), ...values })
        if (finished === 0) await assertOwned(tx, lease)
        const turn = await mustGet(tx, id)
        if (finished === 0 && turn.state === 'running')
          throw storeError('CONFLICT', MESSAGES.notYours({ what: 'turn', id, lease }))
        if (finished === 0) return turn
        if (tokens) await stepped(tx, turn, tokens)
        await addMessages(tx, turn.sessionId, lease, messages)
        return changed(tx, turn)
      })
    },
    adopt: (sessionId, lease) =>
      scope.change(async (tx) => {
        const rows = await tx.all(ADOPT, { ...fencing(lease), sessionId })
        if (rows.length === 0) await assertOwned(tx, lease)
        const adopted: TurnRecord[] = []
        for (const { id } of rows.sort((a, b) => Number(a.seq) - Number(b.seq)))
          adopted.push(await changed(tx, await mustGet(tx, String(id)), 'adopted'))
        return adopted
      }),
    cancel: (name) => scope.change(async (tx) => cancelTurn(scope, tx, (await mustGet(tx, name)).id)),
    async drop(id) {
      return scope.change(async (tx) => {
        const dropped = await tx.run(END_QUEUED, { id, state: 'dropped' })
        const turn = await mustGet(tx, id)
        return dropped === 0 ? turn : changed(tx, turn)
      })
    },
    async get(name) {
      const row = await rowOf(scope, name)
      return row && toTurn(scope, row)
    },
    async use(sessionIds) {
      const { sql, values } = filters({ session_id: sessionIds })
      const rows = await scope.all(
        `select session_id, ${USE} from turns where project_id = :projectId ${sql} group by session_id`,
        values,
      )
      return new Map(rows.map((row) => [String(row.session_id), toUse(row)]))
    },
    async list({ sessionId, states, ...page } = {}) {
      const rows = await listRows(scope, LIST, { ...filters({ session_id: sessionId, state: states }), ...page })
      return rows.map((row) => toTurn(scope, row))
    },
  }
}

const rowOf = (statements: Statements, name: TurnName): Promise<Row | undefined> =>
  typeof name === 'string' ? statements.get(GET, { id: name }) : statements.get(BY_REQUEST, name)

async function mustGetTurn(scope: Scope, statements: Statements, name: TurnName): Promise<TurnRecord> {
  const row = await rowOf(statements, name)
  if (row) return toTurn(scope, row)
  throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchTurn(name))
}

/** See `Turns.cancel`; in the transaction of another change. */
export async function cancelTurn(scope: Scope, tx: Change, id: string): Promise<TurnRecord> {
  const isQueued = (await tx.run(END_QUEUED, { id, state: 'cancelled' })) > 0
  const isWaiting = !isQueued && (await tx.run(CANCEL_WAITING, { id })) > 0
  for (const callId of isWaiting ? await closeCallsOfTurn(tx, id) : [])
    for (const row of await tx.all(SENT_BY_CALL, { callId })) await cancelTurn(scope, tx, String(row.id))
  const isAsked = (await tx.run(REQUEST_CANCEL, { id })) > 0
  const turn = await mustGetTurn(scope, tx, id)
  if (isAsked) return changed(tx, turn, 'cancel-requested')
  return isQueued || isWaiting ? changed(tx, turn) : turn
}

/** See `Turns.step`; in the transaction of another change. */
export async function addStep(
  scope: Scope,
  tx: Change,
  { id, lease, step }: { readonly id: string; readonly lease: Lease; readonly step: TurnStep },
): Promise<TurnRecord> {
  const { message, tokens, activeMs, hiddenCalls = [] } = step
  const values = { id, ...counting(tokens, activeMs), hiddenCalls: toJson('hidden calls', hiddenCalls) }
  if ((await tx.run(STEP, { ...fencing(lease), ...values })) === 0) {
    await assertOwned(tx, lease)
    await mustGetTurn(scope, tx, id)
    throw storeError('CONFLICT', MESSAGES.notYours({ what: 'turn', id, lease }))
  }
  const turn = await mustGetTurn(scope, tx, id)
  await addMessages(tx, turn.sessionId, lease, [message])
  return stepped(tx, turn, tokens)
}

/** The values of `COUNT`. */
function counting(tokens: TurnStep['tokens'] | undefined, activeMs = 0): Values {
  const none: TurnStep['tokens'] = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
  const { inputTokens, outputTokens, totalTokens, estimatedTokens = 0, cachedTokens = 0 } = tokens ?? none
  const cost = Math.round((tokens?.cost ?? 0) * BILLION)
  const counts = { inputTokens, outputTokens, totalTokens, estimatedTokens, cachedTokens, cost, activeMs }
  for (const [name, value] of Object.entries(counts)) checkNumber(name, value)
  return { steps: tokens ? 1 : 0, ...counts }
}

/** Each answer with its number and tokens, for who follows. */
async function stepped(tx: Change, turn: TurnRecord, tokens: TurnStep['tokens']): Promise<TurnRecord> {
  const references = { turnId: turn.id, step: turn.use.steps, ...tokens }
  tx.event({ type: 'turn.step', sessionId: turn.sessionId, references })
  return turn
}

async function changed(tx: Change, turn: TurnRecord, word: string = turn.state): Promise<TurnRecord> {
  tx.event({ type: `turn.${word}`, sessionId: turn.sessionId, references: { turnId: turn.id } })
  return turn
}

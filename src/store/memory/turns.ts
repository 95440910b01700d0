import { newId } from '../../kernel/index.ts'
import { MESSAGES } from '../messages.ts'
import {
  checkLimit,
  checkName,
  checkNumber,
  checkSessionLease,
  messagesToJson,
  QUEUE_LIMIT,
  storeError,
  toJson,
} from '../rules.ts'
import type { TurnRecord, Turns } from '../sessions.ts'
import { checkMessages } from './sessions.ts'
import { addEvent, assertOwned, fromJson, newest, type Rows, type TurnRow } from './rows.ts'

export function createMemoryTurns(rows: Rows): Turns {
  const mustGet = (id: string): TurnRow => {
    const row = rows.turns.get(id)
    if (!row) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchTurn({ id }))
    return row
  }
  const ofSession = (sessionId: string): TurnRow[] =>
    [...rows.turns.values()].filter(({ turn }) => turn.sessionId === sessionId)
  const inSession = (sessionId: string, state: TurnRecord['state']): TurnRow[] =>
    ofSession(sessionId).filter(({ turn }) => turn.state === state)
  const endQueued = (id: string, state: 'cancelled' | 'dropped'): TurnRecord | undefined =>
    mustGet(id).turn.state === 'queued' ? changeTurn(rows, id, { state, endedAt: rows.now() }) : undefined
  return {
    async enqueue({ sessionId, message, lease, requestId, limit = QUEUE_LIMIT }) {
      if (requestId !== undefined) checkName('request id', requestId)
      checkNumber('limit', limit, 1)
      const [text = ''] = messagesToJson([message])
      if (requestId !== undefined) {
        const known = ofSession(sessionId).find(({ turn }) => turn.requestId === requestId)
        if (known?.message === text) return toTurn(rows, known)
        if (known) throw storeError('CONFLICT', MESSAGES.requestExists({ requestId, sessionId }))
      }
      if (!rows.sessions.has(sessionId)) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchSession({ id: sessionId }))
      if (inSession(sessionId, 'queued').filter((row) => isAlive(rows, row)).length >= limit)
        throw storeError('CONFLICT', MESSAGES.queueFull({ sessionId, limit }))
      assertOwned(rows, lease)
      const id = newId()
      const about = requestId === undefined ? { id, sessionId } : { id, sessionId, requestId }
      const turn = { ...about, state: 'queued', isCancelRequested: false, createdAt: rows.now() } as const
      rows.turns.set(id, { turn, message: text, queuedFence: lease.fence })
      return turnChanged(rows, mustGet(id))
    },
    async take(sessionId, lease, { id, messages = [] } = {}) {
      assertOwned(rows, checkSessionLease(sessionId, lease))
      const [running] = inSession(sessionId, 'running')
      if (running) throw storeError('CONFLICT', MESSAGES.turnRunning({ sessionId, id: running.turn.id }))
      if (id !== undefined) mustGet(id)
      const next = inSession(sessionId, 'queued').find(
        (row) => id === undefined || row.turn.id === id || isAlive(rows, row),
      )
      if (!next || (id !== undefined && next.turn.id !== id)) return undefined
      const add = checkMessages(rows, { sessionId, lease, messages })
      const taken = changeTurn(rows, next.turn.id, { state: 'running', startedAt: rows.now(), fence: lease.fence })
      add()
      return taken
    },
    async finish(id, lease, { state, result, messages = [] }) {
      const text = result === undefined ? {} : { result: toJson('result', result) }
      assertOwned(rows, lease)
      const row = mustGet(id)
      if (row.turn.state !== 'running') return toTurn(rows, row)
      if (row.fence !== lease.fence) throw storeError('CONFLICT', MESSAGES.notYours({ what: 'turn', id, lease }))
      checkMessages(rows, { sessionId: row.turn.sessionId, lease, messages })()
      return changeTurn(rows, id, { state, endedAt: rows.now(), ...text })
    },
    async cancel(id) {
      const cancelled = endQueued(id, 'cancelled')
      if (cancelled) return cancelled
      const row = mustGet(id)
      if (row.turn.state !== 'running' || row.turn.isCancelRequested) return toTurn(rows, row)
      const turn = { ...row.turn, isCancelRequested: true }
      rows.turns.set(id, { ...row, turn })
      return turnChanged(rows, mustGet(id), 'cancel-requested')
    },
    drop: async (id) => endQueued(id, 'dropped') ?? toTurn(rows, mustGet(id)),
    async get(id) {
      const row = rows.turns.get(id)
      return row && toTurn(rows, row)
    },
    async list({ sessionId, states, limit } = {}) {
      const most = checkLimit(limit)
      const matching = [...rows.turns.values()]
        .filter(({ turn }) => sessionId === undefined || turn.sessionId === sessionId)
        .filter(({ turn }) => states?.includes(turn.state) ?? true)
      return newest(matching, most).map((row) => toTurn(rows, row))
    },
  }
}

type TurnChange = Partial<TurnRow['turn'] & Pick<TurnRow, 'fence' | 'result'>>

/** Changes a turn and writes its event. */
export function changeTurn(rows: Rows, id: string, { fence, result, ...change }: TurnChange): TurnRecord {
  const row = rows.turns.get(id)
  if (!row) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchTurn({ id }))
  const kept = { ...(fence !== undefined && { fence }), ...(result !== undefined && { result }) }
  const changed = { ...row, ...kept, turn: { ...row.turn, ...change } }
  rows.turns.set(id, changed)
  return turnChanged(rows, changed)
}

function turnChanged(rows: Rows, row: TurnRow, word: string = row.turn.state): TurnRecord {
  const { id, sessionId } = row.turn
  addEvent(rows, { type: `turn.${word}`, sessionId, references: { turnId: id } })
  return toTurn(rows, row)
}

/** True while the process that queued it has its lease. */
function isAlive(rows: Rows, { queuedFence }: TurnRow): boolean {
  return [...rows.leases.values()].some(({ fence, expiresAt }) => fence === queuedFence && expiresAt > rows.now())
}

function toTurn(rows: Rows, row: TurnRow): TurnRecord {
  return {
    ...row.turn,
    message: fromJson<TurnRecord['message']>(row.message),
    isLeft: row.turn.state === 'queued' && !isAlive(rows, row),
    ...(row.result !== undefined && { result: fromJson<NonNullable<TurnRecord['result']>>(row.result) }),
  }
}

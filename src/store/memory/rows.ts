import { type Call, type CallState, freezeDeep, type LedgerEntry } from '../../kernel/index.ts'
import type { Approval, RememberedApproval } from '../approvals.ts'
import type { BlobReference } from '../blobs.ts'
import type { NewEvent, StoredEvent } from '../events.ts'
import type { Lease } from '../leases.ts'
import { MESSAGES } from '../messages.ts'
import { callEvent, decisionEvent, OPEN_STATES, storeError, toJson } from '../rules.ts'
import type { SessionRecord, TurnRecord } from '../sessions.ts'

/** The entry is a copy and frozen, so that callers can neither see nor cause later changes; the rest is what is searched by. */
export interface CallRow {
  readonly entry: LedgerEntry
  readonly state: CallState
  readonly fence: number
  readonly approvalId?: string
}

export interface SessionRow {
  readonly record: string
  readonly messages: string[]
}

export interface TurnRow {
  readonly turn: Omit<TurnRecord, 'isLeft' | 'message' | 'result'>
  readonly message: string
  readonly result?: string
  readonly queuedFence: number
  readonly fence?: number
}

/** The rows of one project. Every method of the store is one synchronous step over them, and checks before it changes. */
export interface Rows {
  readonly projectId: string
  now(): number
  readonly calls: Map<string, CallRow>
  /** Ids of calls that are not closed, so that closing those of gone owners does not read all. */
  readonly openCalls: Set<string>
  readonly sessions: Map<string, SessionRow>
  readonly turns: Map<string, TurnRow>
  readonly approvals: Map<string, Approval>
  readonly remembered: Map<string, RememberedApproval>
  readonly leases: Map<string, Lease>
  readonly blobs: Map<string, BlobReference>
  readonly events: StoredEvent[]
  readonly listeners: Set<(event: StoredEvent) => void>
  readonly last: { fence: number; event: number }
}

export function createRows(projectId: string, now: () => number): Rows {
  return {
    projectId,
    now,
    calls: new Map(),
    openCalls: new Set(),
    sessions: new Map(),
    turns: new Map(),
    approvals: new Map(),
    remembered: new Map(),
    leases: new Map(),
    blobs: new Map(),
    events: [],
    listeners: new Set(),
    last: { fence: 0, event: 0 },
  }
}

export function addEvent(rows: Rows, event: NewEvent): StoredEvent {
  const { type, sessionId, references = {} } = event
  const session = rows.sessions.get(sessionId ?? '')
  const agentId = event.agentId ?? (session && recordOf(session).agentId)
  const stored: StoredEvent = {
    id: ++rows.last.event,
    projectId: rows.projectId,
    at: rows.now(),
    type,
    ...(agentId !== undefined && { agentId }),
    ...(sessionId !== undefined && { sessionId }),
    references: { ...references },
  }
  rows.events.push(stored)
  for (const listener of rows.listeners) {
    try {
      listener(stored)
    } catch (error) {
      process.emitWarning(`A listener of store events threw: ${String(error)}`, 'NexusWarning')
    }
  }
  return stored
}

/** Throws LEASE_LOST when another fence is the present one. */
export function assertOwned(rows: Rows, lease: Lease): void {
  const present = rows.leases.get(lease.name)
  if (present?.fence !== lease.fence) throw storeError('LEASE_LOST', MESSAGES.leaseLost({ lease, present }))
}

/** The value of JSON text that this room wrote. */
export function fromJson<T>(text: string): T {
  return JSON.parse(text) as T
}

/** The newest of a list that is oldest first, still oldest first. */
export function newest<T>(list: readonly T[], limit: number | undefined): readonly T[] {
  return limit === undefined ? list : list.slice(Math.max(0, list.length - limit))
}

export function recordOf(row: SessionRow): SessionRecord {
  return fromJson<SessionRecord>(row.record)
}

/** A frozen copy of what may be written as JSON. */
export function frozen<T>(what: string, value: T): T {
  return freezeDeep(fromJson<T>(toJson(what, value)))
}

/** Changes an open call and writes its event. */
export function changeCall(rows: Rows, callId: string, change: Partial<LedgerEntry>): LedgerEntry {
  const row = rows.calls.get(callId)
  if (!row) throw storeError('INVALID_ARGUMENT', MESSAGES.noSuchCall({ callId }))
  const entry = Object.freeze({ ...row.entry, ...frozen('call', change) })
  const changed = { ...row, entry, state: entry.state }
  rows.calls.set(callId, changed)
  if (!OPEN_STATES.includes(changed.state)) rows.openCalls.delete(callId)
  if (change.decision) addEvent(rows, decisionEvent(entry.call, change.decision))
  callChanged(rows, entry.call, entry.state)
  return entry
}

export function callChanged(rows: Rows, call: Call, state: CallState): void {
  addEvent(rows, callEvent(call, state.replace(' ', '-')))
}

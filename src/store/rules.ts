/** Checks and rules of every store: names, values, states. */
import {
  type Call,
  type CallState,
  type Decision,
  type ErrorCode,
  failed,
  isJsonObject,
  NexusError,
  type Outcome,
} from '../kernel/index.ts'
import type { Answer, Approval, NewApproval } from './approvals.ts'
import type { NewBlobReference } from './blobs.ts'
import type { EventReferences, NewEvent } from './events.ts'
import type { Lease } from './leases.ts'
import { type Message, MESSAGES } from './messages.ts'
import type { LoadedRevision, SessionChange, SessionRecord, StoredMessage } from './sessions.ts'
import type { NewCall } from './store.ts'

const MAX_NAME_CHARS = 512
/** How many messages may wait in a session unless the caller says otherwise. */
export const QUEUE_LIMIT = 32

/** How long a question stays open after its process ended, unless the caller says otherwise: 7 days. */
export const WAITING_MS = 7 * 24 * 3_600_000

/** The outcome of a call whose process died while it ran. Source: decisions, "crash in a tool call". */
export const INTERRUPTED: Outcome = failed('INTERRUPTED', 'interrupted: outcome unknown')
/** The outcome of a call whose process died while a person was asked. */
export const NOT_RUN: Outcome = failed('INTERRUPTED', 'not run: its process ended while a person was asked')

export function storeError(code: ErrorCode, { message, fix, proposal }: Message, cause?: unknown): NexusError {
  return new NexusError(code, message, { fix, proposal, cause })
}

/** Refuses to remember what an answer to an open question may not be remembered for. */
export function checkRemember(
  { id, state, canRemember, prefix }: Approval,
  { isAllowed, remember }: Pick<Answer, 'isAllowed' | 'remember'>,
): void {
  if (!isAllowed || remember === undefined || state !== 'open') return
  if (!canRemember) throw storeError('INVALID_ARGUMENT', MESSAGES.cannotRemember({ id }))
  if (remember === 'prefix' && prefix === undefined)
    throw storeError('INVALID_ARGUMENT', MESSAGES.nothingToRemember({ id }))
}

/** The name of the lease that the owner of a session has. */
export function sessionLease(sessionId: string): string {
  return `session:${sessionId}`
}

export function sessionOfLease(name: string): string | undefined {
  const start = sessionLease('')
  return name.startsWith(start) ? name.slice(start.length) : undefined
}

export function checkSessionLease(sessionId: string, lease: Lease): Lease {
  const expected = sessionLease(sessionId)
  if (lease.name === expected) return lease
  throw storeError('INVALID_ARGUMENT', MESSAGES.wrongLease({ expected, name: lease.name }))
}

/** Ids become keys: not empty, at most 512 characters, no NUL, and no broken surrogates, which would become equal as UTF-8. */
export function checkName(what: string, value: string): string {
  const isName = typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARS
  if (isName && value.isWellFormed() && !value.includes('\0')) return value
  throw storeError('INVALID_ARGUMENT', MESSAGES.badName({ what, max: MAX_NAME_CHARS }))
}

/** The session whose history a call's answer joins. */
export function sessionOf({ id, sessionId }: Call): string {
  if (sessionId !== undefined) return sessionId
  throw storeError('INVALID_ARGUMENT', MESSAGES.noHistory({ callId: id }))
}

export function turnOf({ id, turnId }: Call): string {
  if (turnId !== undefined) return turnId
  throw storeError('INVALID_ARGUMENT', MESSAGES.noTurn({ callId: id }))
}

/** The form of an id. Source: contracts §1.6. */
const AGENT_ID = /^\.?[a-zA-Z0-9][a-zA-Z0-9._-]{0,61}$/
export const MAX_AGENT_DEPTH = 5

export function isAgentId(id: string): boolean {
  return typeof id === 'string' && AGENT_ID.test(id)
}

export function checkAgentId(id: string): void {
  if (!isAgentId(id)) throw storeError('INVALID_ARGUMENT', MESSAGES.badAgentId({ id }))
}

/** Whether a reference is the key of an agent of the pool, and not the id of a configured one. */
export function isAgentKey(reference: string): boolean {
  return reference.startsWith('@')
}

/** A call is only ever written into the ledger of its own project. */
export function checkCall(projectId: string, call: Call): Call {
  checkName('call id', call.id)
  checkName('agent id', call.agentId)
  if (call.sessionId !== undefined) checkName('session id', call.sessionId)
  if (call.turnId !== undefined) checkName('turn id', call.turnId)
  if (call.projectId === projectId) return call
  throw storeError('INVALID_ARGUMENT', MESSAGES.foreignCall({ callId: call.id }))
}

/** The event of a call: ids of rows. */
export function callEvent(
  { id: callId, agentId, sessionId, turnId }: Call,
  word: string,
  more: EventReferences = {},
): NewEvent {
  return { type: `call.${word}`, agentId, sessionId, references: { callId, turnId, ...more } }
}

/** Which verdict a call got, by which rule. The row keeps only the last decision. */
export function decisionEvent(call: Call, { type, rule }: Decision): NewEvent {
  return callEvent(call, 'decided', { verdict: type, rule })
}

/** The skills of a session that its model got since. */
export function newlyLoaded(before: readonly LoadedRevision[], now: readonly LoadedRevision[]): LoadedRevision[] {
  const known = new Set(before.map(({ address, treeDigest }) => `${treeDigest} ${address}`))
  return now.filter(({ address, treeDigest }) => !known.has(`${treeDigest} ${address}`))
}

/** The events of a change of a session: which skills it loaded, and that the skills it sees are others. */
export function sessionEvents(
  { id: sessionId, agentId, ...before }: Pick<SessionRecord, 'id' | 'agentId' | 'loaded' | 'snapshot'>,
  { loaded, snapshot }: SessionChange,
): NewEvent[] {
  const about = { agentId, sessionId }
  const events: NewEvent[] = newlyLoaded(before.loaded, loaded ?? []).map(({ address, treeDigest }) => ({
    type: 'skill.loaded',
    ...about,
    references: { skill: address, treeDigest },
  }))
  const isOther = snapshot && before.snapshot && snapshot['version'] !== before.snapshot['version']
  if (isOther) events.push({ type: 'skills.changed', ...about, references: { version: String(snapshot['version']) } })
  return [...events, { type: 'session.updated', ...about }]
}

/** The state a new call begins in, after checking that it has what that state needs. */
export function checkNewCall(projectId: string, { call, decision, approval, outcome }: NewCall): CallState {
  checkCall(projectId, call)
  if (outcome) return closedState('started', decision, outcome)
  if (decision.type !== 'ask') return 'started'
  if (!approval) throw storeError('INVALID_ARGUMENT', MESSAGES.approvalMissing({ callId: call.id }))
  checkApproval(approval)
  return 'asked'
}

function checkApproval({ id, ttlMs, waitingTtlMs }: NewApproval): void {
  if (id !== undefined) checkName('approval id', id)
  checkNumber('ttlMs', ttlMs, 1)
  if (waitingTtlMs !== undefined) checkNumber('waitingTtlMs', waitingTtlMs, 1)
}

export function checkNumber(what: string, value: number, least = 0): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw storeError('INVALID_ARGUMENT', MESSAGES.badNumber({ what, least, value }))
}

export function checkBlobReference(reference: NewBlobReference): NewBlobReference {
  const { id, digest, bytes, name, callId, sessionId, ttlMs } = reference
  checkName('id', id)
  checkName('name', name)
  checkNumber('bytes', bytes)
  if (callId !== undefined) checkName('call id', callId)
  if (sessionId !== undefined) checkName('session id', sessionId)
  if (ttlMs !== undefined) checkNumber('ttlMs', ttlMs, 1)
  if (/^[0-9a-f]{64}$/.test(digest)) return reference
  throw storeError('INVALID_ARGUMENT', MESSAGES.badDigest())
}

/** How many rows a list may have; undefined means all. */
export function checkLimit(limit: number | undefined): number | undefined {
  return limit === undefined ? undefined : checkNumber('limit', limit)
}

export function checkEvent(event: NewEvent): NewEvent {
  if (!/^[a-z-]+(\.[a-z-]+)+$/.test(event.type))
    throw storeError('INVALID_ARGUMENT', MESSAGES.badEventType({ type: event.type }))
  if (event.agentId !== undefined) checkName('agent id', event.agentId)
  if (event.sessionId !== undefined) checkName('session id', event.sessionId)
  return event
}

/** Messages as JSON text, in order. */
export function messagesToJson(messages: readonly StoredMessage[]): string[] {
  return messages.map((message, index) => {
    if (isJsonObject(message) && typeof message.role === 'string') return toJson(`message ${index + 1}`, message)
    throw storeError('INVALID_ARGUMENT', MESSAGES.badMessage({ position: index + 1 }))
  })
}

/** JSON text of a value; stores keep text, so that what is read is never what was passed in. NUL becomes `\u0000`. */
export function toJson(what: string, value: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(value)
    if (text !== undefined) return text
  } catch (cause) {
    throw storeError('INVALID_ARGUMENT', MESSAGES.notJson({ what }), cause)
  }
  throw storeError('INVALID_ARGUMENT', MESSAGES.notJson({ what, type: typeof value }))
}

/** The states in which a call can still be closed. */
export const OPEN_STATES: readonly CallState[] = ['asked', 'answered', 'started']

/** The state a call closes in, by where it was and what came of it. */
export function closedState(from: CallState, decision: Decision, outcome: Outcome): CallState {
  if (outcome.type !== 'failed') return 'done'
  if (outcome.code === 'INTERRUPTED') return from === 'started' ? 'interrupted' : 'not run'
  if (decision.type === 'deny') return 'denied'
  return from === 'started' ? 'failed' : 'not run'
}

import { type Call, failed, isJsonObject, NexusError, type Outcome } from '../kernel/index.ts'
import type { StoredMessage } from './store.ts'

const MAX_NAME_CHARS = 512

/** The outcome of a call whose process died. Source: decisions, "crash in a tool call". */
export const INTERRUPTED: Outcome = failed('INTERRUPTED', 'interrupted: outcome unknown')

/** Ids become keys: not empty, at most 512 characters, and no broken surrogates, which would fall together as UTF-8. */
export function checkName(what: string, value: string): string {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARS && value.isWellFormed()) return value
  throw new NexusError('INVALID_ARGUMENT', `The ${what} must be 1 to ${MAX_NAME_CHARS} characters of valid Unicode.`)
}

/** A call is only ever written into the ledger of its own project. */
export function checkCall(projectId: string, call: Call): Call {
  checkName('call id', call.id)
  if (call.sessionId !== undefined) checkName('session id', call.sessionId)
  if (call.turnId !== undefined) checkName('turn id', call.turnId)
  if (call.projectId === projectId) return call
  throw new NexusError('INVALID_ARGUMENT', `Call ${call.id} belongs to another project than the store.`, {
    fix: 'Open a store for the project of the call.',
  })
}

/** How many rows a list may have; undefined means all. */
export function checkLimit(limit: number | undefined): number | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 0)) return limit
  throw new NexusError('INVALID_ARGUMENT', `limit must be a whole number of at least 0, not ${limit}.`)
}

/** Messages as JSON text, in order. */
export function messagesToJson(messages: readonly StoredMessage[]): string[] {
  return messages.map((message, index) => {
    if (isJsonObject(message) && typeof message.role === 'string') return toJson(`message ${index + 1}`, message)
    throw new NexusError('INVALID_ARGUMENT', `Message ${index + 1} is not an object with a role.`)
  })
}

/** JSON text of a value; stores keep text, so that what is read is never what was passed in. */
export function toJson(what: string, value: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(value)
    if (text !== undefined) return text
  } catch (cause) {
    throw new NexusError('INVALID_ARGUMENT', `The ${what} cannot be written as JSON.`, { cause })
  }
  throw new NexusError('INVALID_ARGUMENT', `The ${what} cannot be written as JSON: it is ${typeof value}.`)
}

/** What `recover` knows of an open call: who opened it, and the session it belongs to when that is recorded. */
export interface OpenCall {
  readonly opener: string | undefined
  readonly session: { readonly state: string; readonly owner: string | undefined } | undefined
}

/** True when nobody alive can still close the call: the owner of a running turn decides, else the process that opened it. */
export function isAbandoned({ opener, session }: OpenCall, isAlive: (owner: string) => boolean): boolean {
  const owner = session?.state === 'running' && session.owner !== undefined ? session.owner : opener
  return owner === undefined || !isAlive(owner)
}

export function noSuchCall(callId: string): NexusError {
  return new NexusError('INVALID_ARGUMENT', `The ledger of this project has no call ${callId}.`, {
    fix: 'Open the call before closing it.',
  })
}

export function callExists(callId: string): NexusError {
  return new NexusError('CONFLICT', `The ledger of this project already has a call ${callId}.`, {
    fix: 'Give every call an id of its own.',
  })
}

export function noSuchSession(id: string): NexusError {
  return new NexusError('INVALID_ARGUMENT', `This project has no session ${id}.`, {
    fix: 'Create the session first, or list the sessions for their ids.',
  })
}

export function sessionExists(id: string): NexusError {
  return new NexusError('CONFLICT', `This project already has a session ${id}.`, {
    fix: 'Give every session an id of its own.',
  })
}

export function sessionNotIn(id: string, state: string): NexusError {
  return new NexusError('CONFLICT', `Session ${id} is not ${state}.`, {
    fix: state === 'idle' ? 'Wait until its turn ends, or cancel it.' : 'Start a turn first.',
  })
}

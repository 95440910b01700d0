/** One request of JSON-RPC 2.0 from text that is not trusted. No batches, params by name only. Source: contracts §1.2. */
import { isJsonObject, type JsonObject } from '../../kernel/index.ts'
import { RPC, type RpcFailure } from './failures.ts'

export type RequestId = string | number | null

export interface Request {
  readonly method: string
  readonly params: JsonObject
  /** Undefined: a notification, which is never answered. */
  readonly id: Exclude<RequestId, null> | undefined
}

export type Read =
  | { readonly type: 'request'; readonly request: Request }
  | { readonly type: 'failure'; readonly failure: RpcFailure; readonly id: RequestId }

/** Deeper text is refused before it is parsed: what is nested too deep cannot be written again. */
export const MAX_DEPTH = 64
const MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'method', 'params', 'id'])

export function readRequest(text: string): Read {
  if (isDeeper(text, MAX_DEPTH)) return unreadable(RPC.tooDeep(MAX_DEPTH))
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return unreadable(RPC.notJson())
  }
  if (!isJsonObject(body)) return invalid(Array.isArray(body) ? RPC.batch() : RPC.noObject(), null)
  return fromObject(body)
}

function fromObject(body: JsonObject): Read {
  const { jsonrpc, method, params = {}, id = null } = body
  const known = idOf(id)
  if (known === undefined) return invalid(RPC.badId(), null)
  const extra = Object.keys(body).find((name) => !MEMBERS.has(name))
  if (extra !== undefined) return invalid(RPC.unknownMember(extra), known)
  if (jsonrpc !== '2.0') return invalid(RPC.version(), known)
  if (typeof method !== 'string') return invalid(RPC.noMethod(), known)
  if (Array.isArray(params)) return invalid(RPC.positional(), known)
  if (!isJsonObject(params)) return invalid(RPC.noParams(), known)
  return { type: 'request', request: { method, params, id: known ?? undefined } }
}

function idOf(id: unknown): RequestId | undefined {
  return id === null || typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : undefined
}

const unreadable = (failure: RpcFailure): Read => ({ type: 'failure', failure, id: null })
const invalid = (failure: RpcFailure, id: RequestId): Read => ({ type: 'failure', failure, id })

/** Brackets in strings do not count. */
function isDeeper(text: string, max: number): boolean {
  let depth = 0
  let isString = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (isString) {
      if (char === BACKSLASH) at += 1
      else if (char === QUOTE) isString = false
    } else if (char === QUOTE) isString = true
    else if (char === OPEN_LIST || char === OPEN_OBJECT) {
      depth += 1
      if (depth > max) return true
    } else if (char === CLOSE_LIST || char === CLOSE_OBJECT) depth -= 1
  }
  return false
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

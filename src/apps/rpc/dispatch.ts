/** From a request to its answer: find the method, check scope and params, run it. */
import type { JsonObject } from '../../kernel/index.ts'
import type { Request, RequestId } from './envelope.ts'
import { RPC, RpcError, type RpcFailure, toFailure } from './failures.ts'
import { type AgentContext, type AgentMethod, type GlobalMethod, type MethodContext, scopeOf } from './method.ts'
import type { MethodTable } from './table.ts'
import type { z } from 'zod'

/** A request whose method is known and whose params fit. */
export interface Prepared {
  /** It may take as long as an agent works. */
  readonly isWaiting: boolean
  /** Facts for the log and the trace. */
  readonly notes: Readonly<Record<string, string>>
  /** The text of the answer. Never rejects. */
  answer(): Promise<string>
}

export type Route =
  | { readonly type: 'global'; readonly context: MethodContext }
  | { readonly type: 'agent'; readonly context: AgentContext }

/** `onError` gets errors that are not of the caller's making. */
export function prepare(
  { method, params, id }: Request,
  { table, route }: { readonly table: MethodTable; readonly route: Route },
  onError: (method: string, error: unknown) => void,
): Prepared | { readonly failure: RpcFailure } {
  const row = table[route.type].get(method)
  if (!row) return { failure: RPC.unknownMethod(method) }
  const refused = refusal(row, route)
  if (refused) return { failure: refused }
  let checked: object
  try {
    checked = checkParams(row.params, params)
  } catch (error) {
    return { failure: toFailure(error) }
  }
  return {
    isWaiting: row.isWaiting?.(checked) ?? false,
    notes: row.notes?.(checked) ?? {},
    async answer() {
      try {
        const result = await row.run(checked as never, route.context as never)
        return resultText(id ?? null, result as JsonObject)
      } catch (error) {
        const failure = toFailure(error)
        if (failure.code === INTERNAL) onError(method, error)
        return failureText(id ?? null, failure)
      }
    },
  }
}

const INTERNAL = RPC.internal().code

function refusal(row: GlobalMethod | AgentMethod, { type, context: { caller } }: Route): RpcFailure | undefined {
  if (caller.type === 'key') return undefined
  const scope = scopeOf(type, row)
  return row.isForKeyOnly || !caller.scopes.has(scope) ? RPC.noScope(scope) : undefined
}

export function resultText(id: RequestId, result: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

export function failureText(id: RequestId, error: RpcFailure): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error })
}

/** Throws RpcError for the first fault. */
function checkParams<S extends z.ZodType>(schema: S, params: JsonObject): z.output<S> {
  const { success, data, error } = schema.safeParse(params, { reportInput: true })
  if (success) return data
  const [issue] = error.issues
  throw new RpcError(issue ? paramFailure(issue) : RPC.noParams())
}

type Issue = z.core.$ZodIssue

function paramFailure(issue: Issue): RpcFailure {
  const name = nameOf(issue.path)
  switch (issue.code) {
    case 'unrecognized_keys':
      return RPC.unknown(issue.keys[0] ?? '')
    case 'invalid_type':
      return issue.input === undefined ? RPC.missing(name) : RPC.wrongType(name, issue.expected, typeOf(issue.input))
    case 'invalid_union':
      return issue.input === undefined
        ? RPC.missing(name)
        : RPC.wrongType(name, 'string or integer', typeOf(issue.input))
    case 'invalid_value':
      return RPC.outOfRange(name, `one of: ${issue.values.join(', ')}`)
    case 'too_small':
      return RPC.outOfRange(name, `at least ${issue.minimum}${unitOf(issue.origin)}`)
    case 'too_big':
      return RPC.outOfRange(name, `at most ${issue.maximum}${unitOf(issue.origin)}`)
    default:
      return RPC.outOfRange(name, issue.message)
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters'
  return origin === 'array' ? ' items' : ''
}

/** `disable_tools[1]`. */
function nameOf(path: readonly PropertyKey[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return text.replace(/^\./, '')
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}

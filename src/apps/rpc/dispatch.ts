/** From a request to its answer: find the method, check scope and params, run it. */
import type { JsonObject } from '../../kernel/index.ts'
import type { Request, RequestId } from './envelope.ts'
import { RPC, type RpcFailure, toFailure } from './failures.ts'
import { type AgentContext, type AgentMethod, type GlobalMethod, type MethodContext, scopeOf } from './method.ts'
import { checkParams } from './params.ts'
import type { MethodTable } from './table.ts'

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

/** Params against the schema of a method; what is wrong is said in the words of contracts §1.3, without any value. */
import type { z } from 'zod'
import type { JsonObject } from '../../kernel/index.ts'
import { RPC, RpcError, type RpcFailure } from './failures.ts'

/** Throws RpcError for the first fault. */
export function checkParams<S extends z.ZodType>(schema: S, params: JsonObject): z.output<S> {
  const { success, data, error } = schema.safeParse(params, { reportInput: true })
  if (success) return data
  const [issue] = error.issues
  throw new RpcError(issue ? toFailure(issue) : RPC.noParams())
}

type Issue = z.core.$ZodIssue

function toFailure(issue: Issue): RpcFailure {
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

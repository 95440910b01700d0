import { isJsonObject, type JsonObject } from '../kernel/index.ts'

/** A breach of the envelope's rules. `warning`: allowed, yet hard for a model to use. */
export interface EnvelopeIssue {
  readonly rule: string
  readonly message: string
  readonly severity: 'error' | 'warning'
}

/**
 * The faults of a tool response, by the families of seed 003: V structure, S meaning of the status, T text,
 * D names inside `data`. Empty for a sound one. Pure. Source: contracts §4.1.
 */
export function validateEnvelope(value: unknown): readonly EnvelopeIssue[] {
  if (!isJsonObject(value)) return [{ rule: 'V001', message: 'the response is not an object', severity: 'error' }]
  const broken = RULES.filter(({ holds }) => !holds(value))
  return broken.map(({ rule, message, severity = 'error' }) => ({ rule, message, severity }))
}

interface Rule {
  readonly rule: string
  readonly message: string
  readonly severity?: EnvelopeIssue['severity']
  readonly holds: (envelope: JsonObject) => boolean
}

const KEYS = ['status', 'data', 'text', 'error', 'stats', 'context']
const CODES = [
  'NOT_FOUND', 'ACCESS_DENIED', 'PERMISSION_DENIED', 'INVALID_PARAM', 'TIMEOUT', 'INTERNAL_ERROR', 'EXECUTION_ERROR', 'CONFLICT',
  'IS_DIRECTORY', 'BINARY_FILE', 'CIRCUIT_OPEN', 'MCP_PARAM_ERROR', 'MCP_PARSE_ERROR', 'MCP_EXECUTION_ERROR', 'MCP_NETWORK_ERROR',
  'MCP_TIMEOUT', 'MCP_NOT_FOUND',
  // Ours: a call that was stopped, and one whose process died.
  'CANCELLED', 'INTERRUPTED',
] // oxfmt-ignore

const is = (status: string) => (envelope: JsonObject) => envelope.status === status
const isSuccess = is('success')
const isPartial = is('partial')
const isError = is('error')
const text = ({ text: value }: JsonObject): string => (typeof value === 'string' ? value : '')

function part(envelope: JsonObject, key: string): JsonObject {
  const value = envelope[key]
  return isJsonObject(value) ? value : {}
}

const data = (envelope: JsonObject): JsonObject => part(envelope, 'data')
const isRelative = (path: unknown): boolean =>
  typeof path === 'string' && path !== '' && !/^(?:[/\\]|[A-Za-z]:)/.test(path)
const isFull = (list: unknown): boolean => Array.isArray(list) && list.length > 0

/** True when the list is absent, or an array whose items all fit. */
function listOf(list: unknown, fits: (item: unknown) => boolean): boolean {
  return list === undefined || (Array.isArray(list) && list.every(fits))
}

function hasDiscount(envelope: JsonObject): boolean {
  const { truncated, fallback, applied, failed_items: items } = data(envelope)
  return truncated === true || typeof fallback === 'string' || applied === false || isFull(items)
}

function isEntry(item: unknown): boolean {
  return isJsonObject(item) && typeof item.path === 'string' && ['file', 'dir', 'link'].includes(String(item.type))
}

function isMatch(item: unknown): boolean {
  return (
    isJsonObject(item) &&
    typeof item.file === 'string' &&
    typeof item.line === 'number' &&
    typeof item.text === 'string'
  )
}

const RULES: readonly Rule[] = [
  {
    rule: 'V002',
    message: `a key is not one of ${KEYS.join(', ')}`,
    holds: (e) => Object.keys(e).every((key) => KEYS.includes(key)),
  },
  {
    rule: 'V003',
    message: 'status is not success, partial or error',
    holds: (e) => isSuccess(e) || isPartial(e) || isError(e),
  },
  { rule: 'V004', message: 'data is not an object', holds: (e) => isJsonObject(e.data) },
  { rule: 'V005', message: 'text is not a string', holds: (e) => typeof e.text === 'string' },
  {
    rule: 'V006',
    message: 'error stands beside a status that is not error',
    holds: (e) => isError(e) || e.error === undefined || e.error === null,
  },
  { rule: 'V007', message: 'error is not { code, message }', holds: (e) => !isError(e) || isErrorObject(e.error) },
  {
    rule: 'V008',
    message: 'error.code is unknown',
    holds: (e) => !isError(e) || CODES.includes(String(part(e, 'error').code)),
  },
  {
    rule: 'V009',
    message: 'stats.time_ms is not a number of at least 0',
    holds: (e) => Number(part(e, 'stats').time_ms ?? -1) >= 0 && typeof part(e, 'stats').time_ms === 'number',
  },
  {
    rule: 'V010',
    message: 'stats holds something else than numbers and strings',
    holds: (e) => Object.values(part(e, 'stats')).every((item) => ['number', 'string'].includes(typeof item)),
  },
  { rule: 'V011', message: 'context.cwd is not a relative path', holds: (e) => isRelative(part(e, 'context').cwd) },
  {
    rule: 'V012',
    message: 'context.params_input is not an object, or path_resolved not a relative path',
    holds: hasContextPaths,
  },
  {
    rule: 'S001',
    message: 'a success is truncated; that is partial',
    holds: (e) => !isSuccess(e) || data(e).truncated !== true,
  },
  {
    rule: 'S002',
    message: 'a success used a fallback; that is partial',
    holds: (e) => !isSuccess(e) || data(e).fallback === undefined,
  },
  {
    rule: 'S003',
    message: 'a success has failed items; that is partial',
    holds: (e) => !isSuccess(e) || !isFull(data(e).failed_items),
  },
  {
    rule: 'S004',
    message: 'a success was not applied; that is partial',
    holds: (e) => !isSuccess(e) || data(e).applied !== false,
  },
  {
    rule: 'S005',
    message: 'a partial result names no discount (truncated, fallback, applied: false, failed_items)',
    holds: (e) => !isPartial(e) || hasDiscount(e),
  },
  {
    rule: 'S006',
    message: 'an error claims that a change was applied',
    holds: (e) => !isError(e) || data(e).applied !== true,
  },
  {
    rule: 'S007',
    message: 'a success took less than 1 ms',
    severity: 'warning',
    holds: (e) => !isSuccess(e) || Number(part(e, 'stats').time_ms) >= 1,
  },
  {
    rule: 'S008',
    message: 'a truncated result does not say what was kept',
    severity: 'warning',
    holds: (e) => data(e).truncated !== true || isJsonObject(data(e).truncation),
  },
  { rule: 'T001', message: 'text is empty', holds: (e) => text(e).trim() !== '' },
  {
    rule: 'T002',
    message: 'text has less than 10 characters',
    severity: 'warning',
    holds: (e) => text(e).trim().length >= 10,
  },
  {
    rule: 'T003',
    message: 'the text of a partial result does not mention the discount',
    severity: 'warning',
    holds: (e) =>
      !isPartial(e) ||
      /cut|truncat|partial|first|fallback|failed|dry run|not applied|incomplete|omitted|only/i.test(text(e)),
  },
  {
    rule: 'T004',
    message: 'the text of an error does not mention it',
    severity: 'warning',
    holds: (e) => !isError(e) || text(e).includes(String(part(e, 'error').message ?? '')),
  },
  {
    rule: 'D001',
    message: 'data.entries is not a list of { path, type: file | dir | link }',
    holds: (e) => listOf(data(e).entries, isEntry),
  },
  {
    rule: 'D002',
    message: 'data.paths is not a list of relative POSIX paths',
    holds: (e) => listOf(data(e).paths, (path) => isRelative(path) && !String(path).includes('\\')),
  },
  {
    rule: 'D003',
    message: 'data.matches is not a list of { file, line, text }',
    holds: (e) => listOf(data(e).matches, isMatch),
  },
  {
    rule: 'D004',
    message: 'data.content is not a string',
    holds: (e) => ['undefined', 'string'].includes(typeof data(e).content),
  },
  {
    rule: 'D005',
    message: 'data.applied is not true or false',
    holds: (e) => ['undefined', 'boolean'].includes(typeof data(e).applied),
  },
  {
    rule: 'D006',
    message: 'data.truncated is not true or false',
    holds: (e) => ['undefined', 'boolean'].includes(typeof data(e).truncated),
  },
  { rule: 'D007', message: 'data.failed_items is not a list', holds: (e) => listOf(data(e).failed_items, () => true) },
]

function isErrorObject(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    typeof value.code === 'string' &&
    typeof value.message === 'string' &&
    Object.keys(value).length === 2
  )
}

function hasContextPaths(envelope: JsonObject): boolean {
  const { params_input: input, path_resolved: path } = part(envelope, 'context')
  return isJsonObject(input) && (path === undefined || isRelative(path))
}

import { isJsonObject, type JsonObject } from '../kernel/index.ts'

/** A breach of the envelope's rules. */
interface EnvelopeIssue {
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
  return Object.entries(RULES).flatMap(([rule, [message, holds]]): readonly EnvelopeIssue[] =>
    holds(value) ? [] : [{ rule, message, severity: WARNINGS.includes(rule) ? 'warning' : 'error' }],
  )
}

/** Allowed, yet hard for a model to use. */
const WARNINGS = ['S007', 'S008', 'T002', 'T003', 'T004']
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

/** The message of each rule, and what a sound envelope fulfils. */
const RULES: Readonly<Record<string, readonly [string, (envelope: JsonObject) => boolean]>> = {
  V002: [`a key is not one of ${KEYS.join(', ')}`, (e) => Object.keys(e).every((key) => KEYS.includes(key))],
  V003: ['status is not success, partial or error', (e) => isSuccess(e) || isPartial(e) || isError(e)],
  V004: ['data is not an object', (e) => isJsonObject(e.data)],
  V005: ['text is not a string', (e) => typeof e.text === 'string'],
  V006: [
    'error stands beside a status that is not error',
    (e) => isError(e) || e.error === undefined || e.error === null,
  ],
  V007: ['error is not { code, message }', (e) => !isError(e) || isErrorObject(e.error)],
  V008: ['error.code is unknown', (e) => !isError(e) || CODES.includes(String(part(e, 'error').code))],
  V009: [
    'stats.time_ms is not a number of at least 0',
    (e) => Number(part(e, 'stats').time_ms ?? -1) >= 0 && typeof part(e, 'stats').time_ms === 'number',
  ],
  V010: [
    'stats holds something else than numbers and strings',
    (e) => Object.values(part(e, 'stats')).every((item) => ['number', 'string'].includes(typeof item)),
  ],
  V011: ['context.cwd is not a relative path', (e) => isRelative(part(e, 'context').cwd)],
  V012: ['context.params_input is not an object, or path_resolved not a relative path', hasContextPaths],
  S001: ['a success is truncated; that is partial', (e) => !isSuccess(e) || data(e).truncated !== true],
  S002: ['a success used a fallback; that is partial', (e) => !isSuccess(e) || data(e).fallback === undefined],
  S003: ['a success has failed items; that is partial', (e) => !isSuccess(e) || !isFull(data(e).failed_items)],
  S004: ['a success was not applied; that is partial', (e) => !isSuccess(e) || data(e).applied !== false],
  S005: [
    'a partial result names no discount (truncated, fallback, applied: false, failed_items)',
    (e) => !isPartial(e) || hasDiscount(e),
  ],
  S006: ['an error claims that a change was applied', (e) => !isError(e) || data(e).applied !== true],
  S007: ['a success took less than 1 ms', (e) => !isSuccess(e) || Number(part(e, 'stats').time_ms) >= 1],
  S008: [
    'a truncated result does not say what was kept',
    (e) => data(e).truncated !== true || isJsonObject(data(e).truncation),
  ],
  T001: ['text is empty', (e) => text(e).trim() !== ''],
  T002: ['text has less than 10 characters', (e) => text(e).trim().length >= 10],
  T003: [
    'the text of a partial result does not mention the discount',
    (e) =>
      !isPartial(e) ||
      /cut|truncat|partial|first|fallback|failed|dry run|not applied|incomplete|omitted|only/i.test(text(e)),
  ],
  T004: [
    'the text of an error does not mention it',
    (e) => !isError(e) || text(e).includes(String(part(e, 'error').message ?? '')),
  ],
  D001: ['data.entries is not a list of { path, type: file | dir | link }', (e) => listOf(data(e).entries, isEntry)],
  D002: [
    'data.paths is not a list of relative POSIX paths',
    (e) => listOf(data(e).paths, (path) => isRelative(path) && !String(path).includes('\\')),
  ],
  D003: ['data.matches is not a list of { file, line, text }', (e) => listOf(data(e).matches, isMatch)],
  D004: ['data.content is not a string', (e) => ['undefined', 'string'].includes(typeof data(e).content)],
  D005: ['data.applied is not true or false', (e) => ['undefined', 'boolean'].includes(typeof data(e).applied)],
  D006: ['data.truncated is not true or false', (e) => ['undefined', 'boolean'].includes(typeof data(e).truncated)],
  D007: ['data.failed_items is not a list', (e) => listOf(data(e).failed_items, () => true)],
}

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

import type { ErrorObject } from 'ajv/dist/2020.js'
import {
  errorMessage,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  nearest,
  type Tool,
  toSafeLine,
} from '../kernel/index.ts'
import { ARGUMENTS, CALLS, type Message } from './messages.ts'

export type CheckedArguments =
  | {
      readonly type: 'valid'
      readonly arguments: JsonObject
      /** For the model: what was left out. */
      readonly notes: readonly string[]
    }
  | { readonly type: 'invalid'; readonly message: Message }
  | { readonly type: 'broken'; readonly message: Message; readonly reason: string }

/**
 * Checks what a caller gave against the tool's schema. `_parallel` is taken away first; unknown arguments are dropped
 * with a note, or refused by closed tools. `isShipped`: the schema itself is not checked. Source: decisions, "unknown arguments"; contracts §1.9.
 */
export async function checkArguments(tool: Tool, given: unknown, isShipped: boolean): Promise<CheckedArguments> {
  if (!isJsonObject(given)) return invalid(tool, [ARGUMENTS.notAnObject()])
  const { kept, unknown } = splitKnown(tool, given)
  // The tools of the skills service refuse what they do not know. Source: contracts §5.2.
  if (unknown.length > 0 && tool.name.startsWith('skills.') && tool.parameters.additionalProperties === false)
    return invalid(tool, unknownProblems(tool, unknown))
  const polluting = pollutingPath(kept)
  if (polluting !== undefined) return invalid(tool, [ARGUMENTS.polluting(polluting)])
  const { compileSchema } = await loadSchemas()
  try {
    const errors = compileSchema(tool.parameters, isShipped)(kept)
    const name = withoutText(tool, kept)
    if (name !== undefined) return { type: 'invalid', message: CALLS.textRequired(name) }
    if (errors.length > 0) {
      // A misspelt name is why the right one is missing.
      return invalid(tool, [...new Set(errors.map(toProblem)), ...unknownProblems(tool, unknown)])
    }
  } catch (error) {
    const why = errorMessage(error)
    return { type: 'broken', message: CALLS.brokenSchema(tool.name, why), reason: why }
  }
  return { type: 'valid', arguments: kept, notes: unknownProblems(tool, unknown, ARGUMENTS.ignored) }
}

/** Asks for the whole batch at once; never an argument of a tool. Source: contracts §1.9. */
export const PARALLEL_ARGUMENT = '_parallel'

const PARALLEL_SCHEMA = {
  type: 'boolean',
  description: 'True runs all calls of this answer at once. Default: one after the other, until one fails.',
} as const

export function withParallel(parameters: JsonSchema): JsonSchema {
  const own = isJsonObject(parameters.properties) ? parameters.properties : {}
  if (Object.hasOwn(own, PARALLEL_ARGUMENT)) return parameters
  return { ...parameters, properties: { ...own, [PARALLEL_ARGUMENT]: PARALLEL_SCHEMA } }
}

/** Ajv is loaded by the first call of any tool. Asking the module loader again for each call costs more than the check itself. */
const loadSchemas = once(() => import('./json-schema.ts'))

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => (loading ??= load())
}

/** Keywords through which a schema may know more names than those under `properties`. */
const OPEN_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'if', '$ref', '$dynamicRef', 'dependentSchemas', 'patternProperties']
const MAX_PROBLEMS = 5

function splitKnown(tool: Tool, given: JsonObject): { kept: JsonObject; unknown: readonly string[] } {
  const entries = Object.entries(given).filter(([name]) => name !== PARALLEL_ARGUMENT)
  const known = knownNames(tool)
  const isKnown = (name: string): boolean => known === undefined || known.has(name)
  const unknown = entries.map(([name]) => name).filter((name) => !isKnown(name))
  // fromEntries defines own properties, so that a name such as `__proto__` stays plain data.
  return { kept: Object.fromEntries(entries.filter(([name]) => isKnown(name))), unknown }
}

/** Undefined when the schema takes names that it does not list. */
function knownNames({ parameters }: Tool): ReadonlySet<string> | undefined {
  const { properties, additionalProperties } = parameters
  const isClosing = additionalProperties === undefined || additionalProperties === false
  if (!isClosing || OPEN_KEYWORDS.some((keyword) => Object.hasOwn(parameters, keyword))) return undefined
  if (isJsonObject(properties)) return new Set(Object.keys(properties))
  return additionalProperties === false ? new Set() : undefined
}

/** The faults of arguments that the tool does not take, each with the nearest one. */
export function unknownArguments(tool: Tool, given: JsonObject): readonly string[] {
  return unknownProblems(tool, splitKnown(tool, given).unknown)
}

function invalid(tool: Tool, problems: readonly string[]): CheckedArguments {
  return { type: 'invalid', message: CALLS.invalidArguments(tool.name, problems, MAX_PROBLEMS) }
}

/** The first names in full, the others as a number: a caller may give any number. */
function unknownProblems(
  tool: Tool,
  names: readonly string[],
  worded: (problem: string) => string = (problem) => problem,
): readonly string[] {
  const known = [...(knownNames(tool) ?? [])]
  const problems = names
    .slice(0, MAX_PROBLEMS)
    .map((name) =>
      worded(ARGUMENTS.unknown(name.slice(0, 80).toWellFormed(), tool.name, { known, guess: nearest(name, known) })),
    )
  const more = names.length - problems.length
  return more > 0 ? [...problems, ARGUMENTS.unknownMore(more)] : problems
}

/** The first required text of a tool for skills that was not given as one. Source: contracts §4.2. */
function withoutText({ parameters, options }: Tool, args: JsonObject): string | undefined {
  const { properties, required } = parameters
  if (!Array.isArray(required) || !required.includes(options?.skillArgument) || !isJsonObject(properties))
    return undefined
  const isText = (name: unknown): name is string =>
    typeof name === 'string' && (properties[name] as JsonObject | undefined)?.type === 'string'
  return required.filter(isText).find((name) => typeof args[name] !== 'string' || args[name].trim() === '')
}

function toProblem({ instancePath, keyword, message = 'is not valid', params }: ErrorObject): string {
  const path = toPath(instancePath)
  const details = params as Readonly<Record<string, unknown>>
  if (keyword === 'required') return ARGUMENTS.required(toPath(`${instancePath}/${String(details.missingProperty)}`))
  if (keyword === 'additionalProperties')
    return ARGUMENTS.closed(toPath(`${instancePath}/${String(details.additionalProperty)}`))
  const allowed =
    keyword === 'enum' && Array.isArray(details.allowedValues)
      ? `: ${details.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`
      : ''
  return `${path === '' ? 'the arguments' : path} ${message}${allowed}`
}

/** `/steps/0/name` as `steps[0].name`. */
function toPath(pointer: string): string {
  const parts = pointer.split('/').slice(1)
  return joined(parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')))
}

function joined(parts: readonly string[]): string {
  const names = parts.map((part) => toSafeLine(part).slice(0, 80))
  return names.map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`)).join('')
}

/** Deeper arguments exhaust the stack of the code that walks them. */
const MAX_DEPTH = 64

/**
 * Where the arguments would reach a prototype if a tool copied them member by member: `__proto__`, or `prototype` of
 * `constructor`. We keep them as plain data, but a tool may take any name inside an open object.
 */
function pollutingPath(value: unknown, parts: readonly string[] = []): string | undefined {
  if (typeof value !== 'object' || value === null || parts.length > MAX_DEPTH) return undefined
  for (const [name, member] of Object.entries(value)) {
    const here = [...parts, name]
    if (name === '__proto__' || (name === 'prototype' && parts.at(-1) === 'constructor')) return joined(here)
    const path = pollutingPath(member, here)
    if (path !== undefined) return path
  }
  return undefined
}

/** The fault of a value as the arguments of a call, before any schema: it is not an object, or nested too deeply. */
export function argumentsProblem(value: unknown): string | undefined {
  if (!isJsonObject(value)) return CALLS.notAnObject().message
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return CALLS.tooDeep(MAX_DEPTH).message
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return undefined
}

import {
  errorMessage,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type Outcome,
  type Tool,
  type ToolContext,
  type ToolOptions,
} from '../kernel/index.ts'
import { toOutcome } from './edge/shapes.ts'
import { toolNameProblem } from './names.ts'
import { CALLS, failedBy, toolError, TOOLS } from './messages.ts'

/** The answer of a Standard Schema about a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
      }[]
    }

/** A schema of any library that speaks Standard Schema and Standard JSON Schema, such as zod 4. See standardschema.dev. */
export interface StandardSchema<Output> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> }
  }
}

interface Definition<Args> {
  readonly name: string
  /** For the model: what the tool does and when to use it. */
  readonly description: string
  readonly options?: ToolOptions
  /** May return plain text for a full success. What it throws becomes a failure. */
  execute(args: Args, context: ToolContext): Promise<Outcome | string> | Outcome | string
}

/** A tool whose arguments a JSON Schema (draft 2020-12) describes. */
export interface ToolDefinition extends Definition<JsonObject> {
  readonly parameters: JsonSchema
}

/** A tool whose arguments a schema library describes; `execute` gets the parsed value, with its defaults and transforms. */
export interface TypedToolDefinition<Output> extends Definition<Output> {
  readonly parameters: StandardSchema<Output>
}

/**
 * A tool from a plain definition. Throws INVALID_ARGUMENT for a bad name, no description, or parameters that are not
 * an object schema. Source: seed 000, "Skill Protocol".
 */
export function defineTool<Output>(definition: TypedToolDefinition<Output>): Tool
export function defineTool(definition: ToolDefinition): Tool
export function defineTool(definition: ToolDefinition | TypedToolDefinition<unknown>): Tool {
  const { name, description, options } = definition
  const problem = toolNameProblem(name)
  if (problem !== undefined) throw toolError(TOOLS.badName(name, problem))
  if (description.trim() === '') {
    throw toolError(TOOLS.noDescription(name))
  }
  return Object.freeze({
    name,
    description,
    parameters: toParameters(name, definition.parameters),
    options,
    execute: isTyped(definition) ? executeTyped(definition) : executePlain(definition),
  })
}

function isTyped(
  definition: ToolDefinition | TypedToolDefinition<unknown>,
): definition is TypedToolDefinition<unknown> {
  return '~standard' in definition.parameters
}

function executePlain(definition: ToolDefinition): Tool['execute'] {
  return async (args, context) => toOutcome(definition.name, await definition.execute(args, context))
}

function executeTyped({ name, parameters, execute }: TypedToolDefinition<unknown>): Tool['execute'] {
  return async (args, context) => {
    const result = await parameters['~standard'].validate(args)
    if (result.issues) {
      const issues = result.issues.map(({ message, path = [] }) =>
        [path.map(toKey).join('.'), message].filter(Boolean).join(': '),
      )
      return failedBy('INVALID_PARAM', CALLS.invalidArguments(name, issues, issues.length))
    }
    return toOutcome(name, await execute(result.value, context))
  }
}

function toKey(segment: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof segment === 'object' ? segment.key : segment)
}

function toParameters(name: string, parameters: JsonSchema | StandardSchema<unknown>): JsonSchema {
  const { $schema: _dialect, ...schema } =
    '~standard' in parameters ? convert(name, parameters as StandardSchema<unknown>) : parameters
  if (schema.type === undefined) return { type: 'object', ...schema }
  if (schema.type === 'object') return schema
  throw toolError(TOOLS.notAnObjectSchema(name))
}

function convert(name: string, schema: StandardSchema<unknown>): JsonSchema {
  const { vendor, jsonSchema } = schema['~standard'] as Partial<StandardSchema<unknown>['~standard']>
  if (!jsonSchema) {
    throw toolError(TOOLS.noJsonSchema(name, vendor ?? 'its library'))
  }
  try {
    const json: unknown = JSON.parse(JSON.stringify(jsonSchema.input({ target: 'draft-2020-12' })))
    if (isJsonObject(json)) return json
  } catch (cause) {
    throw toolError(TOOLS.notJsonSchema(name, errorMessage(cause)), cause)
  }
  throw toolError(TOOLS.notAnObjectSchema(name))
}

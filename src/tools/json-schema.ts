import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { JsonObject, JsonSchema } from '../kernel/index.ts'

/** The faults; empty when everything fits. */
export type SchemaCheck = (value: JsonObject) => readonly ErrorObject[]

/** One for all tools: a fresh instance per schema costs ten times as much. This file is imported only when a tool first runs. */
const ajv = new Ajv2020({
  allErrors: true,
  strict: false,
  ownProperties: true,
  validateFormats: false,
  addUsedSchema: false,
  logger: false,
  validateSchema: false,
})

/** Compiled once per schema; a tool that is dropped takes its check with it. */
const compiled = new WeakMap<JsonSchema, SchemaCheck>()

/** The check of a schema. Throws Ajv's error when the schema itself is broken; `isShipped`: it is one of ours, which tests check. */
export function compileSchema(schema: JsonSchema, isShipped: boolean): SchemaCheck {
  const known = compiled.get(schema)
  if (known) return known
  // Another dialect's name and an id that is not a URI would be refused; `$async` would turn the answer into a promise.
  const { $schema: _dialect, $id: _id, $async: _async, ...plain } = schema
  // The first of these compiles the meta-schema, which takes longer than all other checks of most processes.
  if (!isShipped) void ajv.validateSchema(plain, true)
  const validate = ajv.compile(plain)
  // Ajv would keep the schema for ever.
  ajv.removeSchema(plain)
  const check: SchemaCheck = (value) => (validate(value) ? [] : [...(validate.errors ?? [])])
  compiled.set(schema, check)
  return check
}

/** Any value that JSON text can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** A JSON object; look names from outside up with `Object.hasOwn`, never with `in`. */
export type JsonObject = { readonly [key: string]: JsonValue }

/** A JSON Schema (draft 2020-12) for the arguments of a tool; always an object schema at the top. */
export type JsonSchema = JsonObject

/** True for a plain object (also one without a prototype), false for arrays, null and scalars. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

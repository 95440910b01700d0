export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** A JSON object; names from outside are read with `ownValue`, never with `in`. */
export type JsonObject = { readonly [key: string]: JsonValue }

/** The value of a key that the object itself has; undefined for one that it inherits. */
export function ownValue(object: JsonObject | undefined, key: string): JsonValue | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined
}

/**
 * The same object without a prototype, so that it inherits no names. V8 keeps it as a compact record, which it does not for
 * `Object.create(null)`: that takes twice the time and four times the memory.
 */
export function withoutPrototype(object: JsonObject): JsonObject {
  return Object.setPrototypeOf(object, null) as JsonObject
}

/** A JSON Schema (draft 2020-12) for the arguments of a tool; always an object schema at the top. */
export type JsonSchema = JsonObject

/** True for a plain object (also one without a prototype), false for arrays, null and scalars. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Index or key, and value, of each part of a list or an object; none of anything else. */
export function membersOf(value: JsonValue | undefined): readonly (readonly [string | number, JsonValue])[] {
  if (Array.isArray(value)) return [...(value as readonly JsonValue[]).entries()]
  return isJsonObject(value) ? Object.entries(value) : []
}

/** Freezes plain data all the way down, values of maps too. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of value instanceof Map ? value.values() : Object.values(value)) freezeDeep(member)
  return Object.freeze(value)
}

import type { Scope, Values } from './scope.ts'

/** As `limit`: every row. */
export const ALL_ROWS = Number.MAX_SAFE_INTEGER

/** A text column that may be null. */
export function optionalText(column: unknown): string | undefined {
  return typeof column === 'string' ? column : undefined
}

/** A number column that may be null. */
export function optionalNumber(column: unknown): number | undefined {
  return column === null || column === undefined ? undefined : Number(column)
}

/** A column that contains JSON text we wrote; anything else means that the database is damaged. */
export function json<T>(scope: Scope, column: unknown): T {
  try {
    return JSON.parse(String(column)) as T
  } catch (cause) {
    throw scope.damaged(cause)
  }
}

export function optionalJson<T>(scope: Scope, column: unknown): T | undefined {
  return column === null || column === undefined ? undefined : json<T>(scope, column)
}

/** `and column in (…)` for the given values; nothing when there is no list. */
export function inList(column: string, list: readonly string[] | undefined): { sql: string; values: Values } {
  if (!list) return { sql: '', values: {} }
  const values = Object.fromEntries(list.map((value, index) => [`${column}${index}`, value]))
  const names = Object.keys(values).map((name) => `:${name}`)
  return { sql: names.length === 0 ? 'and false' : `and ${column} in (${names.join(', ')})`, values }
}

/** The object without the keys whose value is undefined. */
export function defined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T
}

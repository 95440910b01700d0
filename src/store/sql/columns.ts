import { freezeDeep } from '../../kernel/index.ts'

/** One row as the database gives it. */
export type Row = Record<string, unknown>
export type Values = Record<string, string | number | null>

/** A database, as far as a column that cannot be read needs it. */
interface Database {
  /** The failure of a database that contains something Nexus did not write. */
  damaged(cause: unknown): Error
}

/** A `limit` that gives every row. */
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
export function json<T>(database: Database, column: unknown): T {
  try {
    return JSON.parse(String(column)) as T
  } catch (cause) {
    throw database.damaged(cause)
  }
}

export type JsonReader = <T>(column: unknown) => T

/** So many texts of columns that are read at every request are kept, and none that is longer. */
const KEPT_TEXTS = 512
const MAX_KEPT_CHARS = 8_192

/** Like `json`, for columns that are read again and again: the same text is parsed once, and frozen. */
export function createJsonReader(database: Database): JsonReader {
  const known = new Map<unknown, unknown>()
  return <T>(column: unknown): T => {
    const before = known.get(column)
    if (before !== undefined) return before as T
    const value = freezeDeep(json<T>(database, column))
    if (known.size >= KEPT_TEXTS) known.clear()
    if (String(column).length <= MAX_KEPT_CHARS) known.set(column, value)
    return value
  }
}

export function optionalJson<T>(database: Database, column: unknown): T | undefined {
  return column === null || column === undefined ? undefined : json<T>(database, column)
}

/** `and column in (…)` for each filter that is given. */
export function filters(given: Readonly<Record<string, string | readonly string[] | undefined>>): {
  sql: string
  values: Values
} {
  let sql = ''
  const values: Values = {}
  for (const [column, value] of Object.entries(given)) {
    if (value === undefined) continue
    const names = [value].flat().map((each) => {
      const name = `filter${Object.keys(values).length}`
      values[name] = each
      return `:${name}`
    })
    sql += names.length === 0 ? ' and false' : ` and ${column} in (${names.join(', ')})`
  }
  return { sql, values }
}

/** The object without the keys whose value is undefined. */
export function defined<T extends object>(value: T): T {
  const result = {} as T
  for (const key in value) if (value[key] !== undefined) result[key] = value[key]
  return result
}

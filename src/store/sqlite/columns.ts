import type { SQLOutputValue } from 'node:sqlite'
import { damagedFile } from './store-error.ts'

type Column = SQLOutputValue | undefined

/** A text column that may be null. */
export function optionalText(column: Column): string | undefined {
  return typeof column === 'string' ? column : undefined
}

/** A column that holds JSON text we wrote; anything else means that the file is damaged. */
export function json<T>(path: string, column: Column): T {
  try {
    return JSON.parse(String(column)) as T
  } catch (cause) {
    throw damagedFile(path, cause)
  }
}

export function optionalJson<T>(path: string, column: Column): T | undefined {
  return column === null || column === undefined ? undefined : json<T>(path, column)
}

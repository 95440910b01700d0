import type { Edit, JsonObject } from '../../kernel/index.ts'

/** A scalar as it was written, which its value alone does not show. */
export interface Written {
  /** Strings by value, plain numbers, booleans and the word null as written; undefined for `~` and nothing. */
  readonly text: string | undefined
  readonly isNull: boolean
  /** False for numbers, booleans and null. */
  readonly isText: boolean
  /** Written as a block, behind `|` or `>`. */
  readonly isBlock?: boolean
  /** The comment on the line of a plain value, without its number sign. */
  readonly comment?: string
}

/** Keys and indexes that lead to a value. */
export type KeyPath = readonly (string | number)[]

/** Line and column, from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** A place with the key that it is about, such as `metadata.nexus.os`. */
export interface KeyPlace extends Position {
  readonly subject: string
}

/** The frontmatter as data, with what only the syntax knows: places, and how a value was written. */
export interface Frontmatter {
  /** Everything, in the order of the text; without a prototype. */
  readonly values: JsonObject
  /**
   * Line and column of a top-level key, or of the opening --- when the key is absent; to spread into a finding.
   * With `below`: of the key or entry there, or of the nearest one above it that exists. Computed when it is asked for.
   */
  place(key: string, below?: KeyPath): KeyPlace
  /** How a top-level value was written: undefined when the key is absent. */
  written(key: string): Written | 'collection' | undefined
  /** The edit that gives a top-level key another name; undefined for one that is written with escapes. */
  rename(key: string, to: string): Edit | undefined
  /** The edit that adds a top-level key, or fills in an empty one; undefined where the form of the text does not allow it. */
  fillIn(key: string, value: string): Edit | undefined
}

/** The text between the markers; `firstLine` is the line of the file on which it begins. */
export interface FrontText {
  readonly text: string
  readonly firstLine: number
}

/** Another name for the key at a place; undefined when it is not written there as it is read. */
export function renameKey(
  { text, firstLine }: FrontText,
  { line, column }: Position,
  names: [string, string],
): Edit | undefined {
  const [from, to] = names
  const written = text.split('\n')[line - firstLine] ?? ''
  const start = column + (/["']/.test(written[column - 1] ?? '') ? 1 : 0)
  if (!written.startsWith(from, start - 1)) return undefined
  return { start: { line, column: start }, end: { line, column: start + from.length }, text: to }
}

/** `key: value` as a new first line, or in place of the key without a value. */
export function fillInKey({ text, firstLine }: FrontText, key: string, value: string): Edit | undefined {
  const lines = text.split('\n')
  if (lines.find((line) => /^[^\s#]/.test(line))?.startsWith('{') === true) return undefined
  const at = lines.findIndex((line) => new RegExp(`^["']?${key}["']?[ \\t]*:`).test(line))
  const start = { line: firstLine + Math.max(at, 0), column: 1 }
  if (at < 0) return { start, end: start, text: `${key}: ${value}\n` }
  const line = lines[at] ?? ''
  const isEmpty = new RegExp(`^${key}[ \\t]*:[ \\t]*(?:""|''|~)?[ \\t]*$`).test(line)
  return isEmpty ? { start, end: { ...start, column: line.length + 1 }, text: `${key}: ${value}` } : undefined
}

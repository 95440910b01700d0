import type { Edit } from '../../kernel/index.ts'
import type { Position } from './front.ts'

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

import type { JsonObject, JsonValue } from '../../kernel/index.ts'
import { KIND } from './nodes.ts'
import type { Scanner } from './scan.ts'

/** Keys whose plain value is kept as written at every level, as in `yaml/values.ts`. */
const AS_WRITTEN: ReadonlySet<string> = new Set(['name', 'description', 'version'])

/** The key of a node as text. */
export function keyOf(scanner: Scanner, node: number): string {
  return scanner.textOf(scanner.nodes.keyStart(node), scanner.nodes.keyEnd(node))
}

/** A mapping as plain data without a prototype. */
export function mapOf(scanner: Scanner, map: number): JsonObject {
  const result = Object.create(null) as Record<string, JsonValue>
  const { nodes } = scanner
  for (let node = map + 1; node < nodes.next(map); node = nodes.next(node)) {
    result[keyOf(scanner, node)] = valueOf(scanner, node)
  }
  return result
}

/** The value of a node. */
export function valueOf(scanner: Scanner, node: number): JsonValue {
  const kind = scanner.nodes.kind(node)
  switch (kind) {
    case KIND.nothing:
      return null
    case KIND.map:
      return mapOf(scanner, node)
    case KIND.list:
      return listOf(scanner, node)
    case KIND.number:
    case KIND.word: {
      const written = rawOf(scanner, node)
      if (isAsWritten(scanner, node)) return written
      return kind === KIND.number ? Number(written) : (WORDS[written.toLowerCase()] ?? null)
    }
    default:
      return textOf(scanner, node)
  }
}

const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null }

function isAsWritten(scanner: Scanner, node: number): boolean {
  return AS_WRITTEN.has(keyOf(scanner, node))
}

function listOf(scanner: Scanner, list: number): JsonValue[] {
  const { nodes } = scanner
  const result: JsonValue[] = []
  for (let node = list + 1; node < nodes.next(list); node = nodes.next(node)) result.push(valueOf(scanner, node))
  return result
}

/** The text of a scalar; of a number or word as it is written. */
export function textOf(scanner: Scanner, node: number): string {
  const raw = rawOf(scanner, node)
  switch (scanner.nodes.kind(node)) {
    case KIND.escaped:
      return JSON.parse(`"${raw}"`) as string
    case KIND.doubled:
      return raw.replaceAll("''", "'")
    case KIND.literal:
      return `${literal(raw)}\n`
    case KIND.literalStripped:
      return literal(raw)
    case KIND.folded:
      return `${folded(raw)}\n`
    case KIND.foldedStripped:
      return folded(raw)
    default:
      return raw
  }
}

/** The characters of a node's value as they stand in the text. */
export function rawOf(scanner: Scanner, node: number): string {
  return scanner.textOf(scanner.nodes.valueStart(node), scanner.nodes.valueEnd(node))
}

/** The lines of a literal block. Every line begins at the column of the first, or deeper. */
export function literal(raw: string): string {
  const lines = linesOf(raw)
  return lines.length === 1 ? (lines[0] as string) : lines.join('\n')
}

function linesOf(raw: string): string[] {
  const indent = /^ */.exec(raw)?.[0].length ?? 0
  const lines = raw.split('\n')
  return lines.map((line) => line.slice(indent, line.endsWith('\r') ? -1 : undefined))
}

/** The lines of a folded block: one line break becomes a blank, each further one stays. */
export function folded(raw: string): string {
  let text = ''
  let separator = ''
  for (const line of linesOf(raw)) {
    if (line === '') {
      separator = separator === ' ' ? '\n' : `${separator}\n`
    } else {
      text += separator + line
      separator = ' '
    }
  }
  return text
}

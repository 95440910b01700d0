import type { JsonObject, JsonValue } from '../../kernel/index.ts'
import type { Frontmatter, Written } from '../front.ts'
import { LF } from './bytes.ts'
import { KIND } from './nodes.ts'
import type { Scanner } from './scan.ts'
import { keyOf, mapOf, rawOf, textOf } from './values.ts'

/** Where the scanned text lies: it begins at byte `start`, on line `firstLine` of the file. */
export interface Origin {
  readonly start: number
  readonly firstLine: number
}

/** What a scanner has read, as the full parser would give it. Good until the scanner is used again. */
export function scannedFrontmatter(scanner: Scanner, { start, firstLine }: Origin): Frontmatter {
  const { nodes } = scanner
  const find = (key: string): number | undefined => {
    for (let node = 1; node < nodes.count; node = nodes.next(node)) if (scanner.hasKey(node, key)) return node
    return undefined
  }
  let made: JsonObject | undefined
  const values = (): JsonObject => (made ??= mapOf(scanner, 0))
  return {
    get values() {
      return values()
    },
    keys() {
      const keys: string[] = []
      for (let node = 1; node < nodes.count; node = nodes.next(node)) keys.push(keyOf(scanner, node))
      return keys
    },
    value(key): JsonValue | undefined {
      // All of them are asked for in the end, so each is made once. No prototype: nothing is there that was not written.
      return values()[key]
    },
    place(key) {
      const node = find(key)
      const line =
        node === undefined ? firstLine - 1 : firstLine + linesBefore(scanner.bytes, start, nodes.keyStart(node))
      return { line, column: 1 }
    },
    written(key) {
      const node = find(key)
      return node === undefined ? undefined : writtenAs(scanner, node)
    },
    source(key) {
      const node = find(key)
      return node === undefined ? '' : rawOf(scanner, node)
    },
  }
}

function linesBefore(bytes: Buffer, start: number, end: number): number {
  let lines = 0
  for (let at = start; at < end; at++) if (bytes[at] === LF) lines++
  return lines
}

function writtenAs(scanner: Scanner, node: number): Written | 'collection' {
  switch (scanner.nodes.kind(node)) {
    case KIND.map:
    case KIND.list:
      return 'collection'
    case KIND.nothing:
      return { text: undefined, isNull: true, isText: false }
    case KIND.number:
      return { text: rawOf(scanner, node), isNull: false, isText: false }
    case KIND.word: {
      const text = rawOf(scanner, node)
      return { text, isNull: text.toLowerCase() === 'null', isText: false }
    }
    default:
      return { text: textOf(scanner, node), isNull: false, isText: true }
  }
}

import type { JsonObject, JsonValue } from '../../kernel/index.ts'
import type { Frontmatter, KeyPath, Place, Written } from '../front.ts'
import { DOUBLE_QUOTE, LF, SINGLE_QUOTE } from './bytes.ts'
import { KIND } from './nodes.ts'
import type { Scanner } from './scan.ts'
import { keyOf, mapOf, rawOf, textOf } from './values.ts'

/** Where the scanned text lies: it begins at byte `start`, on line `firstLine` of the file. */
export interface Origin {
  readonly start: number
  readonly firstLine: number
}

/** What a scanner has read, as the full parser would give it. Good until the scanner is used again. */
export function scannedFrontmatter(scanner: Scanner, origin: Origin): Frontmatter {
  return new ScannedFrontmatter(scanner, origin)
}

/** A class, because an object with a getter of its own gets a hidden class of its own, which keeps all that the getter sees. */
class ScannedFrontmatter implements Frontmatter {
  readonly #scanner: Scanner
  readonly #origin: Origin
  #made: JsonObject | undefined

  constructor(scanner: Scanner, origin: Origin) {
    this.#scanner = scanner
    this.#origin = origin
  }

  get values(): JsonObject {
    return (this.#made ??= mapOf(this.#scanner, 0))
  }

  keys(): readonly string[] {
    const { nodes } = this.#scanner
    const keys: string[] = []
    for (let node = 1; node < nodes.count; node = nodes.next(node)) keys.push(keyOf(this.#scanner, node))
    return keys
  }

  value(key: string): JsonValue | undefined {
    // All of them are asked for in the end, so each is made once. No prototype: nothing is there that was not written.
    return this.values[key]
  }

  place(key: string, below?: KeyPath): Place {
    const { start, firstLine } = this.#origin
    const node = this.#find(key)
    if (node === undefined) return { line: firstLine - 1, column: 1 }
    const at = (below && startBelow(this.#scanner, node, below)) ?? this.#scanner.nodes.keyStart(node)
    return placeAt(this.#scanner.bytes, { start, at, firstLine })
  }

  written(key: string): Written | 'collection' | undefined {
    const node = this.#find(key)
    return node === undefined ? undefined : writtenAs(this.#scanner, node)
  }

  source(key: string): string {
    const node = this.#find(key)
    return node === undefined ? '' : rawOf(this.#scanner, node)
  }

  #find(key: string): number | undefined {
    const { nodes } = this.#scanner
    for (let node = 1; node < nodes.count; node = nodes.next(node)) if (this.#scanner.hasKey(node, key)) return node
    return undefined
  }
}

function placeAt(bytes: Buffer, { start, at, firstLine }: Origin & { readonly at: number }): Place {
  let line = firstLine
  let lineStart = start
  for (let offset = start; offset < at; offset++) {
    if (bytes[offset] !== LF) continue
    line++
    lineStart = offset + 1
  }
  return { line, column: 1 + (at === lineStart ? 0 : bytes.toString('utf8', lineStart, at).length) }
}

/** Where a key or entry below a node begins, or the nearest one above it that exists; undefined when there is none. */
function startBelow(scanner: Scanner, node: number, path: KeyPath): number | undefined {
  let start: number | undefined
  let at: number | undefined = node
  for (const step of path) {
    at = memberOf(scanner, at, step)
    if (at === undefined) return start
    start = startOf(scanner, at)
  }
  return start
}

function memberOf(scanner: Scanner, holder: number, step: string | number): number | undefined {
  const { nodes } = scanner
  const kind = nodes.kind(holder)
  if (kind !== KIND.map && kind !== KIND.list) return undefined
  let index = 0
  for (let node = holder + 1; node < nodes.next(holder); node = nodes.next(node), index++) {
    const isMeant = kind === KIND.list ? index === step : scanner.hasKey(node, String(step))
    // Other entries of a list are found by the key of the list.
    if (isMeant) return kind === KIND.list && nodes.kind(node) !== KIND.map ? undefined : node
  }
  return undefined
}

/** The first character of a key, or of the mapping that is an entry of a list. */
function startOf({ bytes, nodes }: Scanner, node: number): number {
  if (nodes.keyEnd(node) > 0) return quoted(bytes, nodes.keyStart(node))
  // A block of keys has no characters of its own.
  return nodes.valueEnd(node) > 0 ? nodes.valueStart(node) : quoted(bytes, nodes.keyStart(node + 1))
}

function quoted(bytes: Buffer, start: number): number {
  return bytes[start - 1] === DOUBLE_QUOTE || bytes[start - 1] === SINGLE_QUOTE ? start - 1 : start
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

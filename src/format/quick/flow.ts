import {
  CLASS,
  CLASSES,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DOUBLE_QUOTE,
  BACKSLASH,
  OPEN_BRACE,
  OPEN_BRACKET,
  SINGLE_QUOTE,
  SPACE,
} from './bytes.ts'
import { KIND, type Nodes } from './nodes.ts'

const MAX_LEVELS = 8
const OPENS_VALUE: ReadonlySet<number> = new Set([DOUBLE_QUOTE, OPEN_BRACE, OPEN_BRACKET])

/** Reads `[a, "b"]` and `{"a": [b]}` on one line: text in quotes without escapes, or plain text of letters. */
export class Flow {
  readonly #nodes: Nodes
  #bytes: Buffer = Buffer.alloc(0)

  constructor(nodes: Nodes) {
    this.#nodes = nodes
  }

  /** The offset after the closing bracket, or -1. A NUL ends the bytes. */
  read(bytes: Buffer, at: number, node: number): number {
    this.#bytes = bytes
    return this.#collection(at, node, 0)
  }

  #collection(at: number, self: number, level: number): number {
    if (level > MAX_LEVELS) return -1
    const isMap = this.#bytes[at] === OPEN_BRACE
    const closing = isMap ? CLOSE_BRACE : CLOSE_BRACKET
    this.#nodes.setKind(self, isMap ? KIND.map : KIND.list)
    let next = this.#blanks(at + 1)
    if (this.#byte(next) !== closing) {
      for (;;) {
        next = this.#blanks(this.#child(next, self, { isMap, level }))
        if (next < 0) return -1
        const byte = this.#byte(next)
        if (byte === closing) break
        if (byte !== COMMA) return -1
        next = this.#blanks(next + 1)
      }
    }
    // The whole text of a collection: some keys are kept as written.
    this.#nodes.setValue(self, at, next + 1)
    return next + 1
  }

  /** The end of one entry, or -1. */
  #child(at: number, parent: number, { isMap, level }: { isMap: boolean; level: number }): number {
    const node = this.#nodes.add(KIND.nothing)
    if (node < 0) return -1
    const value = isMap ? this.#key(at, node, parent) : at
    const end = value < 0 ? -1 : this.#value(value, node, level)
    this.#nodes.close(node)
    return end
  }

  /** The start of the value after a key, or -1. */
  #key(at: number, node: number, parent: number): number {
    const quote = this.#byte(at)
    const isQuoted = quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE
    const start = isQuoted ? at + 1 : at
    if (!(this.#class(start) & CLASS.keyStart)) return -1
    let end = start
    let hash = 0
    for (; this.#class(end) & CLASS.key; end++) hash = (Math.imul(hash, 31) + this.#byte(end)) | 0
    if (isQuoted && this.#byte(end) !== quote) return -1
    const colon = isQuoted ? end + 1 : end
    if (!this.#endsKey(colon, isQuoted) || this.#nodes.isKnown(parent, node, hash)) return -1
    this.#nodes.setKey(node, start, end)
    this.#nodes.setHash(node, hash)
    return this.#blanks(colon + 1)
  }

  /** Behind a key in quotes the value may follow its colon at once, as in JSON; here only one that begins with a sign of its own. */
  #endsKey(colon: number, isQuoted: boolean): boolean {
    if (this.#byte(colon) !== COLON) return false
    const next = this.#byte(colon + 1)
    return next === SPACE || (isQuoted && OPENS_VALUE.has(next))
  }

  #value(at: number, node: number, level: number): number {
    const byte = this.#byte(at)
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return this.#collection(at, node, level + 1)
    if (byte === DOUBLE_QUOTE || byte === SINGLE_QUOTE) return this.#quoted(at + 1, node, byte)
    return this.#plain(at, node)
  }

  #quoted(start: number, node: number, quote: number): number {
    for (let at = start; ; at++) {
      const byte = this.#bytes[at] as number
      if (byte === quote) {
        this.#nodes.setKind(node, KIND.single)
        this.#nodes.setValue(node, start, at)
        // Two quotes in a row stand for one.
        return this.#byte(at + 1) === quote ? -1 : at + 1
      }
      if (byte === BACKSLASH || (CLASSES[byte] as number) & CLASS.stop) return -1
    }
  }

  /** Words of letters, digits and some signs. A word such as true may be a boolean: left to the full parser. */
  #plain(start: number, node: number): number {
    if (!(this.#class(start) & CLASS.keyStart)) return -1
    let at = start
    while (this.#class(at) & CLASS.flow) at++
    let end = at
    while (this.#bytes[end - 1] === SPACE) end--
    const text = this.#bytes.toString('latin1', start, end)
    if (/^(?:null|true|false)$/i.test(text)) return -1
    this.#nodes.setKind(node, KIND.plain)
    this.#nodes.setValue(node, start, end)
    return at
  }

  #blanks(from: number): number {
    let at = from
    while (at >= 0 && this.#byte(at) === SPACE) at++
    return at
  }

  #byte(at: number): number {
    return this.#bytes[at] as number
  }

  #class(at: number): number {
    return CLASSES[this.#byte(at)] as number
  }
}

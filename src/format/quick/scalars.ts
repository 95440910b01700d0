import {
  BACKSLASH,
  BAR,
  CLASS,
  CLASSES,
  COLON,
  CR,
  DASH,
  DOT,
  DOUBLE_QUOTE,
  GREATER,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  SINGLE_QUOTE,
  SPACE,
} from './bytes.ts'
import { Flow } from './flow.ts'
import { KIND, type Nodes } from './nodes.ts'

const PLUS = 43
const LOWER_E = 101
const LOWER_O = 111
const LOWER_X = 120
/** What may follow a backslash: escapes that mean the same in YAML and in JSON, and that make no control or hidden character. */
const ESCAPES: ReadonlySet<number> = new Set([34, 92, 47, 110, 116])
/** The full parser limits escapes; this many are far from it. */
const MAX_ESCAPES = 900
/** Longer runs of digits may not be exact as numbers. */
const MAX_DIGITS = 15

/** A block scalar while it is read. `indent`: the column of its lines; `last`: the end of its last text. */
interface Block {
  readonly isFolded: boolean
  readonly parentIndent: number
  readonly indent: number
  last: number
}

/** Reads values: where they end and of which kind they are. Every method gives the offset after the value's line, or -1. */
export class Scalars {
  readonly #nodes: Nodes
  readonly #flow: Flow
  #bytes: Buffer = Buffer.alloc(0)
  #limit = 0
  #escapes = 0

  constructor(nodes: Nodes) {
    this.#nodes = nodes
    this.#flow = new Flow(nodes)
  }

  /** The byte at `limit` is a NUL. */
  begin(bytes: Buffer, limit: number): void {
    this.#bytes = bytes
    this.#limit = limit
    this.#escapes = 0
  }

  /** `indent` is that of the mapping or list which holds the value. */
  read(at: number, indent: number, node: number): number {
    const byte = this.#bytes[at] as number
    if ((CLASSES[byte] as number) & CLASS.plainStart) return this.#plain(at, node)
    switch (byte) {
      case DOUBLE_QUOTE:
        return this.#double(at + 1, node)
      case SINGLE_QUOTE:
        return this.#single(at + 1, node)
      case BAR:
      case GREATER:
        return this.#block(at, indent, node)
      case OPEN_BRACE:
      case OPEN_BRACKET: {
        const end = this.#flow.read(this.#bytes, at, node)
        return end < 0 ? -1 : this.#lineEnd(end)
      }
      default:
        return -1
    }
  }

  /** After a value nothing but blanks may stand on the line. */
  #lineEnd(from: number): number {
    const bytes = this.#bytes
    let at = from
    while (bytes[at] === SPACE) at++
    if (bytes[at] === LF) return at + 1
    if (bytes[at] === CR && bytes[at + 1] === LF) return at + 2
    return at === this.#limit ? at : -1
  }

  #plain(start: number, node: number): number {
    const bytes = this.#bytes
    let at = start
    for (; ; at++) {
      const byte = bytes[at] as number
      if (!((CLASSES[byte] as number) & CLASS.look)) continue
      if ((CLASSES[byte] as number) & CLASS.stop) break
      // A second colon, or a comment: only the full parser knows what to say about it.
      if (byte === COLON ? this.#isSeparator(at) : bytes[at - 1] === SPACE) return -1
    }
    let end = at
    while (bytes[end - 1] === SPACE) end--
    const isNumber = (CLASSES[bytes[start] as number] as number) & CLASS.digit
    const kind = isNumber ? this.#number(start, end) : wordOrText(bytes, start, end)
    if (kind < 0) return -1
    this.#nodes.setKind(node, kind)
    this.#nodes.setValue(node, start, end)
    return this.#lineEnd(at)
  }

  /** True for a colon before a blank or at the end of its line. */
  #isSeparator(colon: number): boolean {
    const after = this.#bytes[colon + 1] as number
    return after === SPACE || ((CLASSES[after] as number) & CLASS.stop) !== 0
  }

  /** Text that begins with a digit: surely a number, surely text, or -1 for what only the full parser should judge. */
  #number(start: number, end: number): number {
    const bytes = this.#bytes
    let dots = 0
    let isText = false
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number
      if ((CLASSES[byte] as number) & CLASS.digit) continue
      if (isOfNumber(byte, at === start + 1)) return -1
      if (byte === DOT) dots++
      else isText = true
    }
    if (isText || dots > 1) return KIND.plain
    return end - start <= MAX_DIGITS && bytes[end - 1] !== DOT ? KIND.number : -1
  }

  #double(start: number, node: number): number {
    const bytes = this.#bytes
    let kind: number = KIND.double
    let at = start
    for (; bytes[at] !== DOUBLE_QUOTE; at++) {
      const byte = bytes[at] as number
      if ((CLASSES[byte] as number) & CLASS.stop) return -1
      if (byte !== BACKSLASH) continue
      at++
      if (!ESCAPES.has(bytes[at] as number) || ++this.#escapes > MAX_ESCAPES) return -1
      kind = KIND.escaped
    }
    this.#nodes.setKind(node, kind)
    this.#nodes.setValue(node, start, at)
    return this.#lineEnd(at + 1)
  }

  #single(start: number, node: number): number {
    const bytes = this.#bytes
    let kind: number = KIND.single
    for (let at = start; ; at++) {
      const byte = bytes[at] as number
      if ((CLASSES[byte] as number) & CLASS.stop) return -1
      if (byte !== SINGLE_QUOTE) continue
      if (bytes[at + 1] !== SINGLE_QUOTE) {
        this.#nodes.setKind(node, kind)
        this.#nodes.setValue(node, start, at)
        return this.#lineEnd(at + 1)
      }
      at++
      kind = KIND.doubled
    }
  }

  /**
   * A block scalar without indentation indicator, clipped or stripped, whose blank lines hold no blanks. The lines of a folded one all
   * begin at one column and end without blanks. The value of the node are its lines, from the start of the first to the last text.
   */
  #block(header: number, parentIndent: number, node: number): number {
    const bytes = this.#bytes
    const isFolded = bytes[header] === GREATER
    const isStripped = bytes[header + 1] === DASH
    const first = this.#lineEnd(header + (isStripped ? 2 : 1))
    if (first < 0) return -1
    const indent = this.#blanks(first)
    if (indent <= parentIndent) return -1
    const block: Block = { isFolded, parentIndent, indent, last: -1 }
    let next = first
    for (let start = first; start >= 0; start = this.#blockLine(start, block)) next = start
    if (block.last < 0) return -1
    this.#nodes.setKind(node, (isFolded ? KIND.folded : KIND.literal) + (isStripped ? 1 : 0))
    this.#nodes.setValue(node, first, block.last)
    return next
  }

  /** The start of the next line, or -1 at the end of the block. A line that must not be in it makes `last` negative. */
  #blockLine(start: number, block: Block): number {
    const bytes = this.#bytes
    if (start === this.#limit) return -1
    const text = start + this.#blanks(start)
    if ((CLASSES[bytes[text] as number] as number) & CLASS.stop) {
      // A first line without text, or one of blanks, would count for the indentation of the lines after it.
      return text > start || block.last < 0 ? refuse(block) : next(this.#lineEnd(text), block)
    }
    const blanks = text - start
    if (blanks <= block.parentIndent) return -1
    if (blanks < block.indent || (block.isFolded && blanks > block.indent)) return refuse(block)
    let end = text
    while (!((CLASSES[bytes[end] as number] as number) & CLASS.stop)) end++
    if (block.isFolded && bytes[end - 1] === SPACE) return refuse(block)
    block.last = end
    return next(this.#lineEnd(end), block)
  }

  #blanks(from: number): number {
    let at = from
    while (this.#bytes[at] === SPACE) at++
    return at - from
  }
}

function next(end: number, block: Block): number {
  return end < 0 ? refuse(block) : end
}

function refuse(block: Block): number {
  block.last = -1
  return -1
}

/** Part of an exponent, or the second character of a number in base 16 or 8. */
function isOfNumber(byte: number, isSecond: boolean): boolean {
  return (byte | 0x20) === LOWER_E || byte === PLUS || (isSecond && (byte === LOWER_X || byte === LOWER_O))
}

/** null, true and false are no text. */
function wordOrText(bytes: Buffer, start: number, end: number): number {
  const length = end - start
  if (length !== 4 && length !== 5) return KIND.plain
  const word = bytes.toString('latin1', start, end)
  return /^(?:null|Null|NULL|true|True|TRUE|false|False|FALSE)$/.test(word) ? KIND.word : KIND.plain
}

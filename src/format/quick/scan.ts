import { CLASS, CLASSES, COLON, CR, DASH, HASH, LF, SPACE } from './bytes.ts'
import { KIND, Nodes } from './nodes.ts'
import { Scalars } from './scalars.ts'

/** The full parser refuses keys of more than 1,024 characters; this is far from it. */
const MAX_KEY_BYTES = 100
/** Levels of mappings and lists; deeper ones are read by the full parser. */
const MAX_LEVELS = 12

/** What is scanned: bytes of UTF-8 from `start` up to `end`. The byte at `end` is overwritten by a NUL, which ends every loop. */
export interface ScanRange {
  readonly start: number
  readonly end: number
  /** `line`: a line of --- must end it; what follows is not looked at. `end`: it ends where the range ends. */
  readonly until: 'line' | 'end'
  /** False when the text goes on after `end`, so that the last line may be longer than it looks. */
  readonly isWhole: boolean
}

/** Where a value stands: the indentation of the collection that holds it, its own node, and its level. */
interface Place {
  readonly indent: number
  readonly node: number
  readonly level: number
}

/**
 * Reads the part of YAML that nearly all skills keep to, in one pass over the bytes and without making objects: mappings and lists
 * in block form, values on one line, block scalars, flow collections on one line. It accepts only what the full parser reads the same
 * way, and gives up on everything else: it never guesses and never reports. A scanner is used again and again; not by two at once.
 */
export class Scanner {
  readonly nodes = new Nodes()
  /** The end of the frontmatter's text, where its closing line begins; after a scan that returned true. */
  end = 0
  /** False when every byte is ASCII. */
  isWide = false
  bytes: Buffer = Buffer.alloc(0)
  #start = 0
  #text: string | undefined

  /** Blanks before the current line's text. */
  #indent = 0
  /** The first byte of the current line that is no blank. */
  #first = 0
  #hasLine = false
  #limit = 0
  #untilLine = false
  #isWhole = true
  readonly #scalars = new Scalars(this.nodes)

  /** True when the text could be read: then `nodes`, `end` and `isWide` say how. */
  scan(bytes: Buffer, { start, end, until, isWhole }: ScanRange): boolean {
    if (start > end || end >= bytes.length) return false
    bytes[end] = 0
    this.bytes = bytes
    this.#start = start
    this.#text = undefined
    this.#limit = end
    this.#untilLine = until === 'line'
    this.#isWhole = isWhole
    this.nodes.count = 0
    const root = this.nodes.add(KIND.map)
    this.#scalars.begin(bytes, end)
    if (!this.#toLine(start) || !this.#hasLine || this.#indent !== 0) return false
    if (!this.#map({ indent: 0, node: root, level: 0 }) || this.#hasLine) return false
    this.isWide = hasWide(bytes, start, this.end)
    return true
  }

  /** The text between two offsets that a scan gave. One decoding serves all of them. */
  textOf(start: number, end: number): string {
    this.#text ??= this.bytes.toString('latin1', this.#start, this.end)
    const text = this.#text.slice(start - this.#start, end - this.#start)
    return this.isWide && WIDE.test(text) ? this.bytes.toString('utf8', start, end) : text
  }

  /** True when the key of a node is `key`. */
  hasKey(node: number, key: string): boolean {
    const start = this.nodes.keyStart(node)
    return this.nodes.keyEnd(node) - start === key.length && this.textOf(start, start + key.length) === key
  }

  /**
   * Goes to the next line with text, from anywhere before it with only blanks between. False: a line that the full parser must see.
   * After the last line `#hasLine` is false and the result is true.
   */
  #toLine(from: number): boolean {
    const { bytes } = this
    for (let start = from; ;) {
      let at = start
      while (bytes[at] === SPACE) at++
      const byte = bytes[at] as number
      if (byte === LF) start = at + 1
      else if (byte === CR && bytes[at + 1] === LF) start = at + 2
      else if (byte === HASH) {
        start = this.#pastComment(at)
        if (start < 0) return false
      } else return this.#atText(start, at, byte)
    }
  }

  /** The start of the line after a comment, or -1 when something odd is in it. */
  #pastComment(from: number): number {
    const { bytes } = this
    let at = from
    while (!((CLASSES[bytes[at] as number] as number) & CLASS.stop)) at++
    if (bytes[at] === LF) return at + 1
    return bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : -1
  }

  #atText(start: number, at: number, byte: number): boolean {
    if ((CLASSES[byte] as number) & CLASS.stop) return at === this.#limit && this.#atEnd(start)
    this.#first = at
    this.#indent = at - start
    this.#hasLine = true
    const { bytes } = this
    return byte !== DASH || at !== start || bytes[at + 1] !== DASH || bytes[at + 2] !== DASH || this.#closer(at)
  }

  #atEnd(at: number): boolean {
    this.#hasLine = false
    this.end = at
    return !this.#untilLine
  }

  /** At three dashes at the start of a line. */
  #closer(at: number): boolean {
    const { bytes } = this
    let end = at + 3
    while (bytes[end] === SPACE) end++
    this.#hasLine = false
    this.end = at
    if (!this.#untilLine) return false
    if (bytes[end] === LF || (bytes[end] === CR && bytes[end + 1] === LF)) return true
    return end === this.#limit && this.#isWhole
  }

  /** The entries of a mapping whose keys stand at `indent`; the current line is the first of them. */
  #map({ indent, node: self, level }: Place): boolean {
    if (level > MAX_LEVELS) return false
    do {
      const node = this.nodes.add(KIND.nothing)
      const value = node < 0 ? -1 : this.#key(node, self)
      if (value < 0 || !this.#entry(value, { indent, node, level })) return false
      this.nodes.close(node)
    } while (this.#hasLine && this.#indent === indent)
    this.nodes.close(self)
    // A line that is indented deeper belongs to a value that goes on, which only the full parser reads.
    return !this.#hasLine || this.#indent < indent
  }

  /** Reads `key:` at the current place; the offset after the colon, or -1. */
  #key(node: number, parent: number): number {
    const { bytes } = this
    const start = this.#first
    if (!((CLASSES[bytes[start] as number] as number) & CLASS.keyStart)) return -1
    let at = start
    let hash = 0
    for (; (CLASSES[bytes[at] as number] as number) & CLASS.key; at++) {
      hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
    }
    if (bytes[at] !== COLON || at - start > MAX_KEY_BYTES) return -1
    if (this.nodes.isKnown(parent, node, hash)) return -1
    this.nodes.setKey(node, start, at)
    this.nodes.setHash(node, hash)
    return at + 1
  }

  /** The value after a colon: on the same line, on the lines below, or none. */
  #entry(from: number, { indent, node, level }: Place): boolean {
    const { bytes } = this
    let at = from
    while (bytes[at] === SPACE) at++
    if (!((CLASSES[bytes[at] as number] as number) & CLASS.stop)) {
      return at > from && this.#value(at, indent, node)
    }
    this.nodes.setValue(node, from, from)
    if (!this.#toLine(at)) return false
    return !this.#hasLine || this.#indent < indent || this.#below({ indent, node, level: level + 1 })
  }

  /** What stands on the lines below a key at `indent`, when it is a value of that key. */
  #below({ indent, node, level }: Place): boolean {
    const isList = this.#atItem(this.#first)
    // A list may stand right below its key; anything else there is the next key.
    if (this.#indent === indent) return !isList || this.#list({ indent, node, level }, true)
    const place = { indent: this.#indent, node, level }
    return isList ? this.#list(place, false) : this.#nestedMap(place)
  }

  #nestedMap(place: Place): boolean {
    this.nodes.setKind(place.node, KIND.map)
    return this.#map(place)
  }

  /** A value that begins at `at`; afterwards the current line is the one after it. */
  #value(at: number, indent: number, node: number): boolean {
    const end = this.#scalars.read(at, indent, node)
    return end >= 0 && this.#toLine(end)
  }

  #atItem(at: number): boolean {
    return this.bytes[at] === DASH && this.bytes[at + 1] === SPACE
  }

  /** The items of a list whose dashes stand at `indent`. `isFlush`: the dashes stand below their key, so that keys may follow. */
  #list({ indent, node: self, level }: Place, isFlush: boolean): boolean {
    if (level > MAX_LEVELS) return false
    this.nodes.setKind(self, KIND.list)
    do {
      if (!this.#atItem(this.#first)) return isFlush
      const node = this.nodes.add(KIND.nothing)
      if (node < 0 || !this.#item(this.#first, { indent, node, level })) return false
      this.nodes.close(node)
    } while (this.#hasLine && this.#indent === indent)
    return !this.#hasLine || this.#indent < indent
  }

  #item(dash: number, { indent, node, level }: Place): boolean {
    const { bytes } = this
    let at = dash + 1
    while (bytes[at] === SPACE) at++
    if (this.#atItem(at) || (CLASSES[bytes[at] as number] as number) & CLASS.stop) return false
    if (!this.#atKey(at)) return this.#value(at, indent, node)
    this.#indent = indent + at - dash
    this.#first = at
    return this.#nestedMap({ indent: this.#indent, node, level: level + 1 })
  }

  /** True where a key with its colon begins. */
  #atKey(at: number): boolean {
    const { bytes } = this
    if (!((CLASSES[bytes[at] as number] as number) & CLASS.keyStart)) return false
    let end = at
    while ((CLASSES[bytes[end] as number] as number) & CLASS.key) end++
    const after = bytes[end + 1]
    return bytes[end] === COLON && (after === SPACE || after === LF || after === CR)
  }
}

const WIDE = /[\x80-\xff]/

function hasWide(bytes: Buffer, start: number, end: number): boolean {
  let all = 0
  for (let at = start; at < end; at++) all |= bytes[at] as number
  return all > 127
}

/** What a node is. Plain text that may mean a number, a boolean or null is told apart where its value is asked for. */
export const KIND = {
  nothing: 0,
  plain: 1,
  /** A plain value of digits, with at most one dot inside. */
  number: 2,
  /** One of the words null, true, false in their three spellings. */
  word: 3,
  double: 4,
  /** In double quotes, with escapes that JSON has too. */
  escaped: 5,
  single: 6,
  /** In single quotes, with doubled quotes inside. */
  doubled: 7,
  /** A block scalar that ends with a line break, and one whose header has a dash. */
  literal: 8,
  literalStripped: 9,
  folded: 10,
  foldedStripped: 11,
  map: 12,
  list: 13,
} as const

/** More nodes than this, and the full parser reads the file. */
const MAX_NODES = 400
/** Numbers kept for one node. */
const WIDTH = 7

/**
 * The nodes of one frontmatter in the order of the text, as offsets into its bytes: a tree that costs no objects. Node 0 is the
 * top-level mapping; the children of a node follow it, and `next` is the node after all of them.
 */
export class Nodes {
  count = 0
  // An array of small integers: it is cheap to make for one file, and is used again for the next.
  readonly #numbers: number[] = []

  /** The new node, or -1 when there are too many. */
  add(kind: number): number {
    if (this.count >= MAX_NODES) return -1
    const at = this.count * WIDTH
    // In this order, so that the array grows without holes.
    this.#numbers[at] = kind
    this.#numbers[at + 1] = 0
    this.#numbers[at + 2] = 0
    this.#numbers[at + 3] = 0
    this.#numbers[at + 4] = 0
    this.#numbers[at + 5] = 0
    this.#numbers[at + 6] = 0
    return this.count++
  }

  kind(node: number): number {
    return this.#numbers[node * WIDTH] as number
  }

  setKind(node: number, kind: number): void {
    this.#numbers[node * WIDTH] = kind
  }

  /** Start and end of a key; nodes of a list have none. */
  setKey(node: number, start: number, end: number): void {
    const at = node * WIDTH
    this.#numbers[at + 1] = start
    this.#numbers[at + 2] = end
  }

  setHash(node: number, hash: number): void {
    this.#numbers[node * WIDTH + 3] = hash
  }

  keyStart(node: number): number {
    return this.#numbers[node * WIDTH + 1] as number
  }

  keyEnd(node: number): number {
    return this.#numbers[node * WIDTH + 2] as number
  }

  keyHash(node: number): number {
    return this.#numbers[node * WIDTH + 3] as number
  }

  /** The characters of a scalar without its quotes; of a block its lines; of a flow collection all of it; of others nothing. */
  setValue(node: number, start: number, end: number): void {
    const at = node * WIDTH
    this.#numbers[at + 4] = start
    this.#numbers[at + 5] = end
  }

  valueStart(node: number): number {
    return this.#numbers[node * WIDTH + 4] as number
  }

  valueEnd(node: number): number {
    return this.#numbers[node * WIDTH + 5] as number
  }

  /** Ends a node: all nodes added since are below it. */
  close(node: number): void {
    this.#numbers[node * WIDTH + 6] = this.count
  }

  next(node: number): number {
    return this.#numbers[node * WIDTH + 6] as number
  }

  /** True when an earlier key of the same mapping has the same hash. The node itself must not be closed yet. */
  isKnown(parent: number, node: number, hash: number): boolean {
    for (let other = parent + 1; other < node; other = this.next(other)) {
      if (this.keyHash(other) === hash) return true
    }
    return false
  }
}

/** The hash that the scanner gives to a key. */
export function hashOf(key: string): number {
  let hash = 0
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0
  return hash
}

import { isMap, isSeq, type ParsedNode } from 'yaml'
import { readLeniently } from '../frontmatter.ts'
import { splitFrontmatter } from '../split.ts'
import { placeOf } from '../text.ts'
import { keyText } from '../yaml/values.ts'

/** Keys and indexes that lead to a value of the frontmatter. */
export type KeyPath = readonly (string | number)[]

/** A line and a column, from 1. */
export interface Spot {
  readonly line: number
  readonly column: number
}

/** Finds where things stand in a file. Nothing is computed before the first question: most files have no finding. */
export interface Places {
  /** The key or entry at a path, or the nearest one above it that exists. */
  key(path: KeyPath): Spot
  /** An offset in the body. */
  body(offset: number): Spot
}

interface Layout {
  readonly text: string
  readonly yaml: string
  readonly firstLine: number
  readonly bodyStart: number
}

export function createPlaces(input: string | Uint8Array): Places {
  let layout: Layout | undefined
  let tree: { readonly text: string; readonly root: ParsedNode | null | undefined } | undefined
  const known = (): Layout => (layout ??= layOut(input))
  return {
    key(path) {
      const { yaml, firstLine } = known()
      const simple = path.length === 1 ? lineOfKey(yaml, String(path[0])) : undefined
      if (simple !== undefined) return { line: firstLine + simple, column: 1 }
      if (tree === undefined) {
        const { text, read } = readLeniently(yaml)
        tree = { text, root: read.root }
      }
      const offset = offsetOf(tree.root, path)
      if (offset === undefined) return { line: Math.max(1, firstLine - 1), column: 1 }
      const place = placeOf(tree.text, offset)
      return { line: firstLine - 1 + place.line, column: place.column }
    },
    body(offset) {
      const { text, bodyStart } = known()
      return placeOf(text, bodyStart + offset)
    },
  }
}

function layOut(input: string | Uint8Array): Layout {
  const decoded =
    typeof input === 'string' ? input.toWellFormed() : new TextDecoder('utf-8', { ignoreBOM: true }).decode(input)
  const text = decoded.startsWith('\uFEFF') ? decoded.slice(1) : decoded
  const split = splitFrontmatter(text)
  if (split.kind !== 'found') return { text, yaml: '', firstLine: 1, bodyStart: text.length }
  return { text, yaml: split.yaml, firstLine: split.firstLine, bodyStart: text.length - split.body.length }
}

/** Index of the line on which a top-level key of block style stands; lines of other values are indented. */
function lineOfKey(yaml: string, key: string): number | undefined {
  let index = 0
  for (const line of yaml.split('\n')) {
    if (line.startsWith(key) && /^[ \t]*:(?:[ \t]|$)/.test(line.slice(key.length, key.length + 40))) return index
    index++
  }
  return undefined
}

function offsetOf(root: ParsedNode | null | undefined, path: KeyPath): number | undefined {
  let node = root
  let offset: number | undefined
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => keyText(key) === step)
      if (pair === undefined) return offset
      offset = (pair.key as ParsedNode | null)?.range[0] ?? offset
      node = pair.value as ParsedNode | null
    } else if (isSeq(node)) {
      node = node.items[Number(step)] as ParsedNode | null | undefined
      offset = node?.range[0] ?? offset
    } else return offset
  }
  return offset
}

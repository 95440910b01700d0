import { isMap, isSeq, type ParsedNode } from 'yaml'
import type { KeyPath } from '../front.ts'
import { keyText } from '../../../yaml/index.ts'

/** Offset of the key or entry at a path, or of the nearest one above it that exists; undefined when there is none. */
export function offsetOf(root: ParsedNode | null | undefined, path: KeyPath): number | undefined {
  let node = root
  let offset: number | undefined
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => keyText(key) === step)
      if (pair === undefined) return offset
      offset = (pair.key as ParsedNode | null)?.range[0] ?? offset
      node = pair.value as ParsedNode | null
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(step)]
      // Other entries of a list are found by the key of the list.
      if (!isMap(item)) return offset
      node = item as unknown as ParsedNode
      offset = node.range[0]
    } else return offset
  }
  return offset
}

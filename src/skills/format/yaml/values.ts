import { isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml'
import type { JsonObject, JsonValue } from '../../../kernel/index.ts'
import { keyText } from '../../../yaml/index.ts'
import type { KeyPath } from '../front.ts'

/** Keys whose plain value is kept as written at every level: `version: 1.10` is not the number 1.1. */
export const AS_WRITTEN: ReadonlySet<string> = new Set(['name', 'description', 'version'])

/** A mapping as plain data without a prototype. The text has passed `readYaml`, so depth and keys are bounded and unique. */
export function mapToJson(map: YAMLMap): JsonObject {
  const result = Object.create(null) as Record<string, JsonValue>
  for (const { key, value } of map.items) {
    const name = keyText(key) ?? ''
    const asWritten = AS_WRITTEN.has(name) ? writtenText(value) : undefined
    result[name] = asWritten ?? nodeToJson(value)
  }
  return result
}

function nodeToJson(node: unknown): JsonValue {
  if (isMap(node)) return mapToJson(node)
  if (isSeq(node)) return node.items.map(nodeToJson)
  if (!isScalar(node)) return null
  const { value, source = '' } = node
  // Source: decisions, "numbers without quotes".
  if (typeof value === 'number') return String(value) === source ? value : source
  return typeof value === 'string' || typeof value === 'boolean' ? value : null
}

/** Text of a scalar: strings by value, plain numbers, booleans and the word null as written. Undefined for `~`, nothing and collections. */
export function writtenText(node: unknown): string | undefined {
  if (!isScalar(node)) return undefined
  if (typeof node.value === 'string') return node.value
  const source = node.source ?? ''
  return source === '' || source === '~' ? undefined : source
}

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

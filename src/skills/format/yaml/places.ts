import { isMap, isSeq, type ParsedNode } from 'yaml'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/index.ts'
import type { KeyPath, Position } from '../front.ts'
import { type FastForm, type KeyPlaces, readYamlFast } from '../../../yaml/index.ts'
import { keyText } from './values.ts'

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

/** Finds places in a text that the fast reader reads; undefined where it passes through brackets, of which it keeps no places. */
export function fastPlaces(text: string, form: FastForm): (path: KeyPath) => Position | undefined {
  const places: KeyPlaces = new Map()
  const root = readYamlFast(text, form, places)
  return (path) => (root === undefined ? undefined : placeIn(root, places, path))
}

function placeIn(root: JsonObject, places: KeyPlaces, path: KeyPath): Position | undefined {
  let node: JsonValue = root
  let place: Position | undefined
  for (const step of path) {
    if (typeof node !== 'object' || node === null) return place
    const value: JsonValue | undefined = (node as Readonly<Record<string | number, JsonValue>>)[step]
    if (Array.isArray(node)) {
      if (!isJsonObject(value)) return place
      // An entry that is a mapping begins at its first key.
      place = places.get(value)?.values().next().value
    } else {
      const keys = places.get(node)
      if (keys === undefined || value === undefined) return keys && place
      place = keys.get(String(step))
    }
    if (place === undefined) return undefined
    node = value
  }
  return place
}

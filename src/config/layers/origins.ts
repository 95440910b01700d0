import { isJsonObject, type JsonValue } from '../../kernel/index.ts'
import type { Layer } from '../config.ts'
import { partAt, type Path, type PathKey } from '../document/path.ts'

/** A part of a layer. */
interface Part {
  readonly layer: Layer
  readonly at: Path
  readonly value: unknown
}

/** Which layer the part of the merged document at `path` is from, and what it is called there: the layer that weighs most. */
export function originOf(
  merged: JsonValue,
  path: Path,
  layers: readonly Layer[],
): { readonly layer: Layer; readonly at: Path } | undefined {
  let parts: Part[] = layers.map((layer) => ({ layer, at: [], value: layer.document }))
  let value: unknown = merged
  for (const key of path) {
    const holder = value
    value = partAt(holder, [key])
    parts = parts.flatMap((part) => memberOf(part, { holder, key, member: value }))
  }
  const part = parts.at(-1)
  return part && { layer: part.layer, at: part.at }
}

/** The member of a layer's part that became the given member; items of lists are known by id, else by content. */
function memberOf(
  { layer, at, value }: Part,
  sought: { readonly holder: unknown; readonly key: PathKey; readonly member: unknown },
): Part[] {
  if (!Array.isArray(sought.holder)) {
    const member = partAt(value, [sought.key])
    return member === undefined ? [] : [{ layer, at: [...at, sought.key], value: member }]
  }
  const items: readonly unknown[] = Array.isArray(value) ? value : []
  const index = items.findIndex((item) => isSame(item, sought.member))
  return index === -1 ? [] : [{ layer, at: [...at, index], value: items[index] }]
}

function isSame(a: unknown, b: unknown): boolean {
  if (isJsonObject(a) && isJsonObject(b) && a['id'] !== undefined) return a['id'] === b['id']
  return JSON.stringify(a) === JSON.stringify(b)
}

import { isJsonObject, type JsonValue } from '../../kernel/index.ts'
import type { Layer, Origin } from '../config.ts'
import { partAt } from '../document/parts.ts'
import type { PathKey } from '../document/read-yaml.ts'

/** A part of a layer that stands where a part of the merged document stands. */
interface Part {
  readonly layer: Layer
  readonly keys: readonly PathKey[]
  readonly value: unknown
}

/** Where the part of the merged document at `keys` was written: in the layer that weighs most. Undefined when in none. */
export function originOf(merged: JsonValue, keys: readonly PathKey[], layers: readonly Layer[]): Origin | undefined {
  let parts: Part[] = layers.map((layer) => ({ layer, keys: [], value: layer.document }))
  let value: unknown = merged
  for (const key of keys) {
    const holder = value
    value = partAt(holder, [key])
    parts = parts.flatMap((part) => memberOf(part, { holder, key, member: value }))
  }
  const part = parts.at(-1)
  return part && { path: part.layer.path, ...part.layer.locate(part.keys), keys: part.layer.inFile(part.keys) }
}

/** The member of a layer's part that became the given member; items of lists are known by id, else by content. */
function memberOf(
  { layer, keys, value }: Part,
  sought: { readonly holder: unknown; readonly key: PathKey; readonly member: unknown },
): Part[] {
  if (!Array.isArray(sought.holder)) {
    const member = partAt(value, [sought.key])
    return member === undefined ? [] : [{ layer, keys: [...keys, sought.key], value: member }]
  }
  const items: readonly unknown[] = Array.isArray(value) ? value : []
  const index = items.findIndex((item) => isSame(item, sought.member))
  return index === -1 ? [] : [{ layer, keys: [...keys, index], value: items[index] }]
}

function isSame(a: unknown, b: unknown): boolean {
  if (isJsonObject(a) && isJsonObject(b) && a['id'] !== undefined) return a['id'] === b['id']
  return JSON.stringify(a) === JSON.stringify(b)
}

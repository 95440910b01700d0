import type { JsonObject, JsonValue } from '../../kernel/index.ts'
import type { PathKey } from './read-yaml.ts'

/** The part of a value at `keys`, looked up by own properties only; undefined when there is none. */
export function partAt(value: unknown, keys: readonly PathKey[]): unknown {
  let part = value
  for (const key of keys) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return undefined
    part = (part as Record<PathKey, unknown>)[key]
  }
  return part
}

/** Whether the part is an item of a list, or in one. */
export function isInList(keys: readonly PathKey[]): boolean {
  return keys.some((key) => typeof key === 'number')
}

/** The outermost list that the part is in. */
export function listOf(keys: readonly PathKey[]): readonly PathKey[] {
  return keys.slice(
    0,
    keys.findIndex((key) => typeof key === 'number'),
  )
}

/** Removes the parts from `root` in place; each path is as it was before the first removal. */
export function removeParts(root: JsonObject, parts: Iterable<readonly PathKey[]>): void {
  const unique = new Map([...parts].map((keys) => [JSON.stringify(keys), keys]))
  // From the end, so that no list item moves before its turn.
  for (const keys of [...unique.values()].toSorted((a, b) => comparePaths(b, a))) {
    const holder = partAt(root, keys.slice(0, -1))
    const last = keys.at(-1)
    if (typeof holder !== 'object' || holder === null || last === undefined) continue
    if (Array.isArray(holder)) holder.splice(Number(last), 1)
    else delete (holder as Record<PathKey, JsonValue>)[last]
  }
}

/** A deep copy whose objects have no prototype. */
export function copyValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copyValue)
  if (typeof value !== 'object' || value === null) return value
  const target = Object.create(null) as Record<string, JsonValue>
  for (const [key, member] of Object.entries(value)) if (member !== undefined) target[key] = copyValue(member)
  return target
}

function comparePaths(a: readonly PathKey[], b: readonly PathKey[]): number {
  for (const [index, key] of a.entries()) {
    const other = b[index]
    if (other === undefined) return 1
    if (key === other) continue
    if (typeof key === 'number' && typeof other === 'number') return key - other
    return String(key) < String(other) ? -1 : 1
  }
  return a.length - b.length
}

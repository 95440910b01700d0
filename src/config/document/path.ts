/** path: the keys that lead to a part of a document, and what can be done with them. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'

export type PathKey = string | number
export type Path = readonly PathKey[]

/** Stands for everything that is not shown. */
export const HIDDEN = '[hidden]'

/** The part of a value at `path`, by own properties only; undefined when there is none. */
export function partAt(value: unknown, path: Path): unknown {
  let part = value
  for (const key of path) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return undefined
    part = (part as Record<PathKey, unknown>)[key]
  }
  return part
}

/** Whether `path` is the place that the dotted pattern names; `*` matches any one key or position in a list. */
export function fits(pattern: string, path: Path): boolean {
  return pattern.split('.').length === path.length && isWithin(pattern, path)
}

/** Whether `path` is at or below the place that the dotted pattern names. */
export function isWithin(pattern: string, path: Path): boolean {
  const parts = pattern.split('.')
  return parts.length <= path.length && parts.every((part, index) => part === '*' || part === path[index])
}

/** Whether the part is an item of a list, or in one. */
export function isInList(path: Path): boolean {
  return path.some((key) => typeof key === 'number')
}

/** The outermost list that the part is in. */
export function listOf(path: Path): Path {
  return path.slice(
    0,
    path.findIndex((key) => typeof key === 'number'),
  )
}

/** Removes a part in place. An item of a list leaves a gap, so that the others keep the number that they have in the file. */
export function removePart(root: JsonObject, path: Path): void {
  const holder = partAt(root, path.slice(0, -1))
  const last = path.at(-1)
  if (typeof holder !== 'object' || holder === null || last === undefined) return
  if (Array.isArray(holder)) holder[Number(last)] = undefined
  else delete (holder as Record<PathKey, JsonValue>)[last]
}

/** A deep copy whose objects have no prototype. Gaps stay. */
export function copyValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copyValue)
  if (!isJsonObject(value)) return value
  return toMap(
    Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, copyValue(member)]])),
  )
}

/** A deep copy without gaps. */
export function withoutGaps(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.filter((item) => item !== undefined).map(withoutGaps)
  if (!isJsonObject(value)) return value
  return toMap(Object.entries(value).map(([key, member]) => [key, withoutGaps(member)]))
}

/** The path of a part in a document with gaps, given its path without them. */
export function pathWithGaps(document: JsonObject, path: Path): Path {
  const found: PathKey[] = []
  for (const key of path) {
    const holder = partAt(document, found)
    const items = Array.isArray(holder) ? [...holder.keys()].filter((index) => holder[index] !== undefined) : []
    found.push(Array.isArray(holder) ? (items[Number(key)] ?? key) : key)
  }
  return found
}

/** A copy without the maps of which nothing is left. */
export function withoutEmptyMaps(document: JsonObject): JsonObject {
  const members = Object.entries(document).map(
    ([key, member]) => [key, isJsonObject(member) ? withoutEmptyMaps(member) : member] as const,
  )
  return toMap(members.filter(([, member]) => !isJsonObject(member) || Object.keys(member).length > 0))
}

function toMap(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  const map = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of entries) map[key] = value
  return map
}

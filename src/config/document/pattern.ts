import type { Path, PathKey } from './path.ts'

/** Whether `keys` are the place that the dotted pattern names; `*` matches any one key or position in a list. */
export function fits(pattern: string, keys: Path): boolean {
  if (!beginsAlike(pattern, keys)) return false
  const parts = pattern.split('.')
  return parts.length === keys.length && startsAs(parts, keys)
}

/** Whether `keys` are at or below the place that the dotted pattern names. */
export function isWithin(pattern: string, keys: Path): boolean {
  if (!beginsAlike(pattern, keys)) return false
  const parts = pattern.split('.')
  return parts.length <= keys.length && startsAs(parts, keys)
}

/** A quick look that spares most comparisons. */
function beginsAlike(pattern: string, [first]: Path): boolean {
  return typeof first === 'string' && pattern.startsWith(first)
}

function startsAs(parts: readonly string[], keys: readonly PathKey[]): boolean {
  return parts.every((part, index) => part === '*' || part === keys[index])
}

/** Whether the place that the dotted pattern names is below `keys`. */
export function leadsTo(pattern: string, keys: readonly PathKey[]): boolean {
  const parts = pattern.split('.')
  return parts.length > keys.length && startsAs(parts.slice(0, keys.length), keys)
}

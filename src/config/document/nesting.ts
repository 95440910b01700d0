/** nesting: keys that begin in the column of an empty map above them, to which they belong. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { isMap, memberOf, type Schema, unwrapped } from '../schema/walk.ts'
import type { Path } from './path.ts'

/** A map without a value, and its place in the nesting that was meant. */
interface Empty {
  readonly path: Path
  readonly schema: Schema
}

/** Such keys of a map at `at`, each with the path that was meant for it. */
export function nestingOf(map: JsonObject, at: Path, schema: Schema): ReadonlyMap<string, Path> {
  const meant = new Map<string, Path>()
  let above: readonly Empty[] = []
  if (schema.type !== 'strict_object' && schema.type !== 'record') return meant
  for (const [key, member] of Object.entries(map)) {
    const own = memberOf(schema, key)
    const level = above.findLastIndex((each) => memberOf(each.schema, key) !== undefined)
    const holder = above[level]
    if (holder === undefined || fits(own, member, schema)) above = opened([], { path: [...at, key], own, member })
    else {
      const path = [...holder.path, key]
      meant.set(key, path)
      above = opened(above.slice(0, level + 1), { path, own: memberOf(holder.schema, key), member })
    }
  }
  return meant
}

interface Line {
  readonly path: Path
  readonly own: Schema | undefined
  readonly member: JsonValue | undefined
}

/** The empty maps that the next line may belong to. */
function opened(above: readonly Empty[], { path, own, member }: Line): readonly Empty[] {
  const schema = own && unwrapped(own)
  return member === null && schema !== undefined && isMap(schema) ? [...above, { path, schema }] : above
}

/** Whether a member may well be meant where it is: a known key, or in a map of names one whose settings are known. */
function fits(own: Schema | undefined, member: JsonValue | undefined, { type }: Schema): boolean {
  if (own === undefined || type !== 'record') return own !== undefined
  const form = unwrapped(own)
  if (!isMap(form)) return true
  return isJsonObject(member) && Object.keys(member).every((key) => memberOf(form, key) !== undefined)
}

import { ROOT, rulesOf, type Schema, unwrapped } from '../../src/config/schema/walk.ts'
import type { Rules } from '../../src/config/schema/parts.ts'

/** What each part of the schema says of itself, by its dotted path; `*` is any item or name. */
export function everyRule(schema: Schema = ROOT, path = ''): { readonly path: string; readonly rules: Rules }[] {
  const { entries = {}, item, value, options = [] } = unwrapped(schema)
  const below = (key: string): string => (path === '' ? key : `${path}.${key}`)
  return [
    { path, rules: rulesOf(schema) },
    ...Object.entries(entries).flatMap(([key, inner]) => everyRule(inner, below(key))),
    ...[item, value].flatMap((inner) => (inner ? everyRule(inner, below('*')) : [])),
    ...options.flatMap((option) => (typeof option === 'object' ? everyRule(option, path) : [])),
  ]
}

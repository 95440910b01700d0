import type { JsonObject } from '../../../kernel/index.ts'
import type { Frontmatter, KeyPath, KeyPlace } from '../front.ts'

/** A place for gating fields: how to get there, and what is there. */
export interface Holder {
  readonly path: KeyPath
  readonly fields: JsonObject
}

/**
 * Where a field is written that was read from the first of the holders that has it, or from `requires` there. Looked for only when there
 * is something to say. Of a field inside a text it is the key of the text.
 */
export function placeOfField(front: Frontmatter, holders: readonly Holder[], path: KeyPath): KeyPlace {
  const at = (whole: KeyPath): KeyPlace => front.place(String(whole[0] ?? 'metadata'), whole.slice(1))
  const [first = ''] = path
  const holder = holderOf(holders, String(first))
  if (holder !== undefined) return at([...holder.path, ...path])
  const outer = holderOf(holders, 'requires')
  return outer === undefined ? front.place('metadata') : at([...outer.path, 'requires', ...path])
}

function holderOf(holders: readonly Holder[], key: string): Holder | undefined {
  return holders.find(({ fields }) => Object.hasOwn(fields, key) && fields[key] !== null)
}

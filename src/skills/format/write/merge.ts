import { CLIENT_BLOCKS, isJsonObject, type JsonObject, type JsonValue, ownValue } from '../../../kernel/index.ts'
import { FIELD_NAMES } from '../fields/table.ts'
import { parseJson5 } from '../json5.ts'

/** True when gating or display reads a field: the first place that gives it counts. */
export function isReadField(key: string): boolean {
  return FIELD_NAMES.includes(key)
}

/** The mappings under names of clients, in their order; also those written as JSON5 in a text. */
export function clientBlocks(metadata: JsonObject): ReadonlyMap<string, JsonObject> {
  const blocks = new Map<string, JsonObject>()
  for (const alias of CLIENT_BLOCKS) {
    const value = ownValue(metadata, alias)
    const fields = typeof value === 'string' ? parseJson5(value) : value
    if (isJsonObject(fields)) blocks.set(alias, fields)
  }
  return blocks
}

export interface Merged {
  readonly metadata: JsonObject
  /** Fields, as `clawdbot.emoji`, that another place already outweighs; they are gone. */
  readonly outweighed: readonly string[]
}

/**
 * `metadata` without client blocks: their fields move up. What is read stays the same, because the field that counted before is the one
 * that is kept. An unknown key that is taken already stays in its block.
 */
export function mergeBlocks(metadata: JsonObject): Merged {
  const blocks = clientBlocks(metadata)
  const merge: Merge = { metadata, up: new Map(), outweighed: [] }
  const left = new Map<string, JsonObject>()
  for (const [alias, fields] of blocks) {
    const rest = Object.create(null) as Record<string, JsonValue>
    for (const [key, value] of Object.entries(fields)) if (!isMerged(merge, alias, [key, value])) rest[key] = value
    if (Object.keys(rest).length > 0) left.set(alias, rest)
  }
  return { metadata: inOrder(merge, blocks, left), outweighed: merge.outweighed }
}

/** The author's keys where they were, the fields of each block in its place. */
function inOrder(
  { metadata, up }: Merge,
  blocks: ReadonlyMap<string, JsonObject>,
  left: ReadonlyMap<string, JsonObject>,
): JsonObject {
  const merged = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(metadata)) {
    const fields = blocks.get(key)
    if (fields === undefined) merged[key] = up.get(key) ?? value
    for (const field of Object.keys(fields ?? {}))
      if (up.has(field) && !Object.hasOwn(metadata, field)) merged[field] = up.get(field) ?? null
    const rest = left.get(key)
    if (rest !== undefined) merged[key] = rest
  }
  return merged
}

interface Merge {
  readonly metadata: JsonObject
  /** Fields that move up. */
  readonly up: Map<string, JsonValue>
  readonly outweighed: string[]
}

/** Moves a field up, or leaves it out where another one counts; false when it has to stay. */
function isMerged({ metadata, up, outweighed }: Merge, alias: string, [key, value]: [string, JsonValue]): boolean {
  if ((CLIENT_BLOCKS as readonly string[]).includes(key)) return false
  const taken = up.get(key) ?? ownValue(metadata, key) ?? null
  const isSame = JSON.stringify(taken) === JSON.stringify(value)
  if (taken === null || isSame) up.set(key, value)
  else if (!isReadField(key)) return false
  else if (value !== null) {
    outweighed.push(up.has(key) ? `${alias}.${key}` : key)
    if (!up.has(key)) up.set(key, value)
  }
  return true
}

import { CLIENT_BLOCKS, isJsonObject, type JsonObject, type JsonValue, ownValue } from '../../../kernel/index.ts'
import { parseJson5 } from '../json5.ts'

/** Fields that gating and display read: for each, the first place that gives it counts. */
const READ_FIELDS: ReadonlySet<string> = new Set([
  ...['emoji', 'homepage', 'os', 'requires', 'anyBins', 'primaryEnv', 'install', 'always', 'skillKey'],
])

export interface Merged {
  readonly metadata: JsonObject
  /** Fields, as `clawdbot.emoji`, that another place already outweighs; they are gone. */
  readonly outweighed: readonly string[]
  /** True when every value has kept its place but for the alias around it. */
  readonly isPlain: boolean
}

/** True for the name of a client under `metadata` whose fields are read. */
export function isAlias(key: string): boolean {
  return (CLIENT_BLOCKS as readonly string[]).includes(key)
}

/** True when a field is one that gating and display read. */
export function isReadField(key: string): boolean {
  return READ_FIELDS.has(key)
}

/** The mapping under an alias, also one that is written as JSON5 in a text. */
export function underAlias(metadata: JsonObject, alias: string): JsonObject | undefined {
  const value = ownValue(metadata, alias)
  const inner = typeof value === 'string' ? parseJson5(value) : value
  return isJsonObject(inner) ? inner : undefined
}

/**
 * `metadata` without aliases: their fields move up. What is read stays the same, because the field that counted before is the one
 * that is kept. An unknown key that is taken already stays below its alias.
 */
export function mergeAliases(metadata: JsonObject): Merged {
  const clients = CLIENT_BLOCKS.map((alias) => ({ alias, fields: underAlias(metadata, alias) })).filter(
    (client): client is { alias: (typeof CLIENT_BLOCKS)[number]; fields: JsonObject } => client.fields !== undefined,
  )
  const merge: Merge = { metadata, clients, winners: new Map(), left: new Map(), outweighed: [], isPlain: true }
  for (const client of clients) mergeClient(merge, client)
  return { metadata: inOrder(merge), outweighed: merge.outweighed, isPlain: merge.isPlain }
}

interface Merge {
  readonly metadata: JsonObject
  readonly clients: readonly Client[]
  /** Fields that move up. */
  readonly winners: Map<string, JsonValue>
  /** What stays below an alias. */
  readonly left: Map<string, JsonObject>
  readonly outweighed: string[]
  isPlain: boolean
}

function mergeClient(merge: Merge, { alias, fields }: Client): void {
  const { metadata, clients, winners, left, outweighed } = merge
  const rest = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(fields)) {
    const isOwn = !winners.has(key)
    const taken = isOwn ? ownOf(metadata, key, clients) : winners.get(key)
    const verdict = judge(key, value, { taken, isOwn })
    if (verdict !== 'up' || taken !== undefined) merge.isPlain = false
    if (verdict === 'stay') rest[key] = value
    if (verdict === 'outweighed') outweighed.push(`${alias}.${key}`)
    if (verdict !== 'up') continue
    winners.set(key, value)
    if (taken !== undefined && taken !== null && !isEqual(taken, value)) outweighed.push(key)
  }
  if (Object.keys(rest).length > 0) left.set(alias, rest)
}

type Client = { readonly alias: string; readonly fields: JsonObject }

/** The author's own value of a key; an alias that is merged is none. */
function ownOf(metadata: JsonObject, key: string, clients: readonly Client[]): JsonValue | undefined {
  return clients.some(({ alias }) => alias === key) ? undefined : ownValue(metadata, key)
}

/** Where a field of an alias goes: up, nowhere because it is there already, nowhere because another counts, or it stays. */
function judge(
  key: string,
  value: JsonValue,
  { taken, isOwn }: { taken: JsonValue | undefined; isOwn: boolean },
): 'up' | 'equal' | 'outweighed' | 'stay' {
  if (isAlias(key)) return 'stay'
  if (taken !== undefined && isEqual(taken, value)) return isOwn ? 'up' : 'equal'
  if (!isReadField(key)) return taken === undefined ? 'up' : 'stay'
  if (value === null) return taken === undefined ? 'up' : 'equal'
  if (taken === undefined || taken === null) return 'up'
  return isOwn ? 'up' : 'outweighed'
}

function isEqual(a: JsonValue, b: JsonValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** The author's keys where they stood, the fields of each alias in its place. */
function inOrder({ metadata, clients, winners, left }: Merge): JsonObject {
  const result = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of Object.entries(metadata)) {
    const fields = clients.find(({ alias }) => alias === key)?.fields
    if (fields === undefined) result[key] = winners.get(key) ?? value
    for (const field of Object.keys(fields ?? {})) {
      const winner = winners.get(field)
      if (winner !== undefined && ownOf(metadata, field, clients) === undefined) result[field] = winner
    }
    const rest = left.get(key)
    if (rest !== undefined) result[key] = rest
  }
  return result
}

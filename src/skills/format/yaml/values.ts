import { isMap, isScalar, isSeq, type ParsedNode, Scalar, type YAMLMap } from 'yaml'
import type { JsonObject, JsonValue } from '../../../kernel/index.ts'
import { found } from '../messages/messages.ts'
import type { YamlProblem } from './inspect.ts'

/** Keys whose plain value is kept as written at every level: `version: 1.10` is not the number 1.1. */
export const AS_WRITTEN: ReadonlySet<string> = new Set(['name', 'description', 'version'])

/** Keys that cannot be data: given twice, merge keys, lists and mappings as keys. */
export function keyProblems(root: ParsedNode | null): YamlProblem[] {
  const problems: YamlProblem[] = []
  visit(root, { problems, gates: isMap(root) && root.flow === true, level: 0 })
  return problems
}

interface Visit {
  readonly problems: YamlProblem[]
  /** The keys may gate. */
  readonly gates: boolean
  readonly level: number
}

function visit(node: ParsedNode | null, { problems, gates, level }: Visit): void {
  if (isSeq(node))
    for (const item of node.items) visit(item as ParsedNode | null, { problems, gates, level: level + 1 })
  if (!isMap(node)) return
  const seen = new Map<string, Member>()
  for (const { key, value } of node.items) {
    const problem =
      keyProblem({ key: key as ParsedNode | null, value }, seen, node) ?? (gates ? commentProblem(key) : undefined)
    if (problem) problems.push(problem)
    const below = gates || (level === 0 && GATING_KEYS.has(keyText(key) ?? ''))
    visit(value as ParsedNode | null, { problems, gates: below, level: level + 1 })
  }
}

/** Top-level keys whose mappings gate. */
export const GATING_KEYS: ReadonlySet<string> = new Set(['metadata', 'requires', 'install'])

/** In YAML a comment of JSON would become part of the key behind it. */
function commentProblem(key: unknown): YamlProblem | undefined {
  if (!isScalar(key) || key.type !== Scalar.PLAIN || !/^\/[/*]/.test(key.source ?? '')) return undefined
  return { ...found('yaml-key-not-text', (key.source ?? '').slice(0, 2)), offset: key.range?.[0] ?? 0 }
}

interface Member {
  readonly key: ParsedNode | null
  readonly value: unknown
}

function keyProblem({ key, value }: Member, seen: Map<string, Member>, map: ParsedNode): YamlProblem | undefined {
  const offset = key?.range[0] ?? map.range[0]
  const name = keyText(key)
  if (name === undefined) return { ...found('yaml-key-not-text'), offset }
  if (name === '<<' && isScalar(key) && key.type === Scalar.PLAIN) return { ...found('yaml-merge-key'), offset }
  const before = seen.get(name)
  if (before)
    return {
      ...found('yaml-duplicate-key', name, {
        isLine: isMap(map) && map.flow !== true,
        ...valuesOf(before.value, value),
      }),
      ...(before.key && { first: before.key.range[0] }),
      offset,
    }
  seen.set(name, { key, value })
  return undefined
}

/** Both values, where both are texts. */
function valuesOf(first: unknown, second: unknown): { readonly values?: readonly [string, string] } {
  const [a, b] = [writtenText(first), writtenText(second)]
  return a === undefined || b === undefined ? {} : { values: [a, b] }
}

/** The text of a key; numbers and booleans as written, an absent key as the empty text. */
export function keyText(key: unknown): string | undefined {
  if (key === null) return ''
  if (!isScalar(key)) return undefined
  return typeof key.value === 'string' ? key.value : (key.source ?? '')
}

/** A mapping as plain data without a prototype. The text has passed `readYaml`, so depth and keys are bounded and unique. */
export function mapToJson(map: YAMLMap): JsonObject {
  const result = Object.create(null) as Record<string, JsonValue>
  for (const { key, value } of map.items) {
    const name = keyText(key) ?? ''
    const asWritten = AS_WRITTEN.has(name) ? writtenText(value) : undefined
    result[name] = asWritten ?? nodeToJson(value)
  }
  return result
}

function nodeToJson(node: unknown): JsonValue {
  if (isMap(node)) return mapToJson(node)
  if (isSeq(node)) return node.items.map(nodeToJson)
  if (!isScalar(node)) return null
  const { value, source = '' } = node
  // Source: decisions, "numbers without quotes".
  if (typeof value === 'number') return String(value) === source ? value : source
  return typeof value === 'string' || typeof value === 'boolean' ? value : null
}

/** Text of a scalar: strings by value, plain numbers, booleans and the word null as written. Undefined for `~`, nothing and collections. */
export function writtenText(node: unknown): string | undefined {
  if (!isScalar(node)) return undefined
  if (typeof node.value === 'string') return node.value
  const source = node.source ?? ''
  return source === '' || source === '~' ? undefined : source
}

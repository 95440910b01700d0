import { isMap, isScalar, isSeq, type ParsedNode, Scalar, type YAMLMap } from 'yaml'
import type { JsonObject, JsonValue } from '../../../kernel/index.ts'
import { found } from '../messages/messages.ts'
import { keyText } from '../../../yaml/index.ts'
import type { YamlProblem } from '../report.ts'

/** Keys whose plain value is kept as written at every level: `version: 1.10` is not the number 1.1. */
export const AS_WRITTEN: ReadonlySet<string> = new Set(['name', 'description', 'version'])

/** Top-level keys whose mappings gate. */
const GATING_KEYS: ReadonlySet<string> = new Set(['metadata', 'requires', 'install'])

/** In YAML a comment of JSON would become part of the key behind it, which may gate. */
export function commentKeys(root: ParsedNode | null): YamlProblem[] {
  const problems: YamlProblem[] = []
  const visit = (node: unknown): void => {
    if (isSeq(node)) node.items.forEach(visit)
    if (!isMap(node)) return
    for (const { key, value } of node.items) {
      const sign = isScalar(key) && key.type === Scalar.PLAIN ? /^\/[/*]/.exec(key.source ?? '')?.[0] : undefined
      if (sign !== undefined)
        problems.push({ ...found('yaml-key-not-text', sign), offset: (key as ParsedNode).range[0] })
      visit(value)
    }
  }
  if (isMap(root) && root.flow === true) visit(root)
  else if (isMap(root)) for (const { key, value } of root.items) if (GATING_KEYS.has(keyText(key) ?? '')) visit(value)
  return problems
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

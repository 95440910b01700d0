import { type Document, isCollection, isMap, isScalar } from 'yaml'
import type { Node, Pair, Scalar } from 'yaml'
import { type Diagnostic, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { keyText, readYamlFully, readYamlTree, type YamlFault, type YamlLimits } from '../../yaml/index.ts'
import { type Message, YAML, FILES } from '../messages.ts'
import { type Path, type PathKey } from './path.ts'
import { shownKeyAt } from './shown-key.ts'
import { explainSyntax, joinedKey } from './syntax-error.ts'
import { describe } from './invalid-setting.ts'

/** A file as plain data. Objects have no prototype. */
export interface Parsed {
  readonly value: JsonObject
  readonly diagnostics: readonly Diagnostic[]
}

const LIMITS: YamlLimits = { tokens: 400_000, depth: 32, keys: 20_000, escapes: 20_000 }
const MAX_PROBLEMS = 50

type Report = (offset: number | undefined, words: Message) => void

/**
 * Reads YAML 1.2. Never throws. Syntax errors, and what a configuration never needs (anchors, aliases, tags, merge
 * keys, directives, several documents), are errors; then `value` is empty: half a file would not mean what it says.
 */
export function parseYaml(text: string, path: string): Parsed {
  const { root, faults, document } = readYamlFully(text, LIMITS)
  const diagnostics: Diagnostic[] = []
  const report: Report = (offset, words) => {
    const place = { path, ...placeOf(text, offset ?? 0) }
    if (diagnostics.length < MAX_PROBLEMS) diagnostics.push({ severity: 'error', ...place, ...words })
    else if (diagnostics.length === MAX_PROBLEMS) diagnostics.push({ severity: 'error', ...place, ...FILES.more() })
  }
  for (const fault of faults) {
    if (fault.kind !== 'syntax') report(fault.offset, wordsOf(fault, text))
    else if (document !== undefined) {
      const { offset, why, fix } = explainSyntax(document, text, fault.error)
      report(offset, YAML.syntax({ why, fix }))
      // What follows the first error mostly follows from it.
      break
    }
  }
  const contents = diagnostics.length === 0 ? toJson(root, report) : null
  if (contents !== null && !isJsonObject(contents)) {
    const start = root?.range[0]
    const joined = joinedKey(text, start ?? 0)
    if (joined) report(joined.offset, YAML.joinedRoot(joined))
    else report(start, YAML.notAMap({ found: describe(contents, undefined) }))
  }
  const isUsable = diagnostics.length === 0 && isJsonObject(contents)
  return { value: isUsable ? contents : (Object.create(null) as JsonObject), diagnostics }
}

const REFUSED = {
  directive: YAML.directive,
  'multiple-documents': YAML.secondDocument,
  alias: YAML.alias,
  anchor: YAML.anchor,
  tag: YAML.tag,
  'core-tag': YAML.tag,
  'merge-key': YAML.mergeKey,
  'key-not-text': YAML.keyNotString,
} as const

function wordsOf(fault: Exclude<YamlFault, { readonly kind: 'syntax' }>, text: string): Message {
  if (fault.kind === 'too-complex') return fault.of === 'depth' ? YAML.tooDeep(fault.limit) : YAML.tooMany(fault.limit)
  if (fault.kind !== 'duplicate-key') return REFUSED[fault.kind]()
  const key = shownKeyAt(fault.path, isCollection(fault.values[1]))
  return YAML.duplicateKey({ key }, placeOf(text, fault.first).line, placeOf(text, fault.offset).line)
}

/** Finds line and column, from 1, of the key (or list item) at a path; of the nearest parent when it is not there. */
export function placesIn(text: string): (path: Path) => { readonly line: number; readonly column: number } {
  const document = readYamlTree(text)
  return (path) => placeOf(text, offsetOf(document, path))
}

/** A tree that has passed the full parser, as values. */
function toJson(node: unknown, report: Report): JsonValue {
  if (isMap(node)) {
    const map = Object.create(null) as Record<string, JsonValue>
    for (const { key, value } of node.items) {
      const name = isScalar(key) && key.value !== null ? keyText(key) : undefined
      if (name === undefined || name === '__proto__') report((key as Node | null)?.range?.[0], YAML.keyNotString())
      else map[name] = toJson(value, report)
    }
    return map
  }
  if (isCollection(node)) return node.items.map((item) => toJson(item, report))
  return isScalar(node) ? scalarToJson(node, report) : null
}

function scalarToJson({ value, range }: Scalar, report: Report): JsonValue {
  if (typeof value === 'string' && !value.isWellFormed()) report(range?.[0], YAML.halfCharacter())
  if (typeof value === 'number' && !Number.isFinite(value)) report(range?.[0], YAML.notFinite())
  return value as JsonValue
}

function offsetOf(document: Document.Parsed | undefined, path: Path): number {
  let node: unknown = document?.contents
  let offset = document?.contents?.range[0] ?? 0
  for (const key of path) {
    const next = memberOf(node, key)
    if (!next) break
    offset = (next.at as Node | null)?.range?.[0] ?? offset
    node = next.value
  }
  return offset
}

/** A member of a map or list, and the node at its place: the key, or the item. */
function memberOf(node: unknown, key: PathKey): { at: unknown; value: unknown } | undefined {
  if (isMap(node)) {
    const pair: Pair | undefined = node.items.find((item) => keyText(item.key) === String(key))
    return pair && { at: pair.key, value: pair.value }
  }
  const item: unknown = isCollection(node) ? node.items[Number(key)] : undefined
  return item === undefined ? undefined : { at: item, value: item }
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

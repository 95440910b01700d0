import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
} from 'yaml'
import { type Diagnostic, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { type Message, YAML, FILES } from '../messages.ts'
import { type Path, type PathKey } from './path.ts'
import { shownKeyAt } from './shown-key.ts'
import { explainSyntax, joinedKey } from './syntax-error.ts'
import { describe } from './misfit.ts'

/** A file as plain data. Objects have no prototype. */
export interface Parsed {
  readonly value: JsonObject
  readonly diagnostics: readonly Diagnostic[]
}

const MAX_DEPTH = 32
const MAX_VALUES = 20_000
const MAX_PROBLEMS = 50
/** Unique keys are checked here: the library's own check takes quadratic time. */
const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  uniqueKeys: false,
  merge: false,
  prettyErrors: false,
  logLevel: 'error',
} as const
/** A line that begins with "%" before the first content. */
const LEADING_DIRECTIVE = /^(?:[ \t]*(?:#[^\n]*)?\r?\n)*%/

/**
 * Reads YAML 1.2. Never throws. Syntax errors, and what a configuration never needs (anchors, aliases, tags, merge
 * keys, directives, several documents), are errors; then `value` is empty: half a file would not mean what it says.
 */
export function parseYaml(text: string, path: string): Parsed {
  const { document, lines } = parse(text)
  const diagnostics: Diagnostic[] = []
  const report: Report = (offset, words) => {
    const place = { path, ...placeOf(lines, offset ?? 0) }
    if (diagnostics.length < MAX_PROBLEMS) diagnostics.push({ severity: 'error', ...place, ...words })
    else if (diagnostics.length === MAX_PROBLEMS) diagnostics.push({ severity: 'error', ...place, ...FILES.more() })
  }
  checkSyntax(document, text, report)
  const contents =
    diagnostics.length === 0
      ? toJson(document.contents, { report, lineOf: (offset) => placeOf(lines, offset).line, values: 0 }, [])
      : null
  if (contents !== null && !isJsonObject(contents)) {
    const start = document.contents?.range?.[0]
    const joined = joinedKey(text, start ?? 0)
    if (joined) report(joined.offset, YAML.joinedRoot(joined))
    else report(start, YAML.notAMap({ found: describe(contents, undefined) }))
  }
  const isUsable = diagnostics.length === 0 && isJsonObject(contents)
  return { value: isUsable ? contents : (Object.create(null) as JsonObject), diagnostics }
}

/** Finds line and column, from 1, of the key (or list item) at a path; of the nearest parent when it is not there. */
export function placesIn(text: string): (path: Path) => { readonly line: number; readonly column: number } {
  const { document, lines } = parse(text)
  return (path) => placeOf(lines, offsetOf(document, path))
}

/** The text as a tree of nodes, each of which knows where it is. */
export function parse(text: string): { readonly document: Document.Parsed; readonly lines: LineCounter } {
  const lines = new LineCounter()
  return { document: parseDocument(text, { ...YAML_OPTIONS, lineCounter: lines }), lines }
}

function checkSyntax(document: Document.Parsed, text: string, report: Report): void {
  const directive = LEADING_DIRECTIVE.exec(text)
  if (directive) {
    report(directive[0].length - 1, YAML.directive())
  }
  // What follows the first error mostly follows from it.
  const error = document.errors[0]
  if (!error) return
  const { code, pos } = error
  if (code === 'MULTIPLE_DOCS') return report(pos[0], YAML.secondDocument())
  const { offset, why, fix } = explainSyntax(document, text, error)
  report(offset, YAML.syntax({ why, fix }))
}

type Report = (offset: number | undefined, words: Message) => void

interface Reader {
  readonly report: Report
  readonly lineOf: (offset: number) => number
  values: number
}

function toJson(node: unknown, reader: Reader, at: Path): JsonValue {
  if (node === null || node === undefined) return null
  reader.values += 1
  const refusal = refusalOf(node, at.length)
  if (reader.values > MAX_VALUES || refusal) {
    if (reader.values <= MAX_VALUES + 1) reader.report((node as Node).range?.[0], refusal ?? YAML.tooMany(MAX_VALUES))
    return null
  }
  if (isMap(node)) return mapToJson(node.items, reader, at)
  if (isCollection(node)) return node.items.map((item, index) => toJson(item, reader, [...at, index]))
  return (node as Scalar).value as JsonValue
}

/** Why a node cannot be used, whatever it contains. */
function refusalOf(node: unknown, depth: number): Message | undefined {
  if (depth > MAX_DEPTH) return YAML.tooDeep(MAX_DEPTH)
  if (isAlias(node)) return YAML.alias()
  if (!isScalar(node) && !isCollection(node)) return YAML.notAValue()
  if (node.anchor !== undefined) return YAML.anchor()
  if (node.tag !== undefined) return YAML.tag()
  if (!isScalar(node)) return undefined
  const { value } = node
  if (typeof value === 'string') return value.isWellFormed() ? undefined : YAML.halfCharacter()
  if (typeof value !== 'number' || Number.isFinite(value)) return undefined
  return YAML.notFinite()
}

function mapToJson(items: readonly Pair[], reader: Reader, at: Path): JsonObject {
  const map = Object.create(null) as Record<string, JsonValue>
  for (const pair of items) {
    const offset = (pair.key as Node | null)?.range?.[0]
    const key = keyText(pair)
    if (key === '<<') reader.report(offset, YAML.mergeKey())
    else if (key === undefined || key === '__proto__') reader.report(offset, YAML.keyNotString())
    else if (Object.hasOwn(map, key)) reader.report(offset, duplicate(items, pair, { reader, at: [...at, key] }))
    else map[key] = toJson(pair.value, reader, [...at, key])
  }
  return map
}

function duplicate(
  items: readonly Pair[],
  pair: Pair,
  { reader: { lineOf }, at }: { readonly reader: Reader; readonly at: Path },
): Message {
  const lineOfKey = ({ key }: Pair): number => lineOf((key as Node | null)?.range?.[0] ?? 0)
  const first = items.find((each) => keyText(each) === keyText(pair)) ?? pair
  return YAML.duplicateKey({ key: shownKeyAt(at, isCollection(pair.value)) }, lineOfKey(first), lineOfKey(pair))
}

/** Keys are strings; numbers and booleans are taken as they are written. */
export function keyText({ key }: Pair): string | undefined {
  if (!isScalar(key) || key.anchor !== undefined || key.tag !== undefined) return undefined
  if (typeof key.value === 'string') return key.value
  return typeof key.value === 'number' || typeof key.value === 'boolean' ? (key.source ?? String(key.value)) : undefined
}

function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents
  let offset = document.contents?.range?.[0] ?? 0
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
    const pair = node.items.find((item) => keyText(item) === String(key))
    return pair && { at: pair.key, value: pair.value }
  }
  const item: unknown = isCollection(node) ? node.items[Number(key)] : undefined
  return item === undefined ? undefined : { at: item, value: item }
}

function placeOf(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

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
import { type Path, type PathKey } from './path.ts'
import { shownKeyAt } from './shown-key.ts'
import { explainSyntax, joinedKey } from './syntax-error.ts'
import { describe } from './words.ts'

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
  const report: Report = (code, offset, about) => {
    const place = { path, ...placeOf(lines, offset ?? 0) }
    if (diagnostics.length < MAX_PROBLEMS) diagnostics.push({ code, severity: 'error', ...place, ...about })
    else if (diagnostics.length === MAX_PROBLEMS)
      diagnostics.push({ code: 'config-more', severity: 'error', message: 'There are more from here on.', ...place })
  }
  checkSyntax(document, text, report)
  const contents = diagnostics.length === 0 ? toJson(document.contents, { report, values: 0 }, []) : null
  if (contents !== null && !isJsonObject(contents)) {
    const start = document.contents?.range?.[0]
    const { offset = start, ...about } = joinedKey(text, start ?? 0) ?? {
      message: `The file must be a map of settings; found ${describe(contents, undefined)}.`,
      fix: 'Write each setting as "key: value", such as: model: openai/gpt-5.4-mini',
    }
    report('config-wrong-type', offset, about)
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
    const fix = 'Remove the line that begins with "%".'
    report('config-yaml-refused', directive[0].length - 1, { message: 'YAML directives are not used here.', fix })
  }
  // What follows the first error mostly follows from it.
  const error = document.errors[0]
  if (!error) return
  const { code, pos } = error
  if (code === 'MULTIPLE_DOCS') {
    const fix = 'Remove the "---" line and what follows it.'
    report('config-yaml-refused', pos[0], { message: 'A configuration is one document; a second begins here.', fix })
    return
  }
  const { offset, ...about } = explainSyntax(document, text, error)
  report('config-syntax', offset, about)
}

type Report = (code: string, offset: number | undefined, about: { message: string; fix?: string }) => void

interface Reader {
  readonly report: Report
  values: number
}

function toJson(node: unknown, reader: Reader, at: Path): JsonValue {
  if (node === null || node === undefined) return null
  reader.values += 1
  const refusal = refusalOf(node, at.length)
  if (reader.values > MAX_VALUES || refusal) {
    const tooMany = { message: `The file holds more than ${MAX_VALUES} values.` }
    if (reader.values <= MAX_VALUES + 1)
      reader.report('config-yaml-refused', (node as Node).range?.[0], refusal ?? tooMany)
    return null
  }
  if (isMap(node)) return mapToJson(node.items, reader, at)
  if (isCollection(node)) return node.items.map((item, index) => toJson(item, reader, [...at, index]))
  return (node as Scalar).value as JsonValue
}

/** Why a node cannot be used, whatever it holds. */
function refusalOf(node: unknown, depth: number): { message: string; fix?: string } | undefined {
  if (depth > MAX_DEPTH) return { message: `Values are nested more than ${MAX_DEPTH} deep.` }
  if (isAlias(node)) return { message: 'Aliases are not used here.', fix: 'Write the value again in place of "*".' }
  if (!isScalar(node) && !isCollection(node)) return { message: 'This cannot be read as a value.' }
  if (node.anchor !== undefined) return { message: 'Anchors are not used here.', fix: 'Remove the "&" name.' }
  if (node.tag !== undefined)
    return { message: 'Tags are not used here.', fix: 'Remove the "!" name, and quote the value when it is a text.' }
  if (!isScalar(node)) return undefined
  const { value } = node
  if (typeof value === 'string')
    return value.isWellFormed() ? undefined : { message: 'This text holds half a character.' }
  if (typeof value !== 'number' || Number.isFinite(value)) return undefined
  return {
    message: 'This number is not one that can be used.',
    fix: 'Write an ordinary number, or quote it when it is a text.',
  }
}

function mapToJson(items: readonly Pair[], reader: Reader, at: Path): JsonObject {
  const map = Object.create(null) as Record<string, JsonValue>
  for (const pair of items) {
    const offset = (pair.key as Node | null)?.range?.[0]
    const key = keyText(pair)
    if (key === '<<') {
      reader.report('config-yaml-refused', offset, {
        message: 'Merge keys are not used here.',
        fix: 'Write the values out in place of "<<".',
      })
    } else if (key === undefined || key === '__proto__') {
      reader.report('config-bad-key', offset, {
        message: 'A key must be a plain text.',
        fix: 'Write the key as a word, or quote it.',
      })
    } else if (Object.hasOwn(map, key)) {
      reader.report('config-duplicate-key', offset, {
        message: `The key "${shownKeyAt([...at, key], isCollection(pair.value))}" is there twice.`,
        fix: 'Keep one of them.',
      })
    } else {
      map[key] = toJson(pair.value, reader, [...at, key])
    }
  }
  return map
}

/** Keys are texts; numbers and truth values count as they are written. */
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

/** A member of a map or list, and the node that stands for its place: the key, or the item. */
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

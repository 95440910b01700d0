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

import { shown } from './name-of.ts'
import { type Placed, readQuickYaml } from './quick-yaml.ts'

export type PathKey = string | number

/** A file as plain data, with the place of each part. Objects have no prototype. */
export interface YamlFile {
  readonly path: string
  readonly value: JsonObject
  readonly diagnostics: readonly Diagnostic[]
  /** Line and column, from 1, of the key (or list item) at `keys`; of the nearest parent when it is not there. */
  locate(keys: readonly PathKey[]): { readonly line: number; readonly column: number } | undefined
  /** The keys of a part in the file itself: of a list, some items may have been left out of the document. */
  inFile(keys: readonly PathKey[]): readonly PathKey[]
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
export function parseYaml(text: string, path: string): YamlFile {
  const quick = readQuickYaml(text)
  return quick === undefined || !isJsonObject(quick.value) ? parseWhole(text, path) : fromQuick(quick, { text, path })
}

/** The library's parser costs as much as half an empty process when it is cold; most settings do not need it. */
function fromQuick(root: Placed, { text, path }: { text: string; path: string }): YamlFile {
  const offsetAt = (keys: readonly PathKey[]): number => {
    let offset = root.offset
    let place: Placed | undefined = root
    for (const key of keys) {
      const member: { at: number; of: Placed } | undefined = place.members?.get(
        Array.isArray(place.value) ? Number(key) : String(key),
      )
      if (member === undefined) break
      offset = member.at
      place = member.of
    }
    return offset
  }
  const locate: YamlFile['locate'] = (keys) => placeIn(text, offsetAt(keys))
  return { path, value: root.value as JsonObject, diagnostics: [], locate, inFile: (keys) => keys }
}

function placeIn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

/** What `parseYaml` does without the quick way. */
export function parseWhole(text: string, path: string): YamlFile {
  const lines = new LineCounter()
  const diagnostics: Diagnostic[] = []
  const report: Report = (code, offset, about) => {
    const place = { path, ...placeOf(lines, offset ?? 0) }
    if (diagnostics.length < MAX_PROBLEMS) diagnostics.push({ code, severity: 'error', ...place, ...about })
    else if (diagnostics.length === MAX_PROBLEMS)
      diagnostics.push({ code: 'config-more', severity: 'error', message: 'There are more from here on.', ...place })
  }
  const document = parseDocument(text, { ...YAML_OPTIONS, lineCounter: lines })
  checkSyntax(document, text, report)
  const contents = diagnostics.length === 0 ? toJson(document.contents, { report, values: 0 }, 0) : null
  if (contents !== null && !isJsonObject(contents)) {
    const message = `The file must be a map of settings; it holds ${describe(contents)}.`
    report('config-wrong-type', document.contents?.range?.[0], { message })
  }
  const isUsable = diagnostics.length === 0 && isJsonObject(contents)
  const value = isUsable ? contents : (Object.create(null) as JsonObject)
  const locate: YamlFile['locate'] = (keys) => placeOf(lines, offsetOf(document, keys))
  return { path, value, diagnostics, locate, inFile: (keys) => keys }
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
  // The library quotes the text it stumbled over, which may be a secret.
  const words = code === 'BAD_DQ_ESCAPE' ? 'Invalid escape sequence' : (error.message.split(': ')[0] ?? '')
  const isReference = text.slice(pos[0] - 1, pos[0] + 1) === '${'
  const fix = isReference ? 'Put quotes around the value: "${NAME}".' : undefined
  report('config-syntax', pos[0], { message: `This is not YAML: ${words}.`, ...(fix !== undefined && { fix }) })
}

/** What a value is, in words and without its text. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text'
  return typeof value === 'number' ? `the number ${value}` : `${String(value)}`
}

type Report = (code: string, offset: number | undefined, about: { message: string; fix?: string }) => void

interface Reader {
  readonly report: Report
  values: number
}

function toJson(node: unknown, reader: Reader, depth: number): JsonValue {
  if (node === null || node === undefined) return null
  reader.values += 1
  const refusal = refusalOf(node, depth)
  if (reader.values > MAX_VALUES || refusal) {
    const tooMany = { message: `The file holds more than ${MAX_VALUES} values.` }
    if (reader.values <= MAX_VALUES + 1)
      reader.report('config-yaml-refused', (node as Node).range?.[0], refusal ?? tooMany)
    return null
  }
  if (isMap(node)) return mapToJson(node.items, reader, depth)
  if (isCollection(node)) return node.items.map((item) => toJson(item, reader, depth + 1))
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
  return isScalar(node) ? scalarRefusal(node.value) : undefined
}

function scalarRefusal(value: unknown): { message: string; fix?: string } | undefined {
  if (typeof value === 'string')
    return value.isWellFormed() ? undefined : { message: 'This text holds half a character.' }
  if (typeof value === 'boolean' || value === null || Number.isFinite(value)) return undefined
  return {
    message: 'This number is not one that can be used.',
    fix: 'Write an ordinary number, or quote it when it is a text.',
  }
}

function mapToJson(items: readonly Pair[], reader: Reader, depth: number): JsonObject {
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
        message: `The key "${shown(key)}" is there twice.`,
        fix: 'Keep one of them.',
      })
    } else {
      map[key] = toJson(pair.value, reader, depth + 1)
    }
  }
  return map
}

/** Keys are texts; numbers and truth values count as they are written. */
function keyText(pair: Pair): string | undefined {
  const { key } = pair
  if (!isScalar(key) || key.anchor !== undefined || key.tag !== undefined) return undefined
  if (typeof key.value === 'string') return key.value
  return typeof key.value === 'number' || typeof key.value === 'boolean' ? (key.source ?? String(key.value)) : undefined
}

function offsetOf(document: Document.Parsed, keys: readonly PathKey[]): number {
  let node: unknown = document.contents
  let offset = document.contents?.range?.[0] ?? 0
  for (const key of keys) {
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

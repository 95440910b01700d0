import { type Document, isCollection, isMap, isScalar } from 'yaml'
import type { Node, Pair, Scalar } from 'yaml'
import { type Diagnostic, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { keyText, readYamlFully, readYamlTree, SYNTAX, type YamlFault, type YamlLimits } from '../../yaml/index.ts'
import { type Message, moreFindings } from '../messages.ts'
import { type Path, type PathKey } from './path.ts'
import { shownKeyAt } from './shown-key.ts'
import { describe } from './invalid-setting.ts'

/** A file as plain data. Objects have no prototype. */
export interface Parsed {
  readonly value: JsonObject
  readonly diagnostics: readonly Diagnostic[]
}

const LIMITS: YamlLimits = { tokens: 400_000, depth: 32, keys: 20_000, escapes: 20_000 }
const MAX_PROBLEMS = 50

/** Why the file is left out, and what to do; `code` is by default that of YAML that a configuration never needs. */
type Words = readonly [why: string, fix: string, code?: string]

type Report = (offset: number | undefined, words: Words) => void

/** The whole file is left out: half of it would not mean what it says. */
function asMessage([why, fix, code = 'config-yaml-refused']: Words): Message {
  return { code, message: `Nexus did not read this file. ${why}`, fix }
}

/**
 * Reads YAML 1.2. Never throws. Syntax errors, and what a configuration never needs (anchors, aliases, tags, merge
 * keys, directives, several documents), are errors; then `value` is empty.
 */
export function parseYaml(text: string, path: string): Parsed {
  const { root, faults } = readYamlFully(text, LIMITS)
  const diagnostics: Diagnostic[] = []
  const report: Report = (offset, words) => {
    const place = { path, ...placeOf(text, offset ?? 0) }
    if (diagnostics.length < MAX_PROBLEMS) diagnostics.push({ severity: 'error', ...place, ...asMessage(words) })
    else if (diagnostics.length === MAX_PROBLEMS) diagnostics.push({ severity: 'error', ...place, ...moreFindings() })
  }
  for (const fault of faults) report(fault.offset, wordsOf(fault, text))
  const contents = diagnostics.length === 0 ? toJson(root, report) : null
  if (contents !== null && !isJsonObject(contents)) {
    const start = root?.range[0] ?? 0
    report(start, notAMap(contents))
  }
  const isUsable = diagnostics.length === 0 && isJsonObject(contents)
  return { value: isUsable ? contents : (Object.create(null) as JsonObject), diagnostics }
}

const KEY_NOT_STRING: Words = [
  'This key is not a plain string.',
  'Write the key as one word, or put quotes around it.',
  'config-bad-key',
]
const TAG: Words = [
  'YAML tags are unsupported here.',
  'Remove the "!" name. Put quotes around the value if it is a string.',
]
const REFUSED = {
  directive: ['YAML directives are unsupported here.', 'Remove the line that begins with "%".'],
  'multiple-documents': [
    'A second YAML document begins here, and a configuration is one.',
    'Remove the "---" line and all that follows it.',
  ],
  alias: ['YAML aliases are unsupported here.', 'Replace the "*" name with the value itself.'],
  anchor: ['YAML anchors are unsupported here.', 'Remove the "&" name.'],
  tag: TAG,
  'core-tag': TAG,
  'merge-key': ['YAML merge keys are unsupported here.', 'Replace the "<<" line with the values themselves.'],
  'key-not-text': KEY_NOT_STRING,
} as const satisfies Record<string, Words>

function wordsOf(fault: YamlFault, text: string): Words {
  switch (fault.kind) {
    case 'syntax':
      return syntaxWords(fault, text)
    case 'too-complex':
      return fault.of === 'depth'
        ? [`Values are nested more than ${fault.limit} deep here.`, 'Remove levels: no setting is nested that deep.']
        : [`It contains more than ${fault.limit} values.`, 'Remove what is not a setting.']
    case 'duplicate-key': {
      const key = shownKeyAt(fault.path, isCollection(fault.values[1]))
      const [first, second] = [fault.first, fault.offset].map((offset) => placeOf(text, offset).line)
      return [
        `The key "${key}" is here twice, on lines ${first} and ${second}.`,
        'Keep one of the two, with the settings of both.',
        'config-duplicate-key',
      ]
    }
    default:
      return REFUSED[fault.kind]
  }
}

function syntaxWords({ of, offset }: Extract<YamlFault, { readonly kind: 'syntax' }>, text: string): Words {
  const [why, fix] = SYNTAX[of]
  const isReference = text.slice(offset - 1, offset + 1) === '${'
  return [why, isReference ? 'Put quotes around the value: "${NAME}".' : fix, 'config-syntax']
}

function notAMap(contents: JsonValue): Words {
  const fix = 'Write each setting as "key: value", such as: model: openai/gpt-5.4-mini'
  return [`It must be a map of settings; it is ${describe(contents, undefined)}.`, fix, 'config-wrong-type']
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
      if (name === undefined || name === '__proto__') report((key as Node | null)?.range?.[0], KEY_NOT_STRING)
      else map[name] = toJson(value, report)
    }
    return map
  }
  if (isCollection(node)) return node.items.map((item) => toJson(item, report))
  return isScalar(node) ? scalarToJson(node, report) : null
}

function scalarToJson({ value, range }: Scalar, report: Report): JsonValue {
  if (typeof value === 'string' && !value.isWellFormed())
    report(range?.[0], [
      'This string contains half of a surrogate pair.',
      'Write the character itself instead of its escape.',
    ])
  if (typeof value === 'number' && !Number.isFinite(value))
    report(range?.[0], [
      'This number is not finite.',
      'Write an ordinary number. Put quotes around it if it is a string.',
    ])
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

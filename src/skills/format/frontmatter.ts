import { isCollection, isMap, isScalar, type Pair, type ParsedNode, Scalar, type YAMLMap } from 'yaml'
import { type Edit, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import {
  fillInKey,
  type Frontmatter,
  type FrontText,
  type KeyPath,
  type KeyPlace,
  type Position,
  renameKey,
  type Written,
} from './front.ts'
import type { Report } from './report.ts'
import { placeOf } from './text.ts'
import { isFatal, isSyntax, readYaml, type YamlRead } from './yaml/read.ts'
import type { Repaired } from './yaml/entries.ts'
import { repairYaml } from './yaml/repair.ts'
import { keyText, readYamlFast } from '../../yaml/index.ts'
import { AS_WRITTEN, mapToJson, offsetOf, writtenText } from './yaml/values.ts'
import { asKeyLine } from './yaml/faults.ts'

/** A value between brackets differs for YAML and for people: `argument-hint: [issue]` is a text. */
const BRACKETS_AS_TEXT = 'argument-hint'
/** A comment, or a number or word of YAML, in a text for people is a finding. */
const TEXTS: readonly string[] = ['description', 'license', 'compatibility']
const COMMENT = /^["']?(?:description|license|compatibility)["']? *: +[^"' \n][^\n]* #/m
const NUMBER_OR_WORD = /^(?:[-+.\d][-+.\w]*|true|false|null)$/i

/** Reads a frontmatter: fast where that is enough, else with the full parser. `firstLine` is the line of the file on which the text begins. */
export function readFrontmatter(yaml: string, firstLine: number, report: Report): Frontmatter | undefined {
  const values = readFast(yaml)
  return values === undefined
    ? readFully(yaml, firstLine, report)
    : new FastFrontmatter(values, { text: yaml, firstLine })
}

/** The values, when nothing can be reported of the text as a whole. */
export function readFast(yaml: string): JsonObject | undefined {
  const values = readYamlFast(yaml, AS_WRITTEN)
  if (values === undefined || typeof (values[BRACKETS_AS_TEXT] ?? '') === 'object') return undefined
  for (const key of TEXTS) {
    const value = values[key]
    if (value !== undefined && (typeof value !== 'string' || NUMBER_OR_WORD.test(value))) return undefined
  }
  return yaml.includes(' #') && COMMENT.test(yaml) ? undefined : values
}

class FastFrontmatter implements Frontmatter {
  readonly values: JsonObject
  private readonly front: FrontText
  private full: Frontmatter | undefined

  constructor(values: JsonObject, front: FrontText) {
    this.values = values
    this.front = front
  }

  place(key: string, below: KeyPath = []): KeyPlace {
    const { text, firstLine } = this.front
    const line = this.lineBelow(key, below)
    if (line !== undefined)
      return { line: firstLine + line.at, column: line.indent + 1, subject: [key, ...below].join('.') }
    if (below.length > 0 && key in this.values) {
      const source = { ...this.front, at: placesFrom(text, firstLine) }
      this.full ??= lookUp(readYaml(text).root as unknown as YAMLMap, source)
      return this.full.place(key, below)
    }
    const subject = [key, ...below].join('.')
    if (!(key in this.values)) return { line: firstLine - 1, column: 1, subject }
    // Everything but the keys at the top is indented, or begins with a dash.
    const isKey = (line: string): boolean =>
      line.startsWith(`${key}:`) || (/^["']/.test(line) && line.startsWith(`${key}${line[0]}:`, 1))
    return { line: firstLine + text.split('\n').findIndex(isKey), column: 1, subject }
  }

  /** The line of a key in blocks of keys; undefined for any other place. */
  private lineBelow(key: string, below: KeyPath): { readonly at: number; readonly indent: number } | undefined {
    const [step] = below
    const parent = this.values[key]
    if (below.length !== 1 || typeof step !== 'string' || !isJsonObject(parent) || !(step in parent)) return undefined
    return lineOfKey(this.front.text.split('\n'), key, step)
  }

  rename(key: string, to: string): Edit | undefined {
    return renameKey(this.front, this.place(key), [key, to])
  }

  fillIn(key: string, value: string): Edit | undefined {
    return fillInKey(this.front, key, value)
  }

  written(key: string): Written | 'collection' | undefined {
    const value = this.values[key]
    if (value === undefined) return undefined
    if (typeof value === 'object' && value !== null) return 'collection'
    const text = value === null ? undefined : String(value)
    return { text, isNull: value === null, isText: typeof value === 'string' }
  }
}

function lineOfKey(lines: readonly string[], key: string, step: string): { at: number; indent: number } | undefined {
  const top = lines.indexOf(`${key}:`)
  // Without the key this is a line at the margin.
  const first = lines[top + 1] ?? ''
  const indent = first.search(/[^ ]/)
  if (indent <= 0 || !/^ +[\w-]/.test(first)) return undefined
  const start = `${' '.repeat(indent)}${step}:`
  const at = lines.findIndex((line, index) => index > top && line.startsWith(start))
  const end = lines.findIndex((line, index) => index > top && /^[^ ]/.test(line))
  return at < 0 || (end >= 0 && at > end) ? undefined : { at, indent }
}

/** Parses and, where it must and can, repairs a frontmatter. */
export function readFully(yaml: string, firstLine: number, report: Report): Frontmatter | undefined {
  const { text, read, repairs } = readLeniently(yaml)
  for (const { found, key, line, column, edit } of repairs) {
    const place = { line: line + firstLine - 1, column, subject: key }
    report.addFound(found, { ...place, edit: edit && below(edit, firstLine - 1) })
  }
  const at = placesFrom(text, firstLine)
  for (const { first, ...problem } of read.problems) {
    const facts = first === undefined ? problem.facts : [...problem.facts, at(first).line]
    report.addFound({ ...problem, facts }, at(problem.offset))
  }
  return read.problems.some(isFatal) ? undefined : asMapping(read, { text, at, firstLine }, report)
}

/** The same edit, so many lines further down. */
function below({ start, end, text }: Edit, lines: number): Edit {
  return { start: { ...start, line: start.line + lines }, end: { ...end, line: end.line + lines }, text }
}

function placesFrom(text: string, firstLine: number): (offset: number) => Position {
  return (offset) => {
    const { line, column } = placeOf(text, offset)
    return { line: line + firstLine - 1, column }
  }
}

export interface Lenient extends Repaired {
  readonly read: YamlRead
}

/** The strict reading; when it fails, the reading of the text with quotes and indentation where values need them. */
export function readLeniently(yaml: string): Lenient {
  const read = readYaml(yaml)
  const isHopeless = read.problems.some(
    (problem) => problem.code === 'yaml-too-complex' || isSyntax(problem, 'conflict'),
  )
  const repaired = isHopeless || !read.problems.some(isFatal) ? { text: yaml, repairs: [] } : repairYaml(yaml)
  return { ...repaired, read: repaired.repairs.length > 0 ? readYaml(repaired.text) : read }
}

interface Source {
  readonly text: string
  readonly at: (offset: number) => Position
  readonly firstLine: number
}

function asMapping(read: YamlRead, source: Source, report: Report): Frontmatter | undefined {
  const root = read.root ?? undefined
  const empty = root === undefined || (isScalar(root) && root.value === null)
  if (!empty && !isMap(root)) {
    const right = asKeyLine(source.text.trimStart().split('\n', 1)[0] ?? '')
    report.add(
      'frontmatter-not-mapping',
      { line: source.firstLine, column: 1 },
      isScalar(root) ? 'value' : 'list',
      right,
    )
    return undefined
  }
  const map = isMap(root) ? (root as unknown as YAMLMap) : undefined
  if (map?.flow) report.add('frontmatter-json', { line: source.firstLine, column: 1 })
  return lookUp(map, source)
}

function lookUp(map: YAMLMap | undefined, { text, at, firstLine }: Source): Frontmatter {
  const pairs = new Map<string, Pair>()
  for (const pair of map?.items ?? []) pairs.set(keyText(pair.key) ?? '', pair)
  const node = (key: string): ParsedNode | null | undefined => pairs.get(key)?.value as ParsedNode | null | undefined
  const values = (map ? mapToJson(map) : Object.create(null)) as Record<string, JsonValue>
  const hint = node(BRACKETS_AS_TEXT)
  if (isCollection(hint) && hint.range)
    values[BRACKETS_AS_TEXT] = text.slice(hint.range[0], hint.range[1]).replace(/\s*\n\s*/g, ' ')
  return {
    values,
    place(key, below = []) {
      const subject = [key, ...below].join('.')
      const range = (pairs.get(key)?.key as ParsedNode | null | undefined)?.range
      if (!range) return { line: firstLine - 1, column: 1, subject }
      return { ...at(offsetOf(node(key), below) ?? range[0]), subject }
    },
    rename(key, to) {
      return renameKey({ text, firstLine }, this.place(key), [key, to])
    },
    fillIn: (key, value) => fillInKey({ text, firstLine }, key, value),
    written: (key) => writtenAs(node(key), text),
  }
}

function writtenAs(node: ParsedNode | null | undefined, text: string): Written | 'collection' | undefined {
  if (node === undefined || node === null) return undefined
  if (!isScalar(node)) return 'collection'
  const { value, type, range } = node
  const written = {
    text: writtenText(node),
    isNull: value === null,
    isText: typeof value === 'string',
    isBlock: type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED,
  }
  // The library joins it with comments on lines of their own below, which are no part of the value.
  const [, comment] = type === Scalar.PLAIN ? (/[ \t]+#(.+)/y.exec(text.slice(range[1])) ?? []) : []
  return comment === undefined ? written : { ...written, comment }
}

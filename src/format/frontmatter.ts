import { isMap, isScalar, type Pair, type ParsedNode, Scalar, type YAMLMap } from 'yaml'
import type { Edit, JsonObject, JsonValue } from '../kernel/index.ts'
import type { Frontmatter, KeyPath, KeyPlace, Place, Written } from './front.ts'
import { fillInKey, type FrontText, renameKey } from './front-edits.ts'
import type { FormatCode, Report } from './report.ts'
import { placeOf } from './text.ts'
import { toJson } from './write/emit.ts'
import type { YamlProblem } from './yaml/inspect.ts'
import { isFatal, readYaml, type YamlRead } from './yaml/read.ts'
import { type Repair, repairLines, repairYaml } from './yaml/repair.ts'
import { type FastForm, readYamlFast } from './yaml/fast.ts'
import { fastPlaces, offsetOf } from './yaml/places.ts'
import { AS_WRITTEN, keyText, mapToJson, writtenText } from './yaml/values.ts'
import { slipOfKey } from './yaml/words.ts'

/** What a value between brackets is to YAML and what it is to people differ: `argument-hint: [issue]` is a text. */
const BRACKETS_AS_TEXT: ReadonlySet<string> = new Set(['argument-hint'])

export const SKILL_FORM: FastForm = {
  asWritten: AS_WRITTEN,
  numbers: 'exact',
  text: new Set(['description', 'license', 'compatibility']),
  bracketsAsText: BRACKETS_AS_TEXT,
}

/** Reads a frontmatter: fast where that is enough, else with the `yaml` library. `firstLine` is the line of the file on which the text begins. */
export function readFrontmatter(yaml: string, firstLine: number, report: Report): Frontmatter | undefined {
  const values = readYamlFast(yaml, SKILL_FORM)
  return values === undefined ? readFully(yaml, firstLine, report) : new FastFrontmatter(values, yaml, firstLine)
}

/** Nothing is reported of such a text as a whole, so the library is asked only for places that the fast reader does not keep. */
class FastFrontmatter implements Frontmatter {
  readonly values: JsonObject
  private readonly front: FrontText
  private find: ReturnType<typeof fastPlaces> | undefined

  constructor(values: JsonObject, text: string, firstLine: number) {
    this.values = values
    this.front = { text, firstLine }
  }

  place(key: string, below: KeyPath = []): KeyPlace {
    const { text, firstLine } = this.front
    const subject = [key, ...below].join('.')
    if (!(key in this.values)) return { line: firstLine - 1, column: 1, subject }
    this.find ??= fastPlaces(text, SKILL_FORM)
    const place = this.find([key, ...below])
    if (place === undefined) return { ...this.fullPlace(key, below), subject }
    return { line: firstLine + place.line, column: place.column, subject }
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

  private fullPlace(key: string, below: KeyPath): Place {
    const { text, firstLine } = this.front
    const { root } = readYaml(text)
    const source = { text, firstLine, at: placesFrom(text, firstLine) }
    return lookUp(isMap(root) ? (root as unknown as YAMLMap) : undefined, source).place(key, below)
  }
}

/** Parses and, where it must and can, repairs a frontmatter. */
export function readFully(yaml: string, firstLine: number, report: Report): Frontmatter | undefined {
  const { text, read, repairs } = readLeniently(yaml)
  for (const repair of repairs) {
    const { key, line, column, fix } = repair
    const place = { line: line + firstLine - 1, column, subject: key }
    report.add('yaml-repaired', messageOf(repair), { ...place, fix, edit: editOf(yaml, firstLine, repair) })
  }
  const at = placesFrom(text, firstLine)
  for (const { code, message, offset, fix } of read.problems) {
    report.add(code, message, { ...at(offset), fix: fix ?? GENERAL_FIX[code] })
  }
  return read.problems.some(isFatal) ? undefined : asMapping(read, { text, at, firstLine }, report)
}

function messageOf({ key, because, commentSign }: Repair): string {
  return commentSign === undefined
    ? `the value of ${key} needs quotes (${because}); it was read as the text that stands there`
    : `the value of ${key} has a comment that begins with ${commentSign}, which is not a comment in YAML; it was read without the comment`
}

/** The lines of a repaired value, replaced by those with quotes, or a comment in the form of YAML. */
function editOf(yaml: string, firstLine: number, { quoted, edit }: Repair): Edit | undefined {
  if (quoted === undefined) return edit && below(edit, firstLine - 1)
  const { from, lines } = quoted
  const to = from + lines.length - 1
  const end = { line: firstLine + to, column: (yaml.split('\n')[to] ?? '').length + 1 }
  return { start: { line: firstLine + from, column: 1 }, end, text: lines.map(inDoubleQuotes).join('\n') }
}

/** The same edit, so many lines further down. */
function below({ start, end, text }: Edit, lines: number): Edit {
  return { start: { ...start, line: start.line + lines }, end: { ...end, line: end.line + lines }, text }
}

const SINGLE_QUOTED = /^((?:[ ]|- )*(?:[\w.-]+|"[^"]*"|'[^']*')?[ \t]*:?[ \t]+)'((?:[^']|'')*)'$/

/** As the fix says. A value of several lines keeps single quotes. */
function inDoubleQuotes(line: string): string {
  const [, head, value] = SINGLE_QUOTED.exec(line) ?? []
  return head === undefined || value === undefined ? line : head + toJson(value.replaceAll("''", "'"))
}

function placesFrom(text: string, firstLine: number): (offset: number) => Place {
  return (offset) => {
    const { line, column } = placeOf(text, offset)
    return { line: line + firstLine - 1, column }
  }
}

/** Rounds of repairing single lines: one repair can uncover the next fault. */
const REPAIR_ROUNDS = 3

export interface Lenient {
  readonly text: string
  readonly read: YamlRead
  readonly repairs: readonly Repair[]
}

/** The strict reading; when it fails, the reading of the text with quotes around the values that need them. */
export function readLeniently(yaml: string): Lenient {
  const strict = readYaml(yaml)
  const hopeless = strict.problems.some(({ code }) => code === 'yaml-too-complex')
  if (hopeless || !strict.problems.some(isFatal)) return { text: yaml, read: strict, repairs: [] }
  const top = repairYaml(yaml)
  const read = top.repairs.length > 0 ? readYaml(top.text) : strict
  const byLine = readLineByLine({ ...top, read })
  // Quotes on single lines are guesses: they count only when they mend everything.
  return byLine.read.problems.some(isFatal) ? { ...top, read } : byLine
}

function readLineByLine(start: Lenient): Lenient {
  let { text, read, repairs } = start
  for (let round = 0; round < REPAIR_ROUNDS && read.problems.some(isFatal); round++) {
    const next = repairLines(text, read.problems)
    if (next.repairs.length === 0) break
    text = next.text
    repairs = [...repairs, ...next.repairs]
    read = readYaml(text)
  }
  return { text, read, repairs }
}

const GENERAL_FIX: Partial<Record<FormatCode, YamlProblem['fix']>> = {
  'yaml-invalid': 'compare the line with: key: "value"; when in doubt put double quotes around the value',
  'yaml-multiple-documents': 'end the frontmatter with a line of exactly ---',
}

const ONE_KEY_A_LINE = 'write one "key: value" a line, with a space after the colon'

interface Source {
  readonly text: string
  readonly at: (offset: number) => Place
  readonly firstLine: number
}

function asMapping(read: YamlRead, source: Source, report: Report): Frontmatter | undefined {
  const root = read.root ?? undefined
  const empty = root === undefined || (isScalar(root) && root.value === null)
  if (!empty && !isMap(root)) {
    reportNoMapping(isScalar(root) ? 'one value' : 'a list', source, report)
    return undefined
  }
  const map = isMap(root) ? (root as unknown as YAMLMap) : undefined
  if (map?.flow) {
    const message = 'the frontmatter is one JSON object; other clients want one "key: value" a line'
    report.add('frontmatter-json', message, { line: source.firstLine, column: 1 })
  }
  return lookUp(map, source)
}

function reportNoMapping(what: string, { text, firstLine }: Source, report: Report): void {
  const slip = slipOfKey(text.trimStart().split('\n', 1)[0] ?? '')
  const why = slip === undefined ? '' : `: ${slip.why}`
  report.add('frontmatter-not-mapping', `the frontmatter is ${what}, not keys with values${why}`, {
    line: firstLine,
    column: 1,
    fix: slip?.fix ?? ONE_KEY_A_LINE,
  })
}

function lookUp(map: YAMLMap | undefined, { text, at, firstLine }: Source): Frontmatter {
  const pairs = new Map<string, Pair>()
  for (const pair of map?.items ?? []) pairs.set(keyText(pair.key) ?? '', pair)
  const node = (key: string): ParsedNode | null | undefined => pairs.get(key)?.value as ParsedNode | null | undefined
  const values = (map ? mapToJson(map) : Object.create(null)) as Record<string, JsonValue>
  for (const key of BRACKETS_AS_TEXT) {
    const range = node(key)?.range
    if (range && typeof values[key] === 'object' && values[key] !== null)
      values[key] = text.slice(range[0], range[1]).replace(/\s*\n\s*/g, ' ')
  }
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

import { isMap, isScalar, type Pair, type ParsedNode, Scalar, type YAMLMap } from 'yaml'
import type { JsonObject } from '../kernel/index.ts'
import type { Frontmatter, Written } from './front.ts'
import type { FormatCode, Report } from './report.ts'
import { placeOf } from './text.ts'
import type { YamlProblem } from './yaml/inspect.ts'
import { isFatal, readYaml, type YamlRead } from './yaml/read.ts'
import { withoutJsonComments } from './yaml/json-comments.ts'
import { type Repair, repairLines, repairYaml } from './yaml/repair.ts'
import { offsetOf } from './yaml/key-offset.ts'
import { keyText, mapToJson, writtenText } from './yaml/values.ts'
import { slipOfKey } from './yaml/words.ts'

/** Parses and, where it must and can, repairs a frontmatter. `firstLine` is the line of the file on which the text begins. */
export function readFrontmatter(yaml: string, firstLine: number, report: Report): Frontmatter | undefined {
  const { text, read, repairs } = readLeniently(yaml)
  for (const { key, line, column, because, fix, isComment } of repairs) {
    report.add(
      'yaml-repaired',
      isComment ? because : `the value of ${key} needs quotes (${because}); it was read as the text that stands there`,
      {
        line: line + firstLine - 1,
        column,
        fix,
      },
    )
  }
  const at = (offset: number): { line: number; column: number } => {
    const place = placeOf(text, offset)
    return { line: place.line + firstLine - 1, column: place.column }
  }
  for (const { code, message, offset, fix } of read.problems) {
    report.add(code, message, { ...at(offset), fix: fix ?? GENERAL_FIX[code] })
  }
  return read.problems.some(isFatal) ? undefined : asMapping(read, { text, at, firstLine }, report)
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
  const bare = withoutJsonComments(yaml)
  const plain = bare.repairs.length > 0 ? readYaml(bare.text) : strict
  if (!plain.problems.some(isFatal)) return { ...bare, read: plain }
  const top = repairYaml(yaml)
  const read = top.repairs.length > 0 ? readYaml(top.text) : strict
  const below = readLineByLine({ ...top, read })
  // Quotes on single lines are guesses: they count only when they mend everything.
  return below.read.problems.some(isFatal) ? { ...top, read } : below
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
  readonly at: (offset: number) => { line: number; column: number }
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
  const values = map ? mapToJson(map) : (Object.create(null) as JsonObject)
  return {
    values,
    keys: () => Object.keys(values),
    value: (key) => values[key],
    place(key, below) {
      const range = (pairs.get(key)?.key as ParsedNode | null | undefined)?.range
      if (!range) return { line: firstLine - 1, column: 1 }
      return at((below && offsetOf(node(key), below)) ?? range[0])
    },
    written: (key) => writtenAs(node(key), text),
    source(key) {
      const range = node(key)?.range
      return range ? text.slice(range[0], range[1]).replace(/\s*\n\s*/g, ' ') : ''
    },
  }
}

function writtenAs(node: ParsedNode | null | undefined, text: string): Written | 'collection' | undefined {
  if (node === undefined || node === null) return undefined
  if (!isScalar(node)) return 'collection'
  const { value, type, range } = node
  const written = { text: writtenText(node), isNull: value === null, isText: typeof value === 'string' }
  // The library joins it with comments on lines of their own below, which nobody takes for a part of the value.
  const [, comment] = type === Scalar.PLAIN ? (/[ \t]+#(.+)/y.exec(text.slice(range[1])) ?? []) : []
  return comment === undefined ? written : { ...written, comment }
}

import { Lexer } from 'yaml'
import { jsonComments, parseJson5 } from '../json5.ts'
import { found, wordsOf } from '../messages/messages.ts'
import type { RepairFix } from '../messages/yaml.ts'
import { toJson } from '../write/emit.ts'
import { type Entry, lineEdit, type Repair, type Repaired, topLevelEntries } from './entries.ts'
import type { YamlProblem } from './inspect.ts'
import { withYamlComments } from './json-comments.ts'
import { isMeantAsText, namesIn } from './meant-as-text.ts'
import { FLAGS } from './prose.ts'
import { isFatal, readYaml } from './read.ts'

/** Values that may fail alone; everything else is a plain scalar without surprises and need not be parsed apart. */
const SUSPICIOUS = /^[[\]{},&*!|>%@`"'?#-]|:(?:\s|$)|\t/

/** Their values are mappings, lists of mappings, or flags: text in quotes would hide the fault. */
const STRUCTURED: ReadonlySet<string> = new Set(['requires', 'install', 'hooks', 'tools', ...FLAGS])
/** Their values are lists or text: quoted unless they look like a list. */
const LIST_OR_TEXT: ReadonlySet<string> = new Set([
  'allowed-tools',
  'allowed_tools',
  'disallowed-tools',
  'arguments',
  'tags',
  'triggers',
])

/**
 * Puts quotes around those top-level values that are not valid YAML by themselves, such as `description: Use when: asked`,
 * `argument-hint: [a] [b]` or `description: *Important*`. Lines stay where they are; `given` is the text that edits change.
 * Source: decisions, "strictness".
 */
export function repairYaml(text: string, given: string): Repaired {
  const lines = text.split('\n')
  const before = given.split('\n')
  const repairs: Repair[] = []
  const subjects = topLevelEntries(lines).map((entry) => {
    const alone = entry.lines.join('\n')
    // Other values are plain text, and contain no anchors or aliases.
    const mayFail = SUSPICIOUS.test(alone.slice(entry.head)) || /[&*]/.test(alone)
    return { ...entry, text: alone, problems: mayFail ? readYaml(alone).problems : [] }
  })
  const names = namesIn(subjects)
  for (const subject of subjects) {
    const { text: alone, problems, line, key } = subject
    const inline = (subject.lines[0] ?? '').slice(subject.head)
    const problem = problems.find(isFatal)
    if (!problem || !SUSPICIOUS.test(alone.slice(subject.head)) || !isMeantAsText(subject, names)) continue
    const value = key === 'metadata' ? repairJson(subject) : mayQuote(subject, inline) ? asText(subject) : undefined
    if (value === undefined) continue
    value.lines.forEach((each, index) => (lines[line + index] = each))
    const upTo = alone.slice(0, problem.offset)
    const place = { line: line + upTo.split('\n').length, column: upTo.length - upTo.lastIndexOf('\n') }
    if ('repair' in value) repairs.push({ key, ...place, ...value.repair })
    else {
      const edit = lineEdit(before, line, value.lines.map(inDoubleQuotes))
      repairs.push({ key, ...place, edit, found: textFound(key, problem, value.fix) })
    }
  }
  return { text: lines.join('\n'), repairs }
}

function textFound(key: string, problem: YamlProblem, fix: RepairFix): Repair['found'] {
  const [reason] = wordsOf(problem)
  return found('yaml-repaired', { key, reason, fix })
}

const NESTED_LINE = /^([ \t]*(?:- +)*(?:(?:[\w.-]+|"[^"\\]+"|'[^']+')[ \t]*:[ \t]+)?)(\S.*)$/

/**
 * The second step, for values below the top level: quotes the value on each line where the strict parse failed, when that line fails
 * by itself. Values that begin like a list or a mapping stay, and so do lines between brackets: a missing bracket or comma is better
 * reported than hidden with all that follows it.
 */
export function repairLines(text: string, given: string, problems: readonly YamlProblem[]): Repaired {
  const lines = text.split('\n')
  const before = given.split('\n')
  const repairs: Repair[] = []
  const failed = problems.filter(({ code }) => code === 'yaml-invalid')
  const numbers = new Set(failed.map(({ offset }) => text.slice(0, offset).split('\n').length - 1))
  const between = linesBetweenBrackets(text)
  for (const index of numbers) {
    if (between.has(index)) continue
    const repair = repairLine(lines[index] ?? '')
    if (repair === undefined) continue
    lines[index] = repair.line
    const edit = lineEdit(before, index, [inDoubleQuotes(repair.line)])
    repairs.push({ ...repair.rest, line: index + 1, edit })
  }
  return { text: lines.join('\n'), repairs }
}

/** What the lexer puts before a scalar, whose text may be a bracket too. */
const SCALAR_MARK = '\u001f'

/** Indexes of the lines that begin inside of a list or mapping in brackets. */
function linesBetweenBrackets(text: string): ReadonlySet<number> {
  const between = new Set<number>()
  let depth = 0
  let line = 0
  let before = ''
  for (const lexeme of new Lexer().lex(text)) {
    if (before !== SCALAR_MARK && (lexeme === '{' || lexeme === '[')) depth++
    if (before !== SCALAR_MARK && (lexeme === '}' || lexeme === ']')) depth--
    for (let at = lexeme.indexOf('\n'); at >= 0; at = lexeme.indexOf('\n', at + 1)) {
      line++
      if (depth > 0) between.add(line)
    }
    before = lexeme
  }
  return between
}

/** A line with its value in quotes; undefined when the line does not fail by itself, or quotes would hide the fault. */
function repairLine(line: string): { line: string; rest: Omit<Repair, 'line' | 'edit'> } | undefined {
  const [, head = '', value = ''] = NESTED_LINE.exec(line) ?? []
  if (!/^[ -][^\t]*$/.test(head) || !SUSPICIOUS.test(value) || /^[[{]/.test(value)) return undefined
  const problem = readYaml(`x: ${value}`).problems.find(isFatal)
  if (problem?.code !== 'yaml-invalid') return undefined
  if (STRUCTURED.has(head.replace(/^[\s"']+|["':\s]+$/g, ''))) return undefined
  const key = head.replace(/^[\s-]+|[:\s]+$/g, '') || 'this line'
  const { now, fix } = quoteLine(head.trim(), value.trimEnd())
  return { line: head + now, rest: { key, column: head.length + 1, found: textFound(key, problem, fix) } }
}

function quoteLine(head: string, value: string): { readonly now: string; readonly fix: RepairFix } {
  const escaped = withKnownEscapes(`x: ${value}`)?.slice('x: '.length)
  if (escaped !== undefined) return { now: escaped, fix: { line: `${head} ${escaped}`.trim() } }
  const fix = whole(head, value) ?? { span: 'line', hasQuote: value.includes("'") }
  return { now: `'${value.replaceAll("'", "''")}'`, fix }
}

function mayQuote(entry: Entry, inline: string): boolean {
  if (inline.trim() === '' || STRUCTURED.has(entry.key)) return false
  return !LIST_OR_TEXT.has(entry.key) || !/^[[{]/.test(inline)
}

/** The lines in place of those of an entry, and what to report. */
type RepairedValue =
  | { readonly lines: readonly string[]; readonly fix: RepairFix }
  | { readonly lines: readonly string[]; readonly repair: Pick<Repair, 'found' | 'edit'> & Partial<Repair> }

function asText(entry: Entry): RepairedValue {
  const escaped = withKnownEscapes(entry.lines.join('\n'))?.split('\n')
  if (escaped === undefined) return { lines: quote(entry), fix: fixOf(entry) }
  return { lines: escaped, fix: escaped.length === 1 ? { line: escaped.join('') } : { span: 'escapes' } }
}

/** A backslash with what YAML allows behind it in double quotes, or with anything else. */
const ESCAPE = /\\(?:[0abt\tnvfre "/\\N_LP\n]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|([^]))/g

/** A value in double quotes in which `\'` became `'`, and any other backslash that YAML does not know two; undefined when that does not help. */
function withKnownEscapes(entry: string): string | undefined {
  if (!/^[^:]*:[ \t]+"/.test(entry)) return undefined
  const text = entry.replace(ESCAPE, (all, other: string | undefined) =>
    other === undefined ? all : other === "'" ? "'" : `\\\\${other}`,
  )
  return text !== entry && !readYaml(text).problems.some(isFatal) ? text : undefined
}

/** An entry whose value is JSON5: with comments of YAML in place of those of JSON, else as a text; undefined for any other. */
function repairJson(entry: Entry): RepairedValue | undefined {
  const text = entry.lines.join('\n')
  const commented = withYamlComments(text, entry.head)
  if (commented !== undefined) {
    const { sign, edit } = commented
    const down = ({ line, column }: typeof edit.start): typeof edit.start => ({ line: line + entry.line, column })
    const placed = { ...edit, start: down(edit.start), end: down(edit.end) }
    const about = found('yaml-repaired', { key: entry.key, comment: sign, canStay: true })
    return { lines: commented.text.split('\n'), repair: { ...placed.start, edit: placed, found: about } }
  }
  if (parseJson5(valueText(entry)) !== undefined) return { lines: quote(entry), fix: fixOf(entry) }
  const value = parseJson5(text.slice(entry.head))
  if (value === undefined) return undefined
  const [first = '', ...others] = entry.lines
  const head = first.slice(0, entry.head).trimEnd()
  const lines = [`${head} '${JSON.stringify(value).replaceAll("'", "''")}'`, ...others.map(() => '')]
  const [comment] = jsonComments(text, entry.head)
  const about =
    comment === undefined
      ? found('yaml-repaired', { key: entry.key, reason: 'Its JSON is not YAML.', fix: fixOf(entry) })
      : found('yaml-repaired', {
          key: entry.key,
          comment: text.slice(comment.start, comment.start + 2),
          canStay: false,
        })
  return { lines, repair: { found: about } }
}

/** The lines of the entry with its value in single quotes; further lines are folded by YAML as in a plain value. */
function quote(entry: Entry): string[] {
  const [first = '', ...others] = entry.lines
  const head = first.slice(0, entry.head)
  const body = [withoutHeader(first.slice(entry.head)), ...others].map((line) => line.trim().replaceAll("'", "''"))
  body[0] = `'${body[0]}`
  body[body.length - 1] += "'"
  return body.map((line, index) =>
    index === 0 ? (/\s$/.test(head) ? head : `${head} `) + line : line === '' ? '' : `  ${line}`,
  )
}

const SINGLE_QUOTED = /^((?:[ ]|- )*(?:[\w.-]+|"[^"]*"|'[^']*')?[ \t]*:?[ \t]+)'((?:[^']|'')*)'$/

/** As the fix says. A value of several lines keeps single quotes. */
function inDoubleQuotes(line: string): string {
  const [, head, value] = SINGLE_QUOTED.exec(line) ?? []
  return head === undefined || value === undefined ? line : head + toJson(value.replaceAll("''", "'"))
}

function valueText(entry: Entry): string {
  const [first = '', ...others] = entry.lines
  return [withoutHeader(first.slice(entry.head)), ...others]
    .map((line) => line.trim())
    .join(' ')
    .trim()
}

/** `|` and `>` alone on their line announce a text and are not part of it. */
function withoutHeader(inline: string): string {
  return /^[|>][-+0-9]{0,2}[ \t]*$/.test(inline) ? '' : inline
}

/** Longer lines would have to be cut, and a line that is typed as it is shown would lose its end. */
const MAX_SHOWN = 160

function fixOf(entry: Entry): RepairFix {
  const value = valueText(entry)
  const [first = '', ...more] = entry.lines
  const hasQuote = value.includes("'")
  if (more.length === 0) return whole(`${entry.key}:`, value) ?? { span: 'line', hasQuote }
  const inline = first.slice(entry.head).trim()
  return { span: 'lines', hasQuote, ...(withoutHeader(inline) === '' && inline !== '' && { header: inline }) }
}

/** The whole line, unless it is long. */
function whole(head: string, value: string): RepairFix | undefined {
  return value.length > MAX_SHOWN ? undefined : { line: `${head} ${JSON.stringify(value)}`.trim() }
}

import { Lexer } from 'yaml'
import type { Edit } from '../../kernel/index.ts'
import { jsonComments, parseJson5 } from '../json5.ts'
import type { YamlProblem } from './inspect.ts'
import { withYamlComments } from './json-comments.ts'
import { isMeantAsText, namesIn } from './meant-as-text.ts'
import { FLAGS } from './prose.ts'
import { isFatal, readYaml } from './read.ts'

/** One value that was put in quotes, or read without a comment of JSON. `line` counts from 1 in the YAML text; `column` is where the strict parse stumbled. */
export interface Repair {
  readonly key: string
  readonly line: number
  readonly column: number
  /** What the strict parse said. */
  readonly because: string
  /** What to type, and where. */
  readonly fix: string
  /** Index of the first line of the value, and its lines with quotes, where these may be written. */
  readonly quoted?: { readonly from: number; readonly lines: readonly string[] }
  /** Begins the comment of JSON without which the value was read. */
  readonly commentSign?: string
  /** Writes all comments of the value as those of YAML; places are those of the YAML text. */
  readonly edit?: Edit
}

/** A top-level key with the lines that belong to it. */
interface Entry {
  readonly key: string
  /** Index of its first line. */
  readonly line: number
  /** Length of the first line up to the value. */
  readonly head: number
  readonly lines: readonly string[]
}

const KEY_LINE = /^(?:([A-Za-z_][\w.-]*)|"([^"\\]+)"|'([^']+)')[ \t]*:(?:[ \t]+|$)/
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
 * `argument-hint: [a] [b]` or `description: *Important*`. Lines stay where they are. Source: decisions, "strictness".
 */
export function repairYaml(text: string): { text: string; repairs: readonly Repair[] } {
  const lines = text.split('\n')
  const repairs: Repair[] = []
  const subjects = topLevelEntries(lines).map((entry) => {
    const alone = entry.lines.join('\n')
    // Others are plain, and have no names to tell of.
    const mayFail = SUSPICIOUS.test(alone.slice(entry.head)) || /[&*]/.test(alone)
    return { ...entry, text: alone, problems: mayFail ? readYaml(alone).problems : [] }
  })
  const names = namesIn(subjects)
  for (const subject of subjects) {
    const { text: alone, problems } = subject
    const inline = (subject.lines[0] ?? '').slice(subject.head)
    const problem = problems.find(isFatal)
    if (!problem || !SUSPICIOUS.test(alone.slice(subject.head)) || !isMeantAsText(subject, names)) continue
    const repaired = subject.key === 'metadata' ? repairJson(subject) : mayQuote(subject, inline) && quoting(subject)
    if (repaired === undefined || repaired === false) continue
    repaired.lines.forEach((line, index) => (lines[subject.line + index] = line))
    const before = alone.slice(0, problem.offset)
    const down = before.split('\n').length - 1
    const place = { line: subject.line + down + 1, column: before.length - before.lastIndexOf('\n') }
    const { key } = subject
    repairs.push(...repaired.found.map((found) => ({ key, because: problem.message, ...place, ...found })))
  }
  return { text: lines.join('\n'), repairs }
}

const NESTED_LINE = /^([ \t]*(?:- +)*(?:(?:[\w.-]+|"[^"\\]+"|'[^']+')[ \t]*:[ \t]+)?)(\S.*)$/

/**
 * The second step, for values below the top level: quotes the value on each line where the strict parse failed, when that line fails
 * by itself. Values that begin like a list or a mapping stay, and so do lines between brackets: a missing bracket or comma is better
 * reported than hidden with all that follows it.
 */
export function repairLines(
  text: string,
  problems: readonly YamlProblem[],
): { text: string; repairs: readonly Repair[] } {
  const lines = text.split('\n')
  const repairs: Repair[] = []
  const failed = problems.filter(({ code }) => code === 'yaml-invalid')
  const numbers = new Set(failed.map(({ offset }) => text.slice(0, offset).split('\n').length - 1))
  const between = linesBetweenBrackets(text)
  for (const index of numbers) {
    if (between.has(index)) continue
    const repair = repairLine(lines[index] ?? '')
    if (repair === undefined) continue
    lines[index] = repair.line
    repairs.push({ ...repair.found, line: index + 1, quoted: { from: index, lines: [repair.line] } })
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

function repairLine(line: string): { line: string; found: Omit<Repair, 'line' | 'quoted'> } | undefined {
  const [, head = '', value = ''] = NESTED_LINE.exec(line) ?? []
  if (!/^[ -][^\t]*$/.test(head) || !SUSPICIOUS.test(value) || /^[[{]/.test(value)) return undefined
  const problem = readYaml(`x: ${value}`).problems.find(isFatal)
  if (problem?.code !== 'yaml-invalid') return undefined
  const trimmed = value.trimEnd()
  if (STRUCTURED.has(head.replace(/^[\s"']+|["':\s]+$/g, ''))) return undefined
  const key = head.replace(/^[\s-]+|[:\s]+$/g, '')
  return {
    line: `${head}'${trimmed.replaceAll("'", "''")}'`,
    found: {
      key: key === '' ? 'this line' : key,
      column: head.length + 1,
      because: problem.message,
      fix: write(head.trim(), trimmed) ?? `put ${quotesAround(trimmed)}`,
    },
  }
}

/**
 * Entries begin at column 1; indented and blank lines below belong to them, blank ones at the end do not. So do lines
 * that begin with a closing bracket, when the value begins with an opening one.
 */
function topLevelEntries(lines: readonly string[]): Entry[] {
  const entries: Entry[] = []
  let current: { key: string; line: number; head: number; lines: string[] } | undefined
  let value = ''
  lines.forEach((line, index) => {
    const match = KEY_LINE.exec(line)
    if (match) {
      current = { key: match[1] ?? match[2] ?? match[3] ?? '', line: index, head: match[0].length, lines: [line] }
      value = line.slice(match[0].length).trim()
      entries.push(current)
    } else if (/^[ \t]|^$/.test(line) || (/^[}\]]/.test(line) && /^[{[]/.test(value))) {
      value ||= line.trim()
      current?.lines.push(line)
    } else {
      current = undefined
    }
  })
  for (const entry of entries) {
    const own = entry.lines as string[]
    while (own.length > 1 && own[own.length - 1]?.trim() === '') own.pop()
  }
  return entries
}

function mayQuote(entry: Entry, inline: string): boolean {
  if (inline.trim() === '' || STRUCTURED.has(entry.key)) return false
  return !LIST_OR_TEXT.has(entry.key) || !/^[[{]/.test(inline)
}

/** The lines in place of those of an entry, and what to report. */
interface Repaired {
  readonly lines: readonly string[]
  readonly found: readonly (Partial<Repair> & Pick<Repair, 'fix'>)[]
}

function quoting(entry: Entry): Repaired {
  const lines = quote(entry)
  return { lines, found: [{ fix: fixOf(entry), quoted: { from: entry.line, lines } }] }
}

/** An entry whose value is JSON5: with comments of YAML in place of those of JSON, else as a text; undefined for any other. */
function repairJson(entry: Entry): Repaired | undefined {
  const text = entry.lines.join('\n')
  const commented = withYamlComments(text, entry.head)
  if (commented !== undefined) {
    const { sign, edit } = commented
    const { start, end } = edit
    const placed = { ...edit, start: moved(start, entry.line), end: moved(end, entry.line) }
    const found = { ...placed.start, fix: fixOfComment(sign), commentSign: sign, edit: placed }
    return { lines: commented.text.split('\n'), found: [found] }
  }
  if (parseJson5(valueText(entry)) !== undefined) return quoting(entry)
  const value = parseJson5(text.slice(entry.head))
  if (value === undefined) return undefined
  const [first = '', ...rest] = entry.lines
  const head = first.slice(0, entry.head).trimEnd()
  const lines = [`${head} '${JSON.stringify(value).replaceAll("'", "''")}'`, ...rest.map(() => '')]
  const [comment] = jsonComments(text, entry.head)
  if (comment === undefined) return { lines, found: [{ fix: fixOf(entry) }] }
  const commentSign = text.slice(comment.start, comment.start + 2)
  return { lines, found: [{ fix: 'write its keys as YAML, one a line, without comments of JSON', commentSign }] }
}

function moved({ line, column }: Edit['start'], lines: number): Edit['start'] {
  return { line: line + lines, column }
}

function fixOfComment(sign: string): string {
  return `remove the comment that begins with ${sign}, or write it as # … at the end of a line`
}

/** The lines of the entry with its value in single quotes; further lines are folded by YAML as in a plain value. */
function quote(entry: Entry): string[] {
  const [first = '', ...rest] = entry.lines
  const head = first.slice(0, entry.head)
  const body = [withoutHeader(first.slice(entry.head)), ...rest].map((line) => line.trim().replaceAll("'", "''"))
  body[0] = `'${body[0]}`
  body[body.length - 1] += "'"
  return body.map((line, index) =>
    index === 0 ? (/\s$/.test(head) ? head : `${head} `) + line : line === '' ? '' : `  ${line}`,
  )
}

function valueText(entry: Entry): string {
  const [first = '', ...rest] = entry.lines
  return [withoutHeader(first.slice(entry.head)), ...rest]
    .map((line) => line.trim())
    .join(' ')
    .trim()
}

/** `|` and `>` alone on their line announce a text and are no part of it. */
function withoutHeader(inline: string): string {
  return /^[|>][-+0-9]{0,2}[ \t]*$/.test(inline) ? '' : inline
}

/** Longer lines would have to be cut, and a line that is typed as it is shown would lose its end. */
const MAX_SHOWN = 160

function fixOf(entry: Entry): string {
  const value = valueText(entry)
  const [first = '', ...more] = entry.lines
  const short = more.length === 0 ? write(`${entry.key}:`, value) : undefined
  if (short !== undefined) return short
  const header = first.slice(entry.head).trim()
  const opens =
    withoutHeader(header) === '' && header !== ''
      ? `write a single quote ' in place of ${header}`
      : "put a single quote ' before the value"
  if (more.length === 0) return `put ${quotesAround(value)}`
  return `${opens}, and another at the end of its last line${value.includes("'") ? "; write each ' between them as ''" : ''}`
}

/** The whole line, unless it is long. */
function write(head: string, value: string): string | undefined {
  return value.length > MAX_SHOWN ? undefined : `write: ${`${head} ${JSON.stringify(value)}`.trim()}`
}

function quotesAround(value: string): string {
  const twice = value.includes("'") ? ", and write each ' between them as ''" : ''
  return `a single quote ' before the value and another at the end of the line${twice}`
}

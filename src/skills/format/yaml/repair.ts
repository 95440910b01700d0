import { parseJson5 } from '../json5.ts'
import { found, wordsOf } from '../messages/messages.ts'
import { toJson } from '../write/emit.ts'
import { type Entry, lineEdit, type Repair, type Repaired, topLevelEntries } from './entries.ts'
import { isMeantAsText, type Subject } from './meant-as-text.ts'
import { isFatal, isSyntax, readYaml } from './read.ts'

/** Values that may fail alone; everything else is a plain scalar without surprises and need not be parsed apart. */
const SUSPICIOUS = /^[[\]{},&*!|>%@`"'?#-]|:(?:\s|$)|\t/

/** Their values are mappings, lists of mappings, or flags: text in quotes would hide the fault. */
const STRUCTURED: ReadonlySet<string> = new Set([
  ...['requires', 'install', 'hooks', 'tools', 'background'],
  ...['disable-model-invocation', 'disable_model_invocation', 'user-invocable', 'user_invocable'],
])
/** Their values are lists or text: quoted unless they look like a list. */
const LIST_OR_TEXT: ReadonlySet<string> = new Set([
  'allowed-tools',
  'allowed_tools',
  'disallowed-tools',
  'arguments',
  'tags',
  'triggers',
])

/** A key in a further line of a value; as text it would restrict nothing. */
const KEY_BELOW = /^[ \t]+([\w-]+)[ \t]*:(?:[ \t]|$)/
const RESTRICTING: ReadonlySet<string> = new Set([...STRUCTURED, 'metadata', 'allowed-tools'])

/**
 * The text with quotes around those top-level values that are not valid YAML by themselves, such as `description: Use when: asked` or
 * `description: *Important*`. Lines stay where they are.
 * Source: decisions, "strictness".
 */
export function repairYaml(given: string): Repaired {
  const before = given.split('\n')
  const lines = [...before]
  const repairs: Repair[] = []
  const subjects = topLevelEntries(lines).map((entry) => {
    const alone = entry.lines.join('\n')
    // Other values are plain text, and contain no anchors or aliases.
    const mayFail = SUSPICIOUS.test(alone.slice(entry.head)) || /[&*]/.test(alone)
    return { ...entry, text: alone, problems: mayFail ? readYaml(alone).problems : [] }
  })
  for (const subject of subjects) {
    const { text: alone, problems, line, key } = subject
    const problem = problems.find(isFatal)
    if (!problem || !SUSPICIOUS.test(alone.slice(subject.head)) || !isMeantAsText(subject)) continue
    const value = key === 'metadata' ? repairJson(subject) : asText(subject)
    if (value === undefined) continue
    value.lines.forEach((each, index) => (lines[line + index] = each))
    const upTo = alone.slice(0, problem.offset)
    const place = { line: line + upTo.split('\n').length, column: upTo.length - upTo.lastIndexOf('\n') }
    const [reason] = wordsOf(problem)
    const edit = value.isJson ? undefined : lineEdit(before, line, value.lines.map(inDoubleQuotes))
    const words = value.isJson
      ? found('yaml-repaired', key, 'Its JSON is not YAML.', 'json')
      : found('yaml-repaired', key, reason, wholeLine(subject))
    repairs.push({ key, ...place, edit, found: words })
  }
  return { text: lines.join('\n'), repairs }
}

/** The lines in place of those of an entry. */
interface RepairedValue {
  readonly lines: readonly string[]
  readonly isJson?: boolean
}

/** Undefined where quotes would hide the fault: lists, mappings, flags, and double quotes with an unknown escape. */
function asText(entry: Entry & Subject): RepairedValue | undefined {
  const inline = (entry.lines[0] ?? '').slice(entry.head)
  if (inline.trim() === '' || STRUCTURED.has(entry.key) || (LIST_OR_TEXT.has(entry.key) && /^[[{]/.test(inline)))
    return undefined
  if (entry.problems.some((problem) => isSyntax(problem, 'escape'))) return undefined
  if (entry.lines.some((line) => RESTRICTING.has(KEY_BELOW.exec(line)?.[1] ?? ''))) return undefined
  return { lines: quote(entry) }
}

/** An entry whose value is JSON5, as text; undefined for any other. */
function repairJson(entry: Entry): RepairedValue | undefined {
  if (parseJson5(valueText(entry)) !== undefined) return { lines: quote(entry) }
  const value = parseJson5(entry.lines.join('\n').slice(entry.head))
  if (value === undefined) return undefined
  const [first = '', ...others] = entry.lines
  const head = first.slice(0, entry.head).trimEnd()
  const lines = [`${head} '${JSON.stringify(value).replaceAll("'", "''")}'`, ...others.map(() => '')]
  return { lines, isJson: true }
}

/** The lines of the entry with its value in single quotes; further lines are folded by YAML as in a plain value. */
function quote(entry: Entry): string[] {
  const [first = '', ...others] = entry.lines
  const head = first.slice(0, entry.head)
  const body = [withoutHeader(first.slice(entry.head)), ...others].map((line) => line.trim().replaceAll("'", "''"))
  body[0] = `'${body[0]}`
  body[body.length - 1] += "'"
  const [top = '', ...below] = body
  const spaced = /\s$/.test(head) ? head : `${head} `
  return [spaced + top, ...below.map((line) => (line === '' ? '' : `  ${line}`))]
}

const SINGLE_QUOTED = /^((?:[ ]|- )*(?:[\w.-]+|"[^"]*"|'[^']*')?[ \t]*:?[ \t]+)'((?:[^']|'')*)'$/

/** The form that the fix shows. A value of several lines keeps single quotes. */
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

/** The line of a value with quotes, as a person may type it. */
function wholeLine(entry: Entry): { readonly line?: string } {
  const value = valueText(entry)
  return entry.lines.length > 1 || value.length > MAX_SHOWN ? {} : { line: `${entry.key}: ${JSON.stringify(value)}` }
}

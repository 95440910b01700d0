import type { Diagnostic, Edit } from '../../kernel/index.ts'
import { namesOf, seenOf } from '../split.ts'
import type { Change } from './layout.ts'

/** A finding that a machine can fix. */
export type Finding = Diagnostic & { readonly edit: Edit }

export interface Edited {
  readonly text: string
  readonly changes: readonly Change[]
  /** The findings whose edits were made. */
  readonly made: readonly Finding[]
}

/** Makes the edits of findings, but for those that overlap an earlier one. `original` is the text whose lines the changes count. */
export function applyEdits(text: string, findings: readonly Finding[], original: string): Edited {
  const mark = text.startsWith('\uFEFF') ? 1 : 0
  const lines = linesOf(text.slice(mark))
  // Lines come and go only above the others, so all lines moved by the same number.
  const moved = linesOf(original.slice(original.startsWith('\uFEFF') ? 1 : 0)).length - lines.length
  const offset = ({ line, column }: Edit['start']): number =>
    mark + (lines[line - 1]?.start ?? text.length) + column - 1
  const changes: Change[] = []
  const made: Finding[] = []
  let result = ''
  let last = 0
  for (const found of findings.toSorted((a, b) => offset(a.edit.start) - offset(b.edit.start))) {
    const { edit } = found
    if (offset(edit.start) < last) continue
    const end = /\r\n?|\n/.exec(text.slice(offset(edit.start)))?.[0] ?? '\n'
    result += text.slice(last, offset(edit.start)) + edit.text.replaceAll('\n', end)
    last = offset(edit.end)
    made.push(found)
    changes.push(...changesOf(found, lines, moved))
  }
  return { text: result + text.slice(last), changes, made }
}

interface Line {
  readonly start: number
  readonly text: string
}

function linesOf(text: string): readonly Line[] {
  return [...text.matchAll(/([^\r\n]*)(?:\r\n|\r|\n|$)/g)].map(({ 1: line = '', index }) => ({
    start: index,
    text: line,
  }))
}

/** What a finding changes, in whole lines. */
function changesOf({ code, subject, edit }: Finding, lines: readonly Line[], moved: number): readonly Change[] {
  const { start, end, text } = edit
  const why = code === 'name-missing' && subject !== 'name' ? WHY_SPELLING : (WHY[code] ?? WHY_SPELLING)
  const textOf = (line: number): string => lines[line - 1]?.text ?? ''
  const at = { line: start.line + moved, why }
  if (text.endsWith('\n')) return [{ ...at, was: '', now: text.slice(0, -1) }]
  const numbers = Array.from({ length: end.line - start.line + 1 }, (_, index) => start.line + index)
  if (text === '' && end.column === 1) {
    return numbers.slice(0, -1).map((line) => ({ line: line + moved, was: textOf(line), now: undefined, why }))
  }
  const was = numbers.map(textOf).join('\n')
  const now = textOf(start.line).slice(0, start.column - 1) + text + textOf(end.line).slice(end.column - 1)
  const isHidden = seenOf(was) === seenOf(now) && code.startsWith('frontmatter-') && seenOf(was) !== was
  return [{ ...at, was: isHidden ? `${namesOf(was)} on this line` : was, now }]
}

const WHY_SPELLING = 'this is how the key is spelled'
const WHY_HIDDEN = 'it is invisible, and with it the line is not ---'

/** By the code of the finding. */
const WHY: Readonly<Record<string, string>> = {
  'yaml-repaired': 'the value is not YAML as it stands; this is how it was read',
  'leading-blank-lines': 'other clients find the frontmatter in the first line only',
  'frontmatter-closed-by-dots': 'other clients want --- at the end',
  'frontmatter-missing': WHY_HIDDEN,
  'frontmatter-unterminated': WHY_HIDDEN,
  'name-missing': "the specification wants a name; the directory's name is the one that was used",
}

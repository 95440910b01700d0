import { type Diagnostic, type Edit, unseenIn, withoutUnseen } from '../../../kernel/index.ts'
import { reasonOfChange } from '../messages/changes.ts'
import type { Change } from './layout.ts'

/** A finding that a machine can fix. */
export type Fixable = Diagnostic & { readonly edit: Edit }

export function isFixable(diagnostic: Diagnostic): diagnostic is Fixable {
  return diagnostic.edit !== undefined
}

/** True when the edit gives a key its right name: `edit.text`. */
export function isRename({ code }: Diagnostic): boolean {
  return code === 'key-spelling' || code === 'key-similar'
}

/** Makes the edit of a finding. `original` is the text before all edits, whose lines the changes count. */
export function applyEdit(
  text: string,
  finding: Fixable,
  original: string,
): { readonly text: string; readonly changes: readonly Change[] } {
  const mark = text.startsWith('\uFEFF') ? 1 : 0
  const lines = linesOf(text.slice(mark))
  // Lines come and go only above the others, so all lines moved by the same number.
  const moved = linesOf(original.slice(original.startsWith('\uFEFF') ? 1 : 0)).length - lines.length
  const offset = ({ line, column }: Edit['start']): number =>
    mark + (lines[line - 1]?.start ?? text.length) + column - 1
  const { start, end, text: now } = finding.edit
  const lineEnd = /\r\n?|\n/.exec(text.slice(offset(start)))?.[0] ?? '\n'
  const after = text.slice(0, offset(start)) + now.replaceAll('\n', lineEnd) + text.slice(offset(end))
  return { text: after, changes: changesOf(finding, lines, moved) }
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
function changesOf(finding: Fixable, lines: readonly Line[], moved: number): readonly Change[] {
  const { start, end, text } = finding.edit
  const why = reasonOfChange(finding.code, isRename(finding))
  const textOf = (line: number): string => lines[line - 1]?.text ?? ''
  const at = { line: start.line + moved, why }
  if (text.endsWith('\n')) return [{ ...at, was: '', now: text.slice(0, -1) }]
  const numbers = Array.from({ length: end.line - start.line + 1 }, (_, index) => start.line + index)
  if (text === '' && end.column === 1) {
    return numbers.slice(0, -1).map((line) => ({ line: line + moved, was: textOf(line), now: undefined, why }))
  }
  const was = numbers.map(textOf).join('\n')
  const now = textOf(start.line).slice(0, start.column - 1) + text + textOf(end.line).slice(end.column - 1)
  const isHidden = withoutUnseen(was) === withoutUnseen(now) && finding.code.startsWith('frontmatter-')
  return [{ ...at, was: isHidden && unseenIn(was) !== '' ? `${unseenIn(was)} on this line` : was, now }]
}

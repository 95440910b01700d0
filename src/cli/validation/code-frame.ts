import { type Diagnostic, toSafeText } from '../../kernel/index.ts'
import { cellsOf } from '../show/columns.ts'
import { formatDiagnostic, type Terminal } from '../terminal.ts'

/** Cells of a line that are shown, with the place inside. */
const MAX_CELLS = 100
/** Cells before the place, when the line is cut. */
const CELLS_BEFORE = 60

/** Lines of a text whatever their ends are, without the byte order mark: as diagnostics count them. */
export function linesOf(text: string): readonly string[] {
  return text.replace(/^\uFEFF/, '').split(/\r\n?|\n/)
}

/**
 * The line of a finding with its number, the line before it, and a caret under the column (from 1, in UTF-16 units).
 * Nothing of the text reaches the terminal unseen: each hidden character is shown as one dot. Empty when there is no such line.
 */
export function codeFrame(
  lines: readonly string[],
  { line, column = 1 }: { line: number; column?: number | undefined },
  paint: Terminal['paint'],
): string {
  const text = lines[line - 1]
  if (text === undefined) return ''
  const width = String(line).length
  const gutter = (label: string): string => paint('dim', `${label.padStart(width)} | `)
  const { shown, caret } = visible(text, column)
  const before = line > 1 ? lines[line - 2] : undefined
  return [
    ...(before === undefined || before.trim() === '' ? [] : [gutter(String(line - 1)) + visible(before, 1).shown]),
    gutter(String(line)) + shown,
    `${gutter('')}${' '.repeat(caret)}${paint('red', '^')}`,
  ].join('\n')
}

/** A finding as `formatDiagnostic` has it, with the code frame between the message and the fix. `column` is that of the shown line. */
export function formatWithFrame(
  diagnostic: Diagnostic,
  { lines, column = diagnostic.column }: { lines: readonly string[]; column?: number | undefined },
  paint: Terminal['paint'],
): string {
  const { fix, ...rest } = diagnostic
  const frame = rest.line === undefined ? '' : codeFrame(lines, { line: rest.line, column }, paint)
  return [
    formatDiagnostic(rest, paint),
    ...(frame === '' ? [] : [frame.replace(/^/gm, '      ')]),
    ...(fix === undefined ? [] : [`    ${paint('cyan', 'fix:')} ${toSafeText(fix).replaceAll('\n', '\n    ')}`]),
  ].join('\n')
}

/** A line made visible and cut to a window around the column; `caret` counts cells from 0. */
function visible(text: string, column: number): { shown: string; caret: number } {
  const start = windowStart(text, column)
  let cells = start > 0 ? 1 : 0
  let caret = cells
  let shown = start > 0 ? '…' : ''
  let at = start
  for (const character of text.slice(start, start + MAX_CELLS * 2)) {
    if (cells >= MAX_CELLS) return { shown: `${shown}…`, caret: Math.min(caret, cells) }
    const safe = character === '\t' ? ' ' : isShown(character) ? character : '·'
    shown += safe
    at += character.length
    cells += cellsOf(safe)
    if (at <= column - 1) caret = cells
  }
  return { shown: start + MAX_CELLS * 2 < text.length ? `${shown}…` : shown, caret }
}

function isShown(character: string): boolean {
  return cellsOf(character) === 0 || toSafeText(character) === character.normalize('NFC')
}

function windowStart(text: string, column: number): number {
  if (column <= MAX_CELLS - 10) return 0
  const start = Math.max(0, Math.min(column - 1, text.length) - CELLS_BEFORE)
  const unit = text.charCodeAt(start)
  return unit >= 0xdc00 && unit <= 0xdfff ? start + 1 : start
}

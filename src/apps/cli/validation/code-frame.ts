import { toSafeText } from '../../../kernel/index.ts'
import { cellsOf } from '../show/columns.ts'
import type { Terminal } from '../terminal.ts'

/** Cells of a line that are shown, with the place inside; fewer on a narrow terminal, where a broken line would part from its caret. */
const MAX_CELLS = 100
const MIN_CELLS = 20
/** Share of them before the place, when the line is cut. */
const SHARE_BEFORE = 0.6
/** Cells before each line of the frame. */
const INDENT = 6

/** Lines of a text whatever their ends are, without the byte order mark: as diagnostics count them. */
export function linesOf(text: string): readonly string[] {
  return text.replace(/^\uFEFF/, '').split(/\r\n?|\n/)
}

/**
 * The line of a finding with its number, the line before it, and a caret under the column (from 1, in UTF-16 units).
 * Each hidden character is shown as one dot. Empty when there is no such line.
 */
export function codeFrame(
  lines: readonly string[],
  { line = 0, column = 1 }: { readonly line?: number; readonly column?: number },
  { paint, columns }: Pick<Terminal, 'paint' | 'columns'>,
): string {
  const text = lines[line - 1]
  if (text === undefined || (text === '' && lines.length === 1)) return ''
  const width = String(line).length
  const gutter = (label: string): string => paint('dim', `${label.padStart(width)} | `)
  const beside = INDENT + width + ' | …'.length
  const room = Math.max(MIN_CELLS, Math.min(MAX_CELLS, columns - beside))
  const { shown, caret } = visible(text, column, room)
  const before = lines[line - 2] ?? ''
  return [
    ...(before.trim() === '' ? [] : [gutter(String(line - 1)) + visible(before, 1, room).shown]),
    gutter(String(line)) + shown,
    `${gutter('')}${' '.repeat(caret)}${paint('red', '^')}`,
  ].join('\n')
}

/** A line made visible and cut to a window around the column; `caret` counts cells from 0. */
function visible(text: string, column: number, room: number): { shown: string; caret: number } {
  const start = windowStart(text, column, room)
  let cells = start > 0 ? 1 : 0
  let caret = cells
  let shown = start > 0 ? '…' : ''
  let at = start
  for (const character of text.slice(start, start + room * 2)) {
    const visible = isShown(character) ? character : '·'
    const safe = character === '\t' ? ' ' : visible
    const width = cellsOf(safe)
    if (cells + width > room) return { shown: `${shown}…`, caret: Math.min(caret, cells) }
    shown += safe
    at += character.length
    cells += width
    if (at <= column - 1) caret = cells
  }
  return { shown: start + room * 2 < text.length ? `${shown}…` : shown, caret }
}

function isShown(character: string): boolean {
  return cellsOf(character) === 0 || toSafeText(character) === character.normalize('NFC')
}

function windowStart(text: string, column: number, room: number): number {
  if (column <= room - 10) return 0
  const start = Math.max(0, Math.min(column - 1, text.length) - Math.floor(room * SHARE_BEFORE))
  const unit = text.charCodeAt(start)
  return unit >= 0xdc00 && unit <= 0xdfff ? start + 1 : start
}

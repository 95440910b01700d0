import { stripVTControlCharacters } from 'node:util'

/** Text in columns: widths are cells of a terminal, so that colours count nothing and Chinese, Japanese, Korean and emoji two. */

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/
/** Cells of one character. */
export function cellsOf(character: string): 0 | 1 | 2 {
  if (character < FIRST_MARK) return 1
  if (/\p{M}/u.test(character)) return 0
  return WIDE.test(character) || /\p{Emoji_Presentation}/u.test(character) ? 2 : 1
}

/** Before it there are no marks, and nothing is wide. */
const FIRST_MARK = '\u0300'

/** Cells of a text on one line. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let cells = 0
  for (const character of stripVTControlCharacters(text)) cells += cellsOf(character)
  return cells
}

/** Cut to a number of cells, with an ellipsis. */
export function shorten(text: string, maxCells: number): string {
  if (widthOf(text) <= maxCells) return text
  let cells = 1
  let end = 0
  for (const character of text) {
    cells += cellsOf(character)
    if (cells > maxCells) break
    end += character.length
  }
  return `${text.slice(0, end).trimEnd()}…`
}

/** The text in lines of at most so many cells, broken at blanks; a longer word has a line of its own. */
export function wrap(text: string, maxCells: number): readonly string[] {
  const [first = '', ...words] = text.split(' ')
  const lines = [first]
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`
    if (widthOf(longer) > maxCells) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

/** How a table fits a terminal. */
export interface TableOptions {
  /** Cells there are; default no limit. */
  readonly columns?: number
  /** What happens to the last cell of a row that is too long; default `cut`. */
  readonly long?: 'cut' | 'wrap'
}

const GAP = 2
/** With less room beside the others, the last cells stand on lines of their own. */
const LEAST_ROOM = 24
const OWN_LINE = 4

/** Rows with their columns padded to one width. Only the last cell of a row may be long; one that is cut must not be coloured. */
export function formatTable(
  rows: readonly (readonly string[])[],
  { columns = Number.POSITIVE_INFINITY, long = 'cut' }: TableOptions = {},
): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [index, cell] of row.slice(0, -1).entries())
      widths[index] = Math.max(widths[index] ?? 0, widthOf(cell) + GAP)
  const start = widths.reduce((sum, width) => sum + width, 0)
  const isNarrow = columns - start < LEAST_ROOM && rows.some((row) => start + widthOf(row.at(-1) ?? '') > columns)
  const indent = isNarrow ? OWN_LINE : start
  return rows
    .map((row) => {
      const cells = row.slice(0, -1).map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)))
      const last = fit(row.at(-1) ?? '', columns - indent, long).join(`\n${' '.repeat(indent)}`)
      return isNarrow ? `${cells.join('').trimEnd()}\n${' '.repeat(indent)}${last}` : (cells.join('') + last).trimEnd()
    })
    .join('\n')
}

function fit(text: string, room: number, long: 'cut' | 'wrap'): readonly string[] {
  if (room === Number.POSITIVE_INFINITY) return [text]
  return long === 'cut' ? [shorten(text, room)] : wrap(text, room)
}

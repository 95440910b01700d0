import { stripVTControlCharacters } from 'node:util'
import { eastAsianWidth } from 'get-east-asian-width'

/** Text in columns: widths are cells of a terminal, so that colours count nothing and Chinese, Japanese, Korean and emoji two. */

function cellsOf(character: string): 0 | 1 | 2 {
  const code = character.codePointAt(0) ?? 0
  if (eastAsianWidth(code) === 2) return 2
  // V8 takes milliseconds for the pattern, so it is asked only where there are marks.
  return code < FIRST_MARK || (code >= SYMBOLS[0] && code <= SYMBOLS[1]) || !/\p{M}/u.test(character) ? 1 : 0
}

const FIRST_MARK = 0x300
/** Arrows, frames, check marks: no marks that combine. */
const SYMBOLS = [0x2100, 0x2bff] as const

export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let cells = 0
  for (const character of stripVTControlCharacters(text)) cells += cellsOf(character)
  return cells
}

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

export interface TableOptions {
  /** Cells there are; default no limit. */
  readonly columns?: number
  /** For a last cell that is too long; default `cut`. */
  readonly long?: 'cut' | 'wrap'
}

const GAP = 2
/** With less room beside the others, the last cells are on lines of their own. */
const LEAST_ROOM = 24
const OWN_LINE = 4

/** Rows with their columns padded to one width. Only the last cell of a row may be long; one that is cut must not be coloured. */
export function formatTable(
  rows: readonly (readonly string[])[],
  { columns = Number.POSITIVE_INFINITY, long = 'cut' }: TableOptions = {},
): string {
  const widths: number[] = []
  const cellWidths = rows.map((row) => row.slice(0, -1).map(widthOf))
  for (const row of cellWidths)
    for (const [index, width] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, width + GAP)
  const start = widths.reduce((sum, width) => sum + width, 0)
  const isNarrow = columns - start < LEAST_ROOM && rows.some((row) => start + widthOf(row.at(-1) ?? '') > columns)
  const indent = isNarrow ? OWN_LINE : start
  return rows
    .map((row, number) => {
      const pad = (index: number): string => ' '.repeat((widths[index] ?? 0) - (cellWidths[number]?.[index] ?? 0))
      const cells = row.slice(0, -1).map((cell, index) => cell + pad(index))
      const last = fit(row.at(-1) ?? '', columns - indent, long).join(`\n${' '.repeat(indent)}`)
      return isNarrow ? `${cells.join('').trimEnd()}\n${' '.repeat(indent)}${last}` : (cells.join('') + last).trimEnd()
    })
    .join('\n')
}

function fit(text: string, room: number, long: 'cut' | 'wrap'): readonly string[] {
  if (room === Number.POSITIVE_INFINITY) return [text]
  return long === 'cut' ? [shorten(text, room)] : wrap(text, room)
}

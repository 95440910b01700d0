/** Text in columns: widths are cells of a terminal, so that colours count nothing and Chinese, Japanese, Korean and emoji two. */

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/
/** Of one cell each: ASCII, and our own signs `…≡◌✓✗`. */
const PLAIN = /^[ -~\u2026\u2261\u25cc\u2713\u2717]*$/
// oxlint-disable-next-line no-control-regex
const COLOURS = /\u001b\[\d+m/g

/** Before it there are no marks, and nothing is wide. */
const FIRST_MARK = '\u0300'

/** Cells of one character. */
export function cellsOf(character: string): 0 | 1 | 2 {
  if (character < FIRST_MARK) return 1
  // Patterns over all of Unicode take half a millisecond to prepare, when they are used first.
  if (/\p{M}/u.test(character)) return 0
  return WIDE.test(character) || /\p{Emoji_Presentation}/u.test(character) ? 2 : 1
}

/** Cells of a text on one line. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  const bare = text.replace(COLOURS, '')
  if (PLAIN.test(bare)) return bare.length
  let cells = 0
  for (const character of bare) cells += cellsOf(character)
  return cells
}

/** Cut to a number of cells, with an ellipsis. */
export function shorten(text: string, maxCells: number): string {
  // No character is more than two cells.
  if (text.length * 2 <= maxCells || widthOf(text) <= maxCells) return text
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
  if (widthOf(text) <= maxCells) return [text]
  const lines: string[] = []
  let line: string | undefined
  for (const word of text.split(' ')) {
    const longer: string = line === undefined ? word : `${line} ${word}`
    if (line !== undefined && widthOf(longer) > maxCells) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line ?? '']
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
const OWN_LINE = '    '

/** Rows with their columns padded to one width. Only the last cell of a row may be long; one that is cut must not be coloured. */
export function formatTable(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  const table = { rows: rows.map((row) => row.slice(0, -1)), last: (index: number) => rows[index]?.at(-1) ?? '' }
  const line = layOut(table, options)
  return rows.map((_, index) => line(index)).join('\n')
}

/** A table of which the last cell of each row is made when it is asked for, so that thousands of them are never in memory together. */
export interface LongTable {
  /** The cells before the last one. */
  readonly rows: readonly (readonly string[])[]
  readonly last: (index: number) => string
}

/** How `formatTable` writes each row, by its index. */
export function layOut(
  { rows, last }: LongTable,
  { columns = Number.POSITIVE_INFINITY, long = 'cut' }: TableOptions,
): (index: number) => string {
  const widths: number[] = []
  for (const row of rows)
    for (let index = 0; index < row.length; index++)
      widths[index] = Math.max(widths[index] ?? 0, widthOf(row[index] as string))
  const start = widths.reduce((sum, width) => sum + width + GAP, 0)
  const isNarrow = columns - start < LEAST_ROOM && rows.some((_, index) => start + widthOf(last(index)) > columns)
  return (index) => {
    let begin = ''
    let used = 0
    const row = rows[index] as readonly string[]
    for (let column = 0; column < row.length; column++) {
      const cell = row[column] as string
      const width = (widths[column] ?? 0) + GAP
      begin += cell + ' '.repeat(width - widthOf(cell))
      used += width
    }
    const text = fit(last(index), { indent: isNarrow ? OWN_LINE.length : used, columns, long })
    if (isNarrow) return `${begin.trimEnd()}\n${OWN_LINE}${text}`
    const end = text.trimEnd()
    return end === '' ? begin.trimEnd() : begin + end
  }
}

/** The last cell, whose lines stand behind an indent. */
function fit(text: string, { indent, columns, long }: Required<TableOptions> & { readonly indent: number }): string {
  if (columns === Number.POSITIVE_INFINITY) return text
  const room = columns - indent
  return long === 'cut' ? shorten(text, room) : wrap(text, room).join(`\n${' '.repeat(indent)}`)
}

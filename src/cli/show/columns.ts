/** Text in columns: widths are cells of a terminal, so that colours count nothing and Chinese, Japanese, Korean and emoji two. */

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/
const PLAIN = /^[ -~]*$/
// oxlint-disable-next-line no-control-regex
const COLOURS = /\u001b\[\d+m/g

/** Cells of one character. */
export function cellsOf(character: string): 0 | 1 | 2 {
  // Patterns over all of Unicode are prepared where they stand: not at start.
  if (/\p{M}/u.test(character)) return 0
  return WIDE.test(character) || /\p{Emoji_Presentation}/u.test(character) ? 2 : 1
}

/** Cells of a text on one line. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let cells = 0
  for (const character of text.replace(COLOURS, '')) cells += cellsOf(character)
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
export function formatTable(
  rows: readonly (readonly string[])[],
  { columns = Number.POSITIVE_INFINITY, long = 'cut' }: TableOptions = {},
): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [index, cell] of row.slice(0, -1).entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell))
  const start = widths.reduce((sum, width) => sum + width + GAP, 0)
  const isNarrow = columns - start < LEAST_ROOM && rows.some((row) => start + widthOf(row.at(-1) ?? '') > columns)
  const fit = (text: string, room: number): readonly string[] =>
    long === 'wrap' ? wrap(text, room) : [shorten(text, room)]
  return rows
    .map((row) => {
      const last = row.at(-1) ?? ''
      const before = row
        .slice(0, -1)
        .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell) + GAP))
      const begin = before.join('')
      if (isNarrow)
        return [begin.trimEnd(), ...fit(last, columns - OWN_LINE.length).map((line) => OWN_LINE + line)].join('\n')
      const room = columns - widthOf(begin)
      return (begin + fit(last, room).join(`\n${' '.repeat(columns - room)}`)).trimEnd()
    })
    .join('\n')
}

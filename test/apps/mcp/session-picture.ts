import type { Line } from './session.ts'

const COLUMNS = 112
const LINE_HEIGHT = 18
const MARGIN = 18
/** Of the usual monospaced fonts at 13 px. */
const CELL = 7.83

const COLORS: Readonly<Record<Line['kind'], string>> = {
  typed: '#ffffff',
  said: '#c9d1d9',
  added: '#7ee787',
  client: '#79c0ff',
}
const SIGNS: Readonly<Record<Line['kind'], string>> = { typed: '$ ', said: '', added: '', client: '→ ' }

/** The terminal with these lines as an SVG of text, which can be searched and selected. */
export function pictureOf(lines: readonly Line[], title: string): string {
  const rows = lines.flatMap(({ kind, text }) => wrapped(SIGNS[kind] + text).map((row) => ({ kind, row })))
  const height = rows.length * LINE_HEIGHT + 2 * MARGIN
  const width = Math.ceil(COLUMNS * CELL + 2 * MARGIN)
  const texts = rows.map(
    ({ kind, row }, index) =>
      `<text x="${MARGIN}" y="${MARGIN + (index + 0.75) * LINE_HEIGHT}" fill="${COLORS[kind]}"${
        kind === 'typed' ? ' font-weight="bold"' : ''
      }>${escaped(row)}</text>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" xml:space="preserve">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...texts,
    '</svg>\n',
  ].join('\n')
}

/** At spaces where there are some; what follows is indented. */
function wrapped(text: string): readonly string[] {
  if (text.length <= COLUMNS) return [text]
  const space = text.lastIndexOf(' ', COLUMNS)
  const end = space > COLUMNS / 2 ? space : COLUMNS
  return [text.slice(0, end), ...wrapped(`    ${text.slice(end).trimStart()}`)]
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

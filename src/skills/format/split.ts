import { withoutUnseen } from '../../kernel/index.ts'
import { found } from './messages/messages.ts'
import type { FormatFound } from './report.ts'

/** A file cut into frontmatter and body. Lines count from 1. */
export type Split =
  | {
      readonly kind: 'found'
      /** The YAML between the markers; its line ends are \n. */
      readonly yaml: string
      /** Offset of `yaml` in the text. */
      readonly start: number
      /** Line of the file on which `yaml` begins. */
      readonly firstLine: number
      /** Everything after the closing line, untouched. */
      readonly body: string
      readonly blankLines: number
      readonly closedByDots: boolean
      readonly loneCr: boolean
    }
  | {
      readonly kind: 'none'
      readonly found: FormatFound
      readonly line: number
      readonly column: number
    }

/** Blank lines, and a line of `---` and blanks at column 1. */
const OPENER = /^(\s*[\r\n])?---[ \t]*(?:\r\n?|\n|$)/
/** The line that ends the frontmatter. */
const CLOSER = /(?:^|\r\n?|\n)(---|\.\.\.)[ \t]*(?:\r\n?|\n|$)/
const LINE_END = /\r\n?|\n/
const MARKER = /^---[ \t]*$/
/** A line that was probably meant as the marker; its end is trimmed, because blanks before $ would take quadratic time. */
const ALMOST_MARKER =
  /^(?:[ \t]+---$|-{4,}$|---[ \t]*[*_#A-Za-z]|--$|-{0,4}[\u2010-\u2015\u2212\u2500\u2501][-\u2010-\u2015\u2212\u2500\u2501]{0,20}$)/
const KEY = /^[\w.-]+[ \t]*:(?:\s|$)/
/** A line of a frontmatter: a key, what is indented below one, or an entry of a list. */
const INNER_LINE = /^(?:[\w.-]+[ \t]*:(?:\s|$)|[ \t]+\S|- )/

/**
 * Finds the frontmatter. The opener is the first line that is not blank, a line of `---` and blanks at column 1; the first line of
 * `---` or `...` after it closes. Three dashes inside a line never count.
 */
export function splitFrontmatter(text: string, directoryName?: string): Split {
  const opener = OPENER.exec(text)
  if (opener === null) return missing(text, directoryName)
  const blankLines = opener[1] === undefined ? 0 : countLineEnds(opener[1])
  const rest = text.slice(opener[0].length)
  const closer = CLOSER.exec(rest)
  if (closer === null) return unterminated(rest, blankLines + 1)
  const end = closer.index + closer[0].indexOf(closer[1] as string)
  const raw = rest.slice(0, end)
  const yaml = raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw
  return {
    kind: 'found',
    yaml,
    start: opener[0].length,
    firstLine: blankLines + 2,
    body: rest.slice(closer.index + closer[0].length),
    blankLines,
    closedByDots: closer[1] === '...',
    loneCr: yaml !== raw && /\r(?!\n)/.test(raw),
  }
}

function countLineEnds(text: string): number {
  return text.split(LINE_END).length - 1
}

/** Where the frontmatter was probably meant to end: a line that is nearly the marker, or the last of its keys. */
function unterminated(rest: string, opener: number): Split {
  const place = { kind: 'none', line: opener, column: 1 } as const
  const lines = rest.split(LINE_END)
  const almost = lines.findIndex(isAlmostMarker)
  if (almost >= 0) return { ...place, found: found('frontmatter-unterminated', { almost: opener + almost + 1 }) }
  const body = lines.findIndex((each) => !INNER_LINE.test(each))
  const last = body > 0 ? opener + body : opener + lines.length - (rest.endsWith('\n') ? 1 : 0)
  return { ...place, found: found('frontmatter-unterminated', { below: last }) }
}

/** How far a frontmatter is searched that is not at the top. */
const LINES_AHEAD = 40

function missing(text: string, directoryName: string | undefined): Split {
  const blank = /^(?:\s*[\r\n])?/.exec(text)?.[0] ?? ''
  const number = countLineEnds(blank) + 1
  const lines = text.slice(blank.length).split(LINE_END, LINES_AHEAD + 1)
  const [first = ''] = lines
  const isMarkerLike = isAlmostMarker(first)
  const opener = lines.findIndex((line, index) => index > 0 && isMarker(line) && KEY.test(lines[index + 1] ?? ''))
  const hasKeys = lines.some((line, index) => KEY.test(line) && (index < 2 || isMarker(lines[index - 1] ?? '')))
  const facts = {
    first: first.trim() === '' ? '' : first,
    isMarker: isMarkerLike,
    hasKeys,
    number,
    directoryName,
    opener,
  }
  return { kind: 'none', line: number, column: 1, found: found('frontmatter-missing', facts) }
}

function isMarker(line: string): boolean {
  return MARKER.test(line)
}

function isAlmostMarker(line: string): boolean {
  const seen = withoutUnseen(line)
  return ALMOST_MARKER.test(seen.trimEnd()) || (seen !== line && isMarker(seen))
}

import type { Edit } from '../kernel/index.ts'
import { shown } from './shown.ts'

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
      readonly kind: 'missing' | 'unterminated'
      readonly line: number
      readonly column: number
      readonly message: string
      readonly fix: string
      readonly edit?: Edit
    }

/** Blank lines, and a line of `---` and blanks at column 1. */
const OPENER = /^(\s*[\r\n])?---[ \t]*(?:\r\n?|\n|$)/
/** The line that ends the frontmatter. */
const CLOSER = /(?:^|\r\n?|\n)(---|\.\.\.)[ \t]*(?:\r\n?|\n|$)/
const LINE_END = /\r\n?|\n/
const MARKER = /^---[ \t]*$/
/** A line that was probably meant as the marker; its end is trimmed, because blanks before $ would take quadratic time. */
const ALMOST_MARKER = /^(?:[ \t]+---$|-{4,}$|---\s*#|--$|[\u2010-\u2015\u2212\u2500\u2501]+$)/
const KEY = /^[\w.-]+[ \t]*:(?:\s|$)/
/** A line of a frontmatter: a key, what is indented below one, or an entry of a list. */
const INNER_LINE = /^(?:[\w.-]+[ \t]*:(?:\s|$)|[ \t]+\S|- )/

/**
 * Finds the frontmatter. The opener is the first line that is not blank, a line of `---` and blanks at column 1; the first line of
 * `---` or `...` after it closes. Three dashes inside a line never count.
 */
export function splitFrontmatter(text: string): Split {
  const opener = OPENER.exec(text)
  if (opener === null) return missing(text)
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
  const finding = {
    kind: 'unterminated',
    line: opener,
    column: 1,
    message: 'the frontmatter that begins here is never closed',
  } as const
  const lines = rest.split(LINE_END)
  const almost = lines.findIndex((line) => isAlmostMarker(line) || isHiddenMarker(line))
  const [line = '', number] = [lines[almost], opener + almost + 1]
  if (isHiddenMarker(line)) {
    const fix = `line ${number} looks like the end; remove ${namesOf(line)}, which is invisible, from it, as nexus skills validate --fix does`
    const start = { line: number, column: 1 }
    const edit = { start, end: { ...start, column: line.length + 1 }, text: seenOf(line) }
    return { ...finding, fix, edit }
  }
  if (almost >= 0)
    return {
      ...finding,
      fix: `line ${number} looks like the end, but the closing line must be exactly --- at column 1`,
    }
  const body = lines.findIndex((each) => !INNER_LINE.test(each))
  const below = body > 0 ? `below line ${opener + body}` : 'after the last key'
  return { ...finding, fix: `write a line of --- ${below}, above the instructions` }
}

const WRITE_IT =
  'begin it with these four lines: "---", "name: my-skill", "description: What it does. Use when …", "---"; the name is that of the directory'

function missing(text: string): Split {
  const blank = /^(?:\s*[\r\n])?/.exec(text)?.[0] ?? ''
  const number = countLineEnds(blank) + 1
  const lines = text.slice(blank.length).split(LINE_END, LINES_AHEAD + 1)
  const [first = ''] = lines
  const finding = { kind: 'missing', line: number, column: 1 } as const
  const hidden = hiddenOpener(lines, number)
  if (hidden !== undefined) return hidden
  if (first.trim() === '') return { ...finding, message: 'the file is empty', fix: WRITE_IT }
  const message = `the file begins with ${shown(first)} instead of a line of ---`
  if (isAlmostMarker(first))
    return { ...finding, message, fix: 'write exactly --- there (three hyphens, U+002D), at column 1' }
  if (KEY.test(first))
    return { ...finding, message, fix: 'write a line of --- before the first key and after the last' }
  if (KEY.test(lines[1] ?? ''))
    return { ...finding, message, fix: 'write --- in place of this line, and another after the last key' }
  const later = lines.findIndex((line, index) => MARKER.test(line) && KEY.test(lines[index + 1] ?? ''))
  if (later < 0) return { ...finding, message, fix: WRITE_IT }
  const fix = `move what stands before line ${number + later} below the closing ---, so that --- is the first line`
  return { ...finding, message, fix }
}

/** How far a frontmatter is looked for that does not stand at the top. */
const LINES_AHEAD = 40

/** Characters that are invisible, or that look like blanks and are none. */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff]/g

/** What people see of a line. */
export function seenOf(line: string): string {
  return line.replace(HIDDEN, '')
}

/** True for the line that begins or ends a frontmatter. */
export function isMarker(line: string): boolean {
  return MARKER.test(line)
}

function isAlmostMarker(line: string): boolean {
  return ALMOST_MARKER.test(line.trimEnd())
}

function isHiddenMarker(line: string): boolean {
  return !isMarker(line) && isMarker(seenOf(line))
}

/** The hidden characters by their numbers, each once. */
export function namesOf(text: string): string {
  return [...new Set(text.match(HIDDEN) ?? [])].map((character) => codePoint(character)).join(' and ')
}

/** The first character of a text as people look it up, such as U+00A0. */
export function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** The opening line when invisible characters are on it, or on the blank lines before it. */
function hiddenOpener(lines: readonly string[], number: number): Split | undefined {
  const opener = lines.findIndex((line) => isHiddenMarker(line) || seenOf(line).trim() !== '' || isMarker(line))
  const line = lines[opener]
  if (line === undefined || !isMarker(seenOf(line))) return undefined
  const before = lines.slice(0, opener + 1)
  const hidden = before.join('')
  const column = Math.max(1, (lines[0] ?? '').search(HIDDEN) + 1)
  const where = number === 1 && opener === 0 && column > 1 ? 'behind' : 'before'
  return {
    ...{ kind: 'missing', line: number, column },
    message: `${namesOf(hidden)}, which is invisible, stands ${where} the opening ---`,
    fix: 'remove it, as nexus skills validate --fix does, so that the first line is --- and nothing else',
    edit: {
      start: { line: number, column: 1 },
      end: { line: number + opener, column: line.length + 1 },
      text: before.map(seenOf).join('\n'),
    },
  }
}

import { codePoint } from './yaml/words.ts'

/** A file cut into frontmatter and body. Lines count from 1. */
export type Split =
  | {
      readonly kind: 'found'
      /** The YAML between the markers; its line ends are \n. */
      readonly yaml: string
      /** Line of the file on which `yaml` begins. */
      readonly firstLine: number
      /** Everything after the closing line, untouched. */
      readonly body: string
      readonly blankLines: number
      readonly closedByDots: boolean
      readonly loneCr: boolean
    }
  | {
      readonly kind: 'missing'
      readonly line: number
      /** From 1; the first when absent. */
      readonly column?: number
      readonly message: string
      readonly fix: string
    }
  | { readonly kind: 'unterminated'; readonly line: number; readonly fix: string }

/** A line with its place. */
export interface Line {
  readonly text: string
  readonly start: number
  readonly next: number
}

const DASH = 45
const DOT = 46
const MARKER = /^---[ \t]*$/
const DOTS = /^\.\.\.[ \t]*$/
const ALMOST_MARKER = /^(?:[ \t]+---|-{4,}|---\s*#.*|--|[\u2010-\u2015\u2212\u2500\u2501]+)[ \t]*$/
/** A line of a frontmatter: a key, what is indented below one, or an entry of a list. */
const KEY_LINE = /^(?:[\w.-]+[ \t]*:(?:\s|$)|[ \t]+\S|- )/

/** The line that begins there. */
export function lineAt(text: string, start: number): Line {
  const lf = text.indexOf('\n', start)
  const last = lf < 0 ? text.length : lf
  let end = start
  while (end < last && text.charCodeAt(end) !== 13) end++
  const crlf = text.charCodeAt(end) === 13 && text.charCodeAt(end + 1) === 10
  return { text: text.slice(start, end), start, next: Math.min(text.length, end + (crlf ? 2 : 1)) }
}

/**
 * Finds the frontmatter. The opener is the first line that is not blank, a line of `---` and blanks at column 1; the first line of
 * `---` or `...` after it closes. Three dashes inside a line never count.
 */
export function splitFrontmatter(text: string): Split {
  let line = lineAt(text, 0)
  let number = 1
  while (line.text.trim() === '' && line.next < text.length) {
    line = lineAt(text, line.next)
    number++
  }
  if (!MARKER.test(line.text)) return missing(line, number, text)
  const opener = number
  const from = line.next
  while (line.next < text.length) {
    line = lineAt(text, line.next)
    number++
    // Few lines begin with one of them.
    const first = line.text.charCodeAt(0)
    if ((first === DASH && MARKER.test(line.text)) || (first === DOT && DOTS.test(line.text))) {
      const raw = text.slice(from, line.start)
      const yaml = raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw
      return {
        kind: 'found',
        yaml,
        firstLine: opener + 1,
        body: text.slice(line.next),
        blankLines: opener - 1,
        closedByDots: line.text.startsWith('.'),
        loneCr: yaml !== raw && /\r(?!\n)/.test(raw),
      }
    }
  }
  return unterminated(text, from, opener)
}

/** Where the frontmatter was probably meant to end: a line that is nearly the marker, or the last of its keys. */
function unterminated(text: string, from: number, opener: number): Split {
  let number = opener
  let lastKey = opener
  for (let next = from; next < text.length;) {
    const line = lineAt(text, next)
    next = line.next
    number++
    if (isHiddenMarker(line.text)) {
      const fix = `line ${number} looks like the end; remove ${namesOf(line.text)}, which nobody sees, from it, as nexus skills validate --fix does`
      return { kind: 'unterminated', line: opener, fix }
    }
    if (ALMOST_MARKER.test(line.text)) {
      const fix = `line ${number} looks like the end, but the closing line must be exactly --- at column 1`
      return { kind: 'unterminated', line: opener, fix }
    }
    if (lastKey === number - 1 && KEY_LINE.test(line.text)) lastKey = number
  }
  const below = lastKey > opener ? `below line ${lastKey}` : 'after the last key'
  return { kind: 'unterminated', line: opener, fix: `write a line of --- ${below}, above the instructions` }
}

type Opener = readonly [pattern: RegExp, message: string, fix: string]

const WRITE_IT =
  'write these four lines on top of it: "---", "name: my-skill", "description: What it does. Use when …", "---"; the name is that of the directory'

/** What stands there instead of ---, whatever follows. */
const OPENERS: readonly Opener[] = [
  [/^$/, 'the file is empty', WRITE_IT.replace('on top of it', 'into it')],
  [/^-{4,}/, 'the first line has more than three dashes', 'the delimiter is a line of exactly three dashes: ---'],
  [/^--?[ \t]*$/, 'the first line has fewer than three dashes', 'the delimiter is a line of exactly three dashes: ---'],
  [
    /^[\u2010-\u2015\u2212\u2500\u2501]+[ \t]*$/,
    'the first line is made of other dashes than those of the keyboard',
    'write --- with three hyphens (U+002D) instead, there and at the end of the frontmatter',
  ],
  [/^[ \t]+---[ \t]*$/, 'the opening --- is indented', 'move --- to the start of its line'],
  [/^\+\+\+/, 'the file begins with +++, which is TOML', 'write the frontmatter as YAML between lines of ---, not +++'],
  [/^---\s*#/, 'a comment follows the opening ---', 'put nothing after the three dashes'],
  [
    /^---\s*\S/,
    'the opening --- is followed by text; engines such as ---js are not accepted',
    'put nothing after the three dashes',
  ],
]

/** What stands before it, when the frontmatter comes later. */
const BEFORE: readonly Opener[] = [
  [/^(?:```|~~~)/, 'a code fence stands before the frontmatter', 'remove the fence, so that --- is the first line'],
  [
    /^<!--/,
    'an HTML comment stands before the frontmatter',
    'move the comment below the frontmatter, so that --- is the first line',
  ],
]

/** What the file is, when no frontmatter comes later. */
const WITHOUT: readonly Opener[] = [
  [
    /^(?:```|~~~)/,
    'the frontmatter stands in a code fence instead of between two lines of ---',
    'write --- instead of the two lines of the fence',
  ],
  [/^<!--/, 'an HTML comment stands where the frontmatter belongs', WRITE_IT],
  [/^#!/, 'the file begins like a script', WRITE_IT],
  [/^\{/, 'the file begins with JSON', 'put the keys between two lines of ---'],
  [
    /^["']?[\w-]+["']?:(?:\s|$)/,
    'the keys are not between two lines of ---',
    'write a line of --- before the first key and after the last',
  ],
]

function missing(first: Line, line: number, text: string): Split {
  const hidden = hiddenOpener(text, first, line)
  if (hidden !== undefined) return hidden
  const shown = first.text.trim() === '' ? '' : first.text
  const later = laterFrontmatter(text, first, line)
  const rows = [...OPENERS, ...(later === undefined ? WITHOUT : BEFORE)]
  const row = rows.find(([pattern]) => pattern.test(shown))
  if (row) return { kind: 'missing', line, message: row[1], fix: row[2] }
  if (later === undefined) {
    return { kind: 'missing', line, message: 'the file begins with text instead of frontmatter', fix: WRITE_IT }
  }
  const what = line === later - 1 ? `line ${line}` : `lines ${line} to ${later - 1}`
  return {
    kind: 'missing',
    line,
    message: `the file begins with text; its frontmatter begins only on line ${later}`,
    fix: `move ${what} below the closing ---, so that --- is the first line`,
  }
}

/** How far a frontmatter is looked for that does not stand at the top. */
export const LINES_AHEAD = 40

/** The line of a --- that a key follows. */
function laterFrontmatter(text: string, first: Line, number: number): number | undefined {
  let line = first
  for (let ahead = 1; ahead <= LINES_AHEAD && line.next < text.length; ahead++) {
    line = lineAt(text, line.next)
    if (MARKER.test(line.text) && /^[\w.-]+[ \t]*:(?:\s|$)/.test(lineAt(text, line.next).text)) return number + ahead
  }
  return undefined
}

/** Characters that nobody sees, or that look like blanks and are none. */
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

function isHiddenMarker(line: string): boolean {
  return !isMarker(line) && isMarker(seenOf(line))
}

/** The hidden characters by their numbers, each once. */
export function namesOf(text: string): string {
  return [...new Set(text.match(HIDDEN) ?? [])].map((character) => codePoint(character)).join(' and ')
}

/** The opening line when nobody sees why it is none: characters on it, or on the blank lines before it. */
function hiddenOpener(text: string, first: Line, number: number): Split | undefined {
  let line = first
  for (let ahead = 0; ahead < LINES_AHEAD; ahead++) {
    if (isHiddenMarker(line.text) || (ahead > 0 && MARKER.test(line.text))) {
      const hidden = text.slice(0, line.next)
      const column = first.text.search(HIDDEN) + 1
      const where = number === 1 && ahead === 0 && column > 1 ? 'behind' : 'before'
      return {
        kind: 'missing',
        line: number,
        column: Math.max(1, column),
        message: `${namesOf(hidden)}, which nobody sees, stands ${where} the opening ---`,
        fix: 'remove it, as nexus skills validate --fix does, so that the first line is --- and nothing else',
      }
    }
    if (seenOf(line.text).trim() !== '' || line.next >= text.length) return undefined
    line = lineAt(text, line.next)
  }
  return undefined
}

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
  | { readonly kind: 'missing'; readonly line: number; readonly message: string; readonly fix: string }
  | { readonly kind: 'unterminated'; readonly line: number; readonly fix: string }

interface Line {
  readonly text: string
  readonly start: number
  readonly next: number
}

const MARKER = /^---[ \t]*$/
const DOTS = /^\.\.\.[ \t]*$/
const ALMOST_MARKER = /^(?:[ \t]+---|-{4,}|---\s*#.*|--)[ \t]*$/

function lineAt(text: string, start: number): Line {
  let end = start
  while (end < text.length && text.charCodeAt(end) !== 10 && text.charCodeAt(end) !== 13) end++
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
  if (!MARKER.test(line.text)) return missing(line.text, number)
  const opener = number
  const from = line.next
  let almost = 0
  while (line.next < text.length) {
    line = lineAt(text, line.next)
    number++
    if (MARKER.test(line.text) || DOTS.test(line.text)) {
      const raw = text.slice(from, line.start)
      const yaml = raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw
      return {
        kind: 'found',
        yaml,
        firstLine: opener + 1,
        body: text.slice(line.next),
        blankLines: opener - 1,
        closedByDots: line.text.startsWith('.'),
        loneCr: /\r(?!\n)/.test(raw),
      }
    }
    if (almost === 0 && ALMOST_MARKER.test(line.text)) almost = number
  }
  return {
    kind: 'unterminated',
    line: opener,
    fix:
      almost > 0
        ? `line ${almost} looks like the end, but the closing line must be exactly --- at column 1`
        : 'write a line of --- after the last key, before the instructions',
  }
}

const OPENERS: readonly (readonly [pattern: RegExp, message: string, fix: string])[] = [
  [/^$/, 'the file is empty', 'begin with a line of ---, then name: and description:, then a line of ---'],
  [/^-{4,}/, 'the first line has more than three dashes', 'the delimiter is a line of exactly three dashes: ---'],
  [/^[ \t]+---[ \t]*$/, 'the opening --- is indented', 'move --- to the start of its line'],
  [/^\+\+\+/, 'the file begins with +++, which is TOML', 'write the frontmatter as YAML between lines of ---, not +++'],
  [/^---\s*#/, 'a comment follows the opening ---', 'put nothing after the three dashes'],
  [
    /^---\s*\S/,
    'the opening --- is followed by text; engines such as ---js are not accepted',
    'put nothing after the three dashes',
  ],
  [/^(?:```|~~~)/, 'a code fence stands before the frontmatter', 'remove the fence, so that --- is the first line'],
  [
    /^<!--/,
    'an HTML comment stands before the frontmatter',
    'move the comment below the frontmatter, so that --- is the first line',
  ],
  [/^#!/, 'the file begins like a script', 'a SKILL.md begins with a line of ---'],
  [/^\{/, 'the file begins with JSON', 'put the keys between two lines of ---'],
  [
    /^["']?[\w-]+["']?:(?:\s|$)/,
    'the keys are not between two lines of ---',
    'write a line of --- before the first key and after the last',
  ],
]

function missing(first: string, line: number): Split {
  const row = OPENERS.find(([pattern]) => pattern.test(first.trim() === '' ? '' : first))
  const message = row?.[1] ?? 'the file begins with text instead of frontmatter'
  const fix = row?.[2] ?? 'begin with a line of ---, then name: and description:, then a line of ---'
  return { kind: 'missing', line, message, fix }
}

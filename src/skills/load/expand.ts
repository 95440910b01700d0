export interface ExpandOptions {
  /** Spaces around them do not matter. */
  readonly args: string
  /** Names of the skill's `arguments:`; `$ARGUMENTS[N]`, `$N` and `$name` mean something only when there are any. */
  readonly argumentNames: readonly string[]
  /** The skill's directory as its commands see it. */
  readonly baseDir: string
}

/** The groups of a match; only those of its placeholder are set. */
interface Found {
  readonly directory?: string
  readonly all?: string
  readonly index?: string
  readonly number?: string
  readonly name?: string
}

const DIRECTORY = String.raw`(?<directory>\{baseDir\}|\$\{(?:CLAUDE|NEXUS)_SKILL_DIR\})`
const ALL = String.raw`(?<all>\$ARGUMENTS)`
const WORD_ENDS = String.raw`(?![\p{L}\p{N}_])`

/**
 * The body with its placeholders replaced, in one pass: what an argument brings in is never expanded again, and `$&` in it is text.
 * `$ARGUMENTS` is replaced everywhere; arguments that no placeholder took up are appended as `ARGUMENTS: …`.
 * Blank lines at the start and white space at the end are dropped. Source: decisions, "$ARGUMENTS"; contracts §4.2.
 */
export function expand(body: string, { args, argumentNames, baseDir }: ExpandOptions): string {
  const given = args.trim()
  const values = argumentNames.length > 0 ? splitArguments(given) : []
  const valueOf = ({ all, index, number, name }: Found): string | undefined => {
    if (all !== undefined) return given
    return values[name === undefined ? Number(index ?? number) : argumentNames.indexOf(name)]
  }
  let isTaken = false
  const expanded = body.replace(pattern(argumentNames), (match: string, ...rest: unknown[]) => {
    const found = rest.at(-1) as Found
    if (match.startsWith('\\')) return match.slice(1)
    if (found.directory !== undefined) return baseDir
    const value = valueOf(found)
    if (value !== undefined) isTaken = true
    return value ?? match
  })
  const text = expanded.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd()
  if (isTaken || given === '') return text
  return text === '' ? `ARGUMENTS: ${given}` : `${text}\n\nARGUMENTS: ${given}`
}

/** Without declared arguments a `$1` is a price or a shell variable, and a backslash is a backslash. */
function pattern(argumentNames: readonly string[]): RegExp {
  if (argumentNames.length === 0) return new RegExp(`${DIRECTORY}|${ALL}`, 'g')
  const places = [String.raw`\$ARGUMENTS\[(?<index>\d+)\]`, ALL, String.raw`\$(?<number>\d+)${WORD_ENDS}`]
  // Longest first, so that $file-name is not read as $file.
  const names = argumentNames
    .filter((name) => /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(name))
    .toSorted((a, b) => b.length - a.length)
  if (names.length > 0) places.push(String.raw`\$(?<name>${names.join('|')})${WORD_ENDS}`)
  return new RegExp(`${DIRECTORY}|${String.raw`\\?`}(?:${places.join('|')})`, 'gu')
}

/** One word of a shell line: runs of plain text, escaped characters, '…' and "…"; a quote may be left open at the end. */
const WORD = /(?:[^\s'"\\]|\\[^]|\\$|'[^']*(?:'|$)|"(?:[^"\\]|\\[^])*(?:"|\\?$))+/g
const QUOTED = /'(?<single>[^']*)(?:'|$)|"(?<double>(?:[^"\\]|\\[^])*)(?:"|\\?$)|\\(?<escaped>[^]?)/g

/**
 * Splits as a shell splits words: white space separates, '…' is literal, a backslash keeps the next character, in "…" only
 * before `"`, `\`, `$` and a backquote. Nothing is expanded. A quote that is never closed reaches to the end.
 */
export function splitArguments(text: string): string[] {
  return (text.match(WORD) ?? []).map((word) =>
    word.replace(QUOTED, (...match: unknown[]) => {
      const { single, double, escaped } = match.at(-1) as { single?: string; double?: string; escaped?: string }
      return single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? ''
    }),
  )
}

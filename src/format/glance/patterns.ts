/**
 * What may stand in a frontmatter for it to be understood at a glance, as patterns over its bytes read as Latin-1. Patterns run as machine
 * code from the start, which code that has to get warm does not. Each is small, because it is compiled when it is first needed, and takes
 * linear time: what may follow begins differently from what goes on.
 */

const CONTROLS = '\\x00-\\x1f\\x7f'
const WIDE = '\\x80-\\xff'
/** Keys longer than 1,024 characters are faults in YAML; texts that are glanced at are not longer. */
const KEY = '[A-Za-z_][\\w.-]*'
const END = '\\r?\\n'
/** null, true and false in any case. */
export const WORD = '(?:[nN][uU][lL][lL]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])'

/** The patterns of one reader: a sticky pattern has a place, so they are not for all. Each goes past the end of its line. */
export interface Patterns {
  /** `key: value`, by the form of the value. */
  readonly entry: Forms
  /** A value alone. */
  readonly value: Forms
  /** `key:` */
  readonly open: RegExp
  /** `key: |` with its lines: each two blanks in and without blanks at its end; blank lines are empty. */
  readonly block: RegExp
  /** The line that ends a frontmatter. */
  readonly closer: RegExp
}

export interface Forms {
  readonly plain: RegExp
  readonly double: RegExp
  readonly single: RegExp
  readonly list: RegExp
  readonly number: RegExp
}

export function createPatterns(set: 'ascii' | 'all'): Patterns {
  const wide = set === 'all' ? WIDE : ''
  const text = (without: string): string => `[^${without}${CONTROLS}${wide === '' ? WIDE : ''}]*`
  const line = ` {2}(?! )${text('')}(?<! )${END}`
  return {
    entry: forms(`${KEY}: +`, wide, text),
    value: forms('', wide, text),
    open: sticky(`${KEY}: *${END}`),
    block: sticky(`${KEY}: +[|>]-? *${END}${line}(?:${line}|${END})*`),
    closer: sticky(`--- *${END}`),
  }
}

function forms(before: string, wide: string, text: (without: string) => string): Forms {
  const words = text(':#')
  const inDouble = text('"\\\\')
  const item = `(?:"[^"\\\\${CONTROLS}${WIDE}]*"|(?!${WORD}[ ,\\]])[A-Za-z_][\\w./-]*)`
  return {
    // A colon before a blank, and a number sign behind one, mean something.
    plain: sticky(`${before}[A-Za-z_/($${wide}]${words}(?:(?::(?![ \\r\\n])|(?<! )#)${words})*${END}`),
    double: sticky(`${before}"${inDouble}(?:\\\\["\\\\/nt]${inDouble})*" *${END}`),
    single: sticky(`${before}'${text("'")}(?:''${text("'")})*' *${END}`),
    list: sticky(`${before}\\[(?:${item}(?:, *${item})*)?\\] *${END}`),
    number: sticky(`${before}\\d{1,7}(?:\\.\\d{1,7})* *${END}`),
  }
}

function sticky(source: string): RegExp {
  return new RegExp(source, 'y')
}

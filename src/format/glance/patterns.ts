/**
 * What may stand in a frontmatter for it to be understood at a glance, as one pattern over its bytes read as Latin-1. A pattern runs as
 * machine code from the start, which code that has to get warm does not, and one call for all lines costs less than one for each. It
 * takes linear time: what may follow begins differently from what goes on.
 */

const CONTROLS = '\\x00-\\x1f\\x7f'
const WIDE = '\\x80-\\xff'
/** Keys longer than 1,024 characters are faults in YAML; texts that are glanced at are not longer. */
const KEY = '[A-Za-z_][\\w.-]*'
const END = '\\r?\\n'
/** null, true and false in any case. */
export const WORD = '(?:[nN][uU][lL][lL]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])'

/**
 * As many lines as are understood, from where it is put: `key: value`, `key:`, each behind a dash or not, `- value`, and `key: |` at the
 * first column with its lines, each two blanks in and without blanks at its end; blank lines there are empty. How they are indented is not
 * looked at. A sticky pattern has a place, so each reader has its own.
 */
export function createLinesPattern(set: 'ascii' | 'all'): RegExp {
  const line = ` {2}(?! )${textOf(set, '')}(?<! )${END}`
  const block = `${KEY}: +[|>]-? *${END}${line}(?:${line}|${END})*(?![ \\r\\n])`
  return new RegExp(`(?: *(?:(?:- )?${KEY}: +|- )${valueOf(set)}| *(?:- )?${KEY}: *${END}|${block})*`, 'y')
}

/** The line that ends a frontmatter. */
export function createCloserPattern(): RegExp {
  return new RegExp(`--- *${END}`, 'y')
}

/** A value to the end of its line. Its first character tells its form. */
function valueOf(set: 'ascii' | 'all'): string {
  const words = textOf(set, ':#')
  const inDouble = textOf(set, '"\\\\')
  const inSingle = textOf(set, "'")
  const item = `(?:"[^"\\\\${CONTROLS}${WIDE}]*"|(?!${WORD}[ ,\\]])[A-Za-z_][\\w./-]*)`
  const forms = [
    // A colon before a blank, and a number sign behind one, mean something.
    `[A-Za-z_/($<${set === 'all' ? WIDE : ''}]${words}(?:(?::(?![ \\r\\n])|(?<! )#)${words})*`,
    `"${inDouble}(?:\\\\["\\\\/nt]${inDouble})*" *`,
    `\\[(?:${item}(?:, *${item})*)?\\] *`,
    `'${inSingle}(?:''${inSingle})*' *`,
    `\\d{1,7}(?:\\.\\d{1,7})* *`,
  ]
  return `(?:${forms.join('|')})${END}`
}

/** Characters that are no control characters, and none of some others. */
function textOf(set: 'ascii' | 'all', without: string): string {
  return `[^${without}${CONTROLS}${set === 'all' ? '' : WIDE}]*`
}

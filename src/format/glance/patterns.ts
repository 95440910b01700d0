/**
 * What may stand in a frontmatter for it to be understood at a glance, as patterns over its bytes read as Latin-1. Patterns run as machine
 * code from the start, which code that has to get warm does not. None can take more than linear time: alternatives begin differently.
 */

const CONTROLS = '\\x00-\\x1f\\x7f'
/** Keys longer than 1,024 characters are faults in YAML; texts that are glanced at are not longer. */
const KEY = '[A-Za-z_][\\w.-]*'
/** null, true and false in any case. */
export const WORD = '(?:[nN][uU][lL][lL]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])'

/** Values on one line. `others`: the bytes above ASCII, when they are allowed. */
function valueOf(others: string): string {
  const text = (without: string): string => `[^${without}${CONTROLS}${others === '' ? '\\x80-\\xff' : ''}]*`
  // A colon before a blank, and a number sign behind one, mean something.
  const plain = `[A-Za-z_/($${others}]${text(':#')}(?:(?::(?![ \\r\\n])|(?<! )#)${text(':#')})*`
  const number = '\\d{1,7}(?:\\.\\d{1,7})*(?= *\\r?\\n)'
  const double = `"${text('"\\\\')}(?:\\\\["\\\\/nt]${text('"\\\\')})*"`
  const single = `'${text("'")}(?:''${text("'")})*'`
  const item = `(?:"${text('"\\\\')}"|(?!${WORD}[ ,\\]])[A-Za-z_][\\w./-]*)`
  const list = `\\[(?:${item}(?:, *${item})*)?\\]`
  return `(?:${plain}|${double}|${single}|${list}|${number})`
}

function entry(others: string, prefix = ''): RegExp {
  return new RegExp(`${prefix}${KEY}:(?: +${valueOf(others)})? *\\r?\\n`, 'y')
}

/** An item that is a value. A key with its colon is none: plain text does not hold that. */
function value(others: string): RegExp {
  return new RegExp(`- ${valueOf(others)} *\\r?\\n`, 'y')
}

/** Lines of a block scalar, each two blanks in and without blanks at its end; blank lines are empty. */
function block(others: string): RegExp {
  const inside = `[^${CONTROLS}${others === '' ? '\\x80-\\xff' : ''}]*`
  const edge = `[^ ${CONTROLS}${others === '' ? '\\x80-\\xff' : ''}]`
  const line = ` {2}${edge}(?:${inside}${edge})?\\r?\\n`
  return new RegExp(`${KEY}: +[|>]-? *\\r?\\n${line}(?:${line}|\\r?\\n)*`, 'y')
}

/** The patterns of one reader: a sticky pattern has a place, so they are not for all. */
export interface Patterns {
  /** A line `key: value` or `key:`. */
  readonly entry: RegExp
  /** A line `- key: value` or `- key:`. */
  readonly item: RegExp
  /** A line `- value`. */
  readonly value: RegExp
  /** `key: |` with its lines. */
  readonly block: RegExp
}

export function createPatterns(set: 'ascii' | 'all'): Patterns {
  const others = set === 'ascii' ? '' : '\\x80-\\xff'
  return { entry: entry(others), item: entry(others, '- '), value: value(others), block: block(others) }
}

/** The line that ends a frontmatter. */
export const CLOSER = '--- *\\r?\\n'

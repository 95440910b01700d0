/** indentation: which line of a text that is not YAML begins in a column where no key or item can begin. */

export interface WrongIndent {
  /** Of the beginning of the line. */
  readonly offset: number
  /** 1-based. */
  readonly line: number
  /** Spaces at its beginning. */
  readonly spaces: number
  /** Spaces before the other keys or items there. */
  readonly wanted: number
  readonly of: 'keys' | 'items'
}

/** Where a key or an item can begin, by the lines above. */
interface Column {
  readonly spaces: number
  readonly of: WrongIndent['of']
}

/** `- ` before a key or a value, several where a list contains lists. */
const LINE = /^( *)((?:- +)*)(.*)$/
const KEY = /^(?:"[^"]*"|'[^']*'|[\w.$/-]+):(?: |$)/
const BLOCK_TEXT = /(?:^|\s)[|>][+-]?\d?[+-]?\s*(?:#.*)?$/

/** The first line from `offset` on, or the one after it, that begins where nothing can begin. */
export function wrongIndent(text: string, offset: number): WrongIndent | undefined {
  const first = text.slice(0, offset).split('\n').length
  let open: readonly Column[] = []
  let opensMap = true
  let checked = 0
  for (const { offset: at, line, spaces, dashes, rest } of beginningsIn(text)) {
    const of = dashes === '' ? 'keys' : 'items'
    const isSame = (column: Column): boolean => column.spaces === spaces && column.of === of
    if (line >= first) {
      const wanted = opensMap || open.some(isSame) ? undefined : nearestOf(open, spaces, of)
      if (wanted !== undefined) return { offset: at, line, spaces, wanted, of }
      if (++checked > 1) return undefined
    }
    open = [...open.filter((column) => column.spaces < spaces || isSame(column)), ...columnsOf(spaces, dashes)]
    opensMap = /:\s*(?:#.*)?$/.test(rest)
  }
  return undefined
}

/** A line on which a key or an item begins. */
interface Beginning {
  readonly offset: number
  readonly line: number
  readonly spaces: number
  readonly dashes: string
  readonly rest: string
}

/** Without comments, and without the lines of block texts. */
function* beginningsIn(text: string): Generator<Beginning> {
  let offset = 0
  let insideText = Number.POSITIVE_INFINITY
  for (const [index, line] of text.split('\n').entries()) {
    const at = offset
    offset += line.length + 1
    const [, { length: spaces } = '', dashes = '', rest = ''] = LINE.exec(line.trimEnd()) ?? []
    if (rest + dashes === '' || rest.startsWith('#') || spaces > insideText) continue
    insideText = BLOCK_TEXT.test(rest) ? spaces : Number.POSITIVE_INFINITY
    if (dashes !== '' || KEY.test(rest)) yield { offset: at, line: index + 1, spaces, dashes, rest }
  }
}

function columnsOf(spaces: number, dashes: string): readonly Column[] {
  if (dashes === '') return [{ spaces, of: 'keys' }]
  return [
    { spaces, of: 'items' },
    { spaces: spaces + dashes.length, of: 'keys' },
  ]
}

/** The column that is nearest; of two, the inner one. */
function nearestOf(open: readonly Column[], spaces: number, of: Column['of']): number | undefined {
  const known = open.filter((column) => column.of === of).map((column) => column.spaces)
  return known.toSorted((a, b) => Math.abs(a - spaces) - Math.abs(b - spaces) || b - a)[0]
}

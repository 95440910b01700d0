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
  const lines = text.split('\n')
  const atLine = text.slice(0, offset).split('\n').length - 1
  let open: readonly Column[] = []
  let opensMap = true
  let insideText: number | undefined
  let checked = 0
  let start = 0
  for (const [index, line] of lines.entries()) {
    const from = start
    start += line.length + 1
    const [, before = '', dashes = '', rest = ''] = LINE.exec(line.trimEnd()) ?? []
    const spaces = before.length
    if (rest + dashes === '' || rest.startsWith('#')) continue
    if (insideText !== undefined && spaces > insideText) continue
    insideText = undefined
    const isItem = dashes !== ''
    const of = isItem ? 'items' : 'keys'
    if (!isItem && !KEY.test(rest)) continue
    const isOpen = opensMap || open.some((column) => column.spaces === spaces && column.of === of)
    if (index >= atLine) {
      const wanted = isOpen ? undefined : nearestOf(open, spaces, of)
      if (wanted !== undefined) return { offset: from, line: index + 1, spaces, wanted, of }
      if (++checked > 1) return undefined
    }
    const kept = open.filter((column) => column.spaces < spaces || (column.spaces === spaces && column.of === of))
    open = [...kept, ...columnsOf(spaces, dashes)]
    opensMap = /:\s*(?:#.*)?$/.test(rest)
    if (BLOCK_TEXT.test(rest)) insideText = spaces
  }
  return undefined
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

import { type JsonValue, toSafeJson } from '../../kernel/index.ts'

/** A list of which each row is made when it is written. */
export interface Rows {
  readonly count: number
  readonly row: (index: number) => JsonValue
}

export function rowsOf<T>(items: readonly T[], toRow: (item: T) => JsonValue): Rows {
  return { count: items.length, row: (index) => toRow(items[index] as T) }
}

/** Rows that are made together: some 30 KB of text, which is gone before the next are made. */
const AT_ONCE = 64
/** What stands around rows that are as deep as those of a list in `data`. */
const BEFORE = '[\n  [\n    ['.length
const AFTER = '\n    ]\n  ]\n]'.length
/** A row that only brings the comma behind the one before it. */
const MORE = 0
const AFTER_COMMA = `\n      ${MORE}`.length + AFTER

/**
 * The text of `toSafeJson(document, 2)` with a line break behind it, in parts, so that thousands of rows are never in memory together.
 * Each of `lists` stands empty in the `data` of the document, under its name and in the same order.
 */
export function* inParts(document: JsonValue, lists: Readonly<Record<string, Rows>>): Generator<string> {
  const text = `${toSafeJson(document, 2)}\n`
  let told = 0
  for (const [name, list] of Object.entries(lists)) {
    if (list.count === 0) continue
    // No text of a string looks like it: in JSON they have no line breaks.
    const empty = `\n    ${JSON.stringify(name)}: [`
    const gap = text.indexOf(`${empty}]`, told) + empty.length
    yield `${told === 0 ? '' : '\n    '}${text.slice(told, gap)}`
    told = gap
    for (let from = 0; from < list.count; from += AT_ONCE) yield rowsFrom(list, from)
  }
  yield `${told === 0 ? '' : '\n    '}${text.slice(told)}`
}

/** As one slice of what was made: to join texts would copy them. */
function rowsFrom({ count, row }: Rows, from: number): string {
  const rows: JsonValue[] = []
  const end = Math.min(count, from + AT_ONCE)
  for (let index = from; index < end; index++) rows.push(row(index))
  if (end < count) rows.push(MORE)
  return toSafeJson([[rows]], 2).slice(BEFORE, end < count ? -AFTER_COMMA : -AFTER)
}

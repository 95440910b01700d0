import {
  CLOSE_BRACKET,
  COMMA,
  DASH,
  DOUBLE_QUOTE,
  LF,
  NINE,
  OPEN_BRACKET,
  SINGLE_QUOTE,
  SPACE,
} from '../quick/bytes.ts'
import { isBlank } from './glance.ts'
import { WORD } from './patterns.ts'

const IS_WORD = new RegExp(`^${WORD}$`)
/** Bytes of a character that is not ASCII. */
const IS_WIDE = /[\x80-\xff]/
/** A value, and not `- key: value`. */
const IS_ITEM = /^- (?:["']|[\w/($.-](?:[^:]|:(?! |$))*$)/

/** How many blanks stand there. */
export function indentAt(text: string, start: number): number {
  let at = start
  while (text.charCodeAt(at) === SPACE) at++
  return at - start
}

/** What stands on a line from there on, without the blanks around it. */
export function restOf(text: string, start: number): string {
  let from = start
  let end = text.indexOf('\n', start)
  while (text.charCodeAt(from) === SPACE) from++
  while (end > from && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(from, end)
}

/** True when nothing stands on the line from there on. */
export function isOpenAt(text: string, start: number): boolean {
  let from = start
  while (text.charCodeAt(from) === SPACE) from++
  return isBlank(text.charCodeAt(from))
}

/**
 * Different texts behind a key that ends at `start`, in brackets or as items on lines below it; undefined when it is something else. The
 * key is `above` blanks in, and the lines are those that a glance has accepted.
 */
export function listAt(text: string, start: number, above: number): readonly string[] | undefined {
  let from = start
  while (text.charCodeAt(from) === SPACE) from++
  const first = text.charCodeAt(from)
  if (first === OPEN_BRACKET) return inBrackets(text, from + 1)
  return isBlank(first) ? items(text, text.indexOf('\n', from) + 1, above) : undefined
}

/** `a, "b"]`: words, and texts in double quotes without escapes. */
function inBrackets(text: string, start: number): readonly string[] | undefined {
  let texts: string[] | undefined
  for (let at = start; text.charCodeAt(at) !== CLOSE_BRACKET;) {
    const isQuoted = text.charCodeAt(at) === DOUBLE_QUOTE
    const end = isQuoted ? text.indexOf('"', at + 1) : endOfWord(text, at)
    const item = text.slice(isQuoted ? at + 1 : at, end).trim()
    if (item === '' || texts?.includes(item) === true) return undefined
    if (texts) texts.push(item)
    else texts = [item]
    at = afterComma(text, isQuoted ? end + 1 : end)
  }
  // An array that grew keeps room for sixteen more, a copy does not.
  return texts !== undefined && texts.length > 1 ? texts.slice() : (texts ?? [])
}

function afterComma(text: string, start: number): number {
  let at = start
  while (text.charCodeAt(at) === COMMA || text.charCodeAt(at) === SPACE) at++
  return at
}

function endOfWord(text: string, start: number): number {
  let at = start
  while (text.charCodeAt(at) !== COMMA && text.charCodeAt(at) !== CLOSE_BRACKET && text.charCodeAt(at) !== LF) at++
  return at
}

function items(text: string, start: number, above: number): readonly string[] | undefined {
  const texts: string[] = []
  const level = indentAt(text, start)
  let at = start
  let indent = level
  while (indent === level && text.charCodeAt(at + level) === DASH) {
    const line = restOf(text, at)
    const item = IS_ITEM.test(line) ? textOf(line.slice(2)) : undefined
    if (item === undefined || texts.includes(item)) return undefined
    texts.push(item)
    at = text.indexOf('\n', at) + 1
    indent = indentAt(text, at)
  }
  return indent < level && level > above ? texts.slice() : undefined
}

/** A text that is not empty; undefined for numbers, words such as null, and lists. */
export function textOf(value: string): string | undefined {
  const text = unquoted(value)?.trim()
  return text === '' ? undefined : text
}

function unquoted(value: string): string | undefined {
  if (IS_WIDE.test(value)) return undefined
  const first = value.charCodeAt(0)
  if (first === DOUBLE_QUOTE) return value.includes('\\') ? (JSON.parse(value) as string) : value.slice(1, -1)
  if (first === SINGLE_QUOTE) return value.slice(1, -1).replaceAll("''", "'")
  const isNoText = (first >= 48 && first <= NINE) || first === OPEN_BRACKET || (value.length < 6 && IS_WORD.test(value))
  return isNoText ? undefined : value
}

import { isKey } from './fast-scalars.ts'

/** Parts of lines as the fast reader reads them. */

const SPACE = 32
const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39

export function indentOf(line: string): number {
  let indent = 0
  while (line.charCodeAt(indent) === SPACE) indent++
  return indent
}

/** Where the colon of a key is; -1 without one. */
export function keyEnd(line: string, from: number): number {
  const quote = line.charCodeAt(from)
  if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
    const end = line.indexOf(line[from] as string, from + 1) + 1
    return end > 0 && line[end] === ':' && isEndOrSpace(line, end + 1) ? end : -1
  }
  let at = line.indexOf(':', from)
  while (at >= 0 && !isEndOrSpace(line, at + 1)) at = line.indexOf(':', at + 1)
  return at
}

export function isEndOrSpace(line: string, at: number): boolean {
  return at === line.length || line.charCodeAt(at) === SPACE
}

/** The key without its quotes; undefined for one that the library must read. */
export function keyIn(written: string): string | undefined {
  const key = written[0] === '"' || written[0] === "'" ? written.slice(1, -1) : written
  return isKey(key) ? key : undefined
}

/** A value without the blanks around it and the comment behind it; a text in quotes may hold what looks like one. */
export function withoutComment(raw: string): string {
  const text = raw.trim()
  if (text[0] === '#') return ''
  if (text[0] === '"' || text[0] === "'") return text
  const hash = text.indexOf(' #')
  return hash < 0 ? text : text.slice(0, hash).trimEnd()
}

export function hasNoColon(text: string): boolean {
  return !text.includes(': ') && !text.endsWith(':')
}

/** One line break becomes a blank, each further one stays. Lines that are indented deeper are not folded, so they are declined. */
export function folded(body: readonly string[]): string | undefined {
  let text = ''
  let breaks = 0
  for (const line of body) {
    if (line[0] === ' ') return undefined
    if (line === '') breaks++
    else {
      text += (breaks > 0 ? '\n'.repeat(breaks) : text === '' ? '' : ' ') + line
      breaks = 0
    }
  }
  return text
}

/** text-range: the lines of a text that a model asked for, as many as fit into one answer. */
import { type JsonObject, type Outcome, succeeded } from '../../kernel/index.ts'
import { type Head, headOf, type OutcomeLimits, toTruncation } from '../bound.ts'
import { failedBy, hiddenNote, READS } from '../messages.ts'
import type { RedactText } from '../services.ts'

export const RANGE = {
  offset: { type: 'integer', minimum: 1, description: 'First line to read, from 1' },
  limit: { type: 'integer', minimum: 1, description: 'Most lines to read' },
} as const

/** With room for the line that says where to read on. */
const ANSWER: OutcomeLimits = { maxLines: 1900, maxBytes: 50_000 }

export interface TextRead {
  readonly path: string
  readonly content: string
  /** In bytes. */
  readonly size: number
  /** More data for the outcome; its bytes count. */
  readonly data?: JsonObject
  /** For the outcome; default `path`. */
  readonly absolute?: string
}

export interface Range {
  readonly offset: number
  readonly limit: number
  readonly answer?: OutcomeLimits | undefined
  readonly redact?: RedactText | undefined
}

export function rangeOf({
  offset = 1,
  limit = Infinity,
}: JsonObject | { offset?: number; limit?: number }): Pick<Range, 'offset' | 'limit'> {
  return { offset: Number(offset), limit: Number(limit) }
}

/** The lines from `offset` on. A part of the text is partial, and names the line to go on with. */
export function readRange(
  { path, content, size, data: known = {}, absolute = path }: TextRead,
  { offset, limit, answer = ANSWER, redact = (text) => text }: Range,
): Outcome {
  const more = { path: absolute, stats: { bytes: size } }
  if (content === '') return succeeded(READS.empty(path), { ...known, content }, more)
  const rest = fromLine(content, offset)
  if (rest === undefined) return failedBy('INVALID_PARAM', READS.noLine(path, offset))
  const maxBytes = answer.maxBytes - Buffer.byteLength(JSON.stringify(known))
  const limits: OutcomeLimits = { maxLines: Math.min(limit, answer.maxLines), maxBytes }
  // No character has more than three bytes or begins more than one line: then nothing needs to be counted.
  const fits = rest.length <= limits.maxLines && 3 * rest.length <= limits.maxBytes
  if (fits) return succeeded(shownWhole(rest), { ...known, content: rest }, more)
  const head = headOf(rest, limits)
  if (!head.isCut) return succeeded(shownWhole(head.text), { ...known, content: head.text }, more)
  const lines = wholeLines(head, rest)
  // A cut may go through a secret, whose beginning cannot be recognised as one.
  const shown = redact(lines.text, true)
  const to = offset + lines.count - 1
  const of = offset + head.originalLines - 1
  const cut = READS.cut({ from: offset, to, of, isLastCut: lines.isLastCut })
  const truncation = { ...toTruncation(head, limits), kept_lines: lines.count, kept_bytes: Buffer.byteLength(shown) }
  const text = `${shown.trimEnd()}\n\n${cut}${hiddenNote(shown).join('')}`
  return { type: 'partial', text, data: { ...known, content: shown, truncated: true, truncation }, ...more }
}

function shownWhole(text: string): string {
  return text + hiddenNote(text).join('')
}

interface Lines {
  readonly text: string
  readonly count: number
  /** Its first line alone is too long. */
  readonly isLastCut: boolean
}

/** Ends after a whole line, so that the next range begins with one. */
function wholeLines({ text, lines }: Head, rest: string): Lines {
  if (text.endsWith('\n') || rest.startsWith('\n', text.length)) return { text, count: lines, isLastCut: false }
  const end = text.lastIndexOf('\n') + 1
  return end === 0
    ? { text, count: 1, isLastCut: true }
    : { text: text.slice(0, end), count: lines - 1, isLastCut: false }
}

/** The text from that line (from 1) on; undefined when there is none. */
function fromLine(text: string, line: number): string | undefined {
  let start = 0
  for (let count = 1; count < line; count++) {
    const end = text.indexOf('\n', start)
    if (end < 0 || end + 1 >= text.length) return undefined
    start = end + 1
  }
  return text.slice(start)
}

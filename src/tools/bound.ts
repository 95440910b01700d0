import { errorMessage, type JsonObject, type JsonValue, type Outcome } from '../kernel/index.ts'
import { toModelText } from './edge/model-text.ts'
import { CALLS, failedBy } from './messages.ts'
import { describeSaved, type OutputSaver, pathOf, type SavedOutput, savedRows } from './saved-output.ts'

/** How much of one outcome reaches the model. Source: contracts §4.1. */
export interface OutcomeLimits {
  readonly maxLines: number
  readonly maxBytes: number
}

export const OUTCOME_LIMITS: OutcomeLimits = { maxLines: 2000, maxBytes: 51_200 }

/** The beginning of a text within limits, cut at a whole character. */
export interface Head {
  readonly text: string
  readonly lines: number
  readonly bytes: number
  readonly originalLines: number
  readonly originalBytes: number
  readonly isCut: boolean
}

/**
 * A plain outcome, cut when the model's text would pass the limits: then it is partial (a failure stays one), says so, and keeps the
 * beginning under `data.preview` beside the small fields. Where `open` gives a saver, the whole text is kept and the outcome refers to it.
 */
export async function boundOutcome(
  outcome: Outcome,
  limits: OutcomeLimits = OUTCOME_LIMITS,
  open?: () => OutputSaver | undefined,
): Promise<Outcome> {
  const full = toModelText(outcome)
  const head = headOf(full, limits)
  const dataBytes = Buffer.byteLength(JSON.stringify(outcome.data ?? {}))
  // Text and data often have the same words, and JSON adds escapes: twice the limit needs no cut.
  if (!head.isCut && dataBytes <= 2 * limits.maxBytes) return outcome
  const saver = open?.()
  saver?.write(Buffer.from(full))
  return cut(outcome, { head, limits, saved: await saver?.save() })
}

/** The first lines and bytes of a text; `lines` counts a last line without a line break too. */
export function headOf(text: string, { maxLines, maxBytes }: OutcomeLimits): Head {
  const originalBytes = Buffer.byteLength(text)
  const originalLines = countLines(text)
  let end = text.length
  if (originalLines > maxLines) end = endOfLine(text, maxLines)
  const within = text.slice(0, end)
  const { read } =
    Buffer.byteLength(within) > maxBytes
      ? new TextEncoder().encodeInto(within, new Uint8Array(maxBytes))
      : { read: end }
  const kept = text.slice(0, read)
  const isCut = kept.length < text.length
  return {
    text: kept,
    lines: isCut ? countLines(kept) : originalLines,
    bytes: isCut ? Buffer.byteLength(kept) : originalBytes,
    originalLines,
    originalBytes,
    isCut,
  }
}

/** The `truncation` block of the envelope; null where the whole output is not kept. Source: contracts §4.1. */
export function toTruncation(head: Head, limits: OutcomeLimits, saved?: SavedOutput): JsonObject {
  return {
    direction: 'head',
    max_lines: limits.maxLines,
    max_bytes: limits.maxBytes,
    original_lines: head.originalLines,
    original_bytes: head.originalBytes,
    kept_lines: head.lines,
    kept_bytes: head.bytes,
    full_output_path: pathOf(saved),
  }
}

/** At most that many characters; a longer text ends with `…`. */
export function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text
}

/** A field of that size or less survives a cut as it is. */
const SMALL_BYTES = 1024
const MAX_SMALL_BYTES = 8192
const MAX_MESSAGE: OutcomeLimits = { maxLines: 100, maxBytes: 4096 }

interface Cut {
  readonly head: Head
  readonly limits: OutcomeLimits
  readonly saved?: SavedOutput | undefined
}

function cut(outcome: Outcome, { head, limits, saved }: Cut): Outcome {
  const data = {
    ...smallFields(outcome.data ?? {}),
    truncated: true,
    truncation: toTruncation(head, limits, saved),
    ...(saved?.type === 'saved' && { saved_output: savedRows([saved]) }),
    preview: head.text,
  }
  if (outcome.type === 'failed') {
    const message = headOf(outcome.message, MAX_MESSAGE)
    return { ...outcome, data, message: message.isCut ? `${message.text}… (cut)` : message.text }
  }
  const text = `Output cut: the first ${head.lines} of ${head.originalLines} lines (${head.bytes} of ${head.originalBytes} bytes) follow. To see the rest, ask for less at once: a narrower request, or a part of the file or output.${saved ? `\n${describeSaved(saved)}` : ''}`
  return { ...outcome, type: 'partial', text, data }
}

function smallFields(data: JsonObject): JsonObject {
  const kept: [string, JsonValue][] = []
  let total = 0
  for (const [key, value] of Object.entries(data)) {
    const bytes = Buffer.byteLength(JSON.stringify(value))
    if (bytes > SMALL_BYTES || total + bytes > MAX_SMALL_BYTES) continue
    total += bytes
    kept.push([key, value])
  }
  return Object.fromEntries(kept)
}

/** Detached from the tool, and JSON for sure: dates become strings, functions and undefined vanish, cycles are a failure. */
export function plainOutcome(outcome: Outcome): Outcome {
  if (outcome.data === undefined) return outcome
  try {
    return { ...outcome, data: JSON.parse(JSON.stringify(outcome.data)) as JsonObject }
  } catch (error) {
    return failedBy('INTERNAL_ERROR', CALLS.notJson(errorMessage(error)))
  }
}

function countLines(text: string): number {
  if (text === '') return 0
  let lines = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

function endOfLine(text: string, line: number): number {
  let at = -1
  for (let count = 0; count < line; count++) at = text.indexOf('\n', at + 1)
  return Math.max(at, 0)
}

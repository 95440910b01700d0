/** messages: the messages of a history as text for people. */
import { authorOf, cutOf } from '../../../agents/turns/index.ts'
import { isJsonObject, type JsonValue, toSafeLine, toSafeText } from '../../../kernel/index.ts'
import type { StoredMessage } from '../../../store/index.ts'
import { many } from '../failure.ts'
import { shorten } from './columns.ts'

/** A message in one short paragraph: its text, and its tool calls and results by name. */
export function describeMessage(message: StoredMessage): string {
  const { content } = message as { content?: JsonValue }
  if (typeof content === 'string') return toSafeText(content)
  if (!Array.isArray(content)) return ''
  return content.map((part: JsonValue) => describePart(part)).join('\n  ')
}

function describePart(part: JsonValue): string {
  if (!isJsonObject(part)) return ''
  if (part['type'] === 'text') return toSafeText(String(part['text']))
  const head = `[${toSafeLine(String(part['type']))} ${toSafeLine(String(part['toolName'] ?? ''))}]`
  const { output } = part
  // The answer of a tool is text with lines of its own.
  if (isJsonObject(output) && typeof output['value'] === 'string')
    return `${head}\n${shorten(toSafeText(output['value']), MOST_SHOWN).replace(/^/gm, '    ')}`
  return `${head} ${shorten(toSafeLine(JSON.stringify(part['input'] ?? output ?? '')), MOST_SHOWN)}`
}

/** Cells of one call or answer; `--json` has the whole. */
const MOST_SHOWN = 400

/** The speaker of a message; for a cut, which messages the model no longer reads, counted from 1. */
export function speakerOf(message: StoredMessage): string {
  const cut = cutOf(message)
  if (!cut) return authorOf(message) ?? message.role
  const how = cut.by === 'compaction' ? 'summed up' : 'left out'
  return `${how} for the model: messages ${cut.from + 1} to ${cut.to}${cut.keep.length > 0 ? `, but ${many(cut.keep.length, 'message')}` : ''}`
}

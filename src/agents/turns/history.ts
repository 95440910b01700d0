import { isJsonObject, type JsonObject, type Outcome, toSafeLine } from '../../kernel/index.ts'
import type { StoredMessage } from '../../store/index.ts'
import { toModelText } from '../../tools/index.ts'
import { cutOf } from './context/cuts.ts'
import type { RequestedCall } from './model-step.ts'
import { partsOf } from './stored-message.ts'

/** How a turn that gave no answer closes in the history, so that the next one starts from a whole conversation. */
export const CLOSING = {
  'max-iterations': '[Max tool iterations reached]',
  cancelled: '[Cancelled by the user]',
  failed: '[The turn ended early: the model gave no answer]',
  'timed-out': '[The turn ended early: its time ran out]',
  interrupted: '[The turn was cut off before its end]',
  empty: '[No answer]',
} as const

/** The answer to a call that was open when its turn was cut off. */
const OPEN_CALL = {
  unknown:
    'interrupted: outcome unknown. It may or may not have run, and it is not run again by itself: check before repeating it.',
  'not run': 'not run: the turn was cut off before the call began.',
} as const

/** Facts about the calls that were open. */
export type FateOfCalls = keyof typeof OPEN_CALL
const TITLE_CHARS = 60

export function userMessage(content: string): StoredMessage {
  return { role: 'user', content }
}

export function assistantMessage(text: string): StoredMessage {
  return { role: 'assistant', content: [{ type: 'text', text }] }
}

/** The answer to one call. */
export function toolMessage(
  call: { readonly toolCallId: string; readonly wireName: string },
  outcome: Outcome,
): StoredMessage {
  return answerMessage(call, { type: outcome.type === 'failed' ? 'error-text' : 'text', value: toModelText(outcome) })
}

/** First words of the first task, for lists. */
export function toTitle(content: string): string {
  const line = [...toSafeLine(content)]
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS - 1).join('')}…` : line.join('')
}

/** Additions before a new turn may start: answers to open calls, and an end to the turn that was cut off. */
export interface Repair {
  readonly messages: readonly StoredMessage[]
  /** Tools whose call was open. */
  readonly openCalls: readonly string[]
}

/**
 * Looks at the end of a history. A call without an answer is answered with what is known of it, and a turn without
 * an end gets one; nothing is run again. A whole history needs no message.
 */
export function repairHistory(history: readonly StoredMessage[], fate: FateOfCalls = 'unknown'): Repair {
  // A cut is no part of the conversation.
  const messages = history.filter((message) => !cutOf(message))
  const last = messages.at(-1)
  if (!last || (last.role === 'assistant' && partsOf(last, 'tool-call').length === 0))
    return { messages: [], openCalls: [] }
  const open = openParts(messages)
  const answers = open.map((call) =>
    answerMessage(
      { toolCallId: String(call.toolCallId), wireName: String(call.toolName) },
      { type: 'error-text', value: OPEN_CALL[fate] },
    ),
  )
  return {
    messages: [...answers, assistantMessage(CLOSING.interrupted)],
    openCalls: open.map((call) => String(call.toolName)),
  }
}

/** The calls of the last answer of the model that have no answer, as the history has them. */
export function openCalls(messages: readonly StoredMessage[]): readonly RequestedCall[] {
  return openParts(messages).map(({ toolCallId, toolName, input = null }) => {
    const call = { toolCallId: String(toolCallId), wireName: String(toolName) }
    if (isJsonObject(input)) return { ...call, arguments: input }
    return { ...call, arguments: {}, unreadable: typeof input === 'string' ? input : JSON.stringify(input) }
  })
}

function openParts(messages: readonly StoredMessage[]): JsonObject[] {
  const at = messages.findLastIndex((message) => message.role === 'assistant')
  const answers = messages.slice(at + 1).flatMap((message) => partsOf(message, 'tool-result'))
  const answered = new Set(answers.map(({ toolCallId }) => toolCallId))
  const asked = messages.slice(Math.max(0, at), at + 1)
  return asked.flatMap((message) => partsOf(message, 'tool-call')).filter((part) => !answered.has(part.toolCallId))
}

function answerMessage(
  call: { readonly toolCallId: string; readonly wireName: string },
  output: JsonObject,
): StoredMessage {
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: call.toolCallId, toolName: call.wireName, output }],
  }
}

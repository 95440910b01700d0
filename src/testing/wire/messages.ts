import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import type { SeenMessage } from '../model-reply.ts'
import {
  type Answer,
  type AnswerHead,
  argumentPieces,
  argumentText,
  type Frame,
  objectsIn,
  stringOf,
  textOf,
  type WireFormat,
} from './format.ts'

/** POST /v1/messages, Anthropic's interface. */
export const messages: WireFormat = {
  messages: (body) => [
    ...(body.system === undefined ? [] : [{ role: 'system', text: textOf(body.system), toolCalls: [] } as const]),
    ...objectsIn(body.messages).flatMap(toSeen),
  ],
  toolNames: (body) => objectsIn(body.tools).map((tool) => stringOf(tool.name)),
  frames,
  whole,
  error: (status, message) => ({ type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message } }),
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** A user message of this interface may hold several tool results and text: each becomes a message of its own. */
function toSeen(message: Record<string, unknown>): SeenMessage[] {
  const role = message.role as SeenMessage['role']
  const parts = objectsIn(message.content)
  const toolCalls = parts
    .filter((part) => part.type === 'tool_use')
    .map((part) => ({ id: stringOf(part.id), name: stringOf(part.name), arguments: JSON.stringify(part.input) }))
  const results = parts
    .filter((part) => part.type === 'tool_result')
    .map(
      (part) =>
        ({ role: 'tool', text: textOf(part.content), toolCalls: [], toolCallId: stringOf(part.tool_use_id) }) as const,
    )
  const text = textOf(message.content)
  return text === '' && toolCalls.length === 0 && results.length > 0 ? results : [...results, { role, text, toolCalls }]
}

const STOP = { stop: 'end_turn', length: 'max_tokens', 'content-filter': 'refusal', 'tool-calls': 'tool_use' } as const

function frames(head: AnswerHead, answer: Answer): Frame[] {
  const event = (type: string, data: JsonObject, delta = false): Frame => ({
    event: type,
    data: { type, ...data },
    delta,
  })
  const block = (index: number, start: JsonObject, deltas: readonly Frame[]): Frame[] => [
    event('content_block_start', { index, content_block: start }),
    ...deltas,
    event('content_block_stop', { index }),
  ]
  const text = answer.chunks.map((chunk) =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: chunk } }, true),
  )
  const first = text.length > 0 ? 1 : 0
  const start = { ...shell(head), content: [], stop_reason: null, stop_sequence: null }
  return [
    event('message_start', {
      message: { ...start, usage: { ...input(answer), output_tokens: 0 } },
    }),
    ...(first === 1 ? block(0, { type: 'text', text: '' }, text) : []),
    ...answer.calls.flatMap((call, position) => {
      const index = first + position
      const pieces = argumentPieces(call).map((piece) =>
        event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: piece } }),
      )
      return block(index, { type: 'tool_use', id: call.id, name: call.name, input: {} }, pieces)
    }),
    event('message_delta', {
      delta: { stop_reason: STOP[answer.finish], stop_sequence: null },
      usage: { output_tokens: answer.usage?.outputTokens ?? 0 },
    }),
    event('message_stop', {}),
  ]
}

function whole(head: AnswerHead, answer: Answer): JsonObject {
  const calls = answer.calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: inputOf(call) }))
  const text = answer.chunks.length > 0 ? [{ type: 'text', text: answer.chunks.join('') }] : []
  return {
    ...shell(head),
    content: [...text, ...calls],
    stop_reason: STOP[answer.finish],
    stop_sequence: null,
    usage: { ...input(answer), output_tokens: answer.usage?.outputTokens ?? 0 },
  }
}

/** The part from the cache is counted apart. */
function input({ usage }: Answer): JsonObject {
  const { inputTokens = 0, cachedTokens = 0 } = usage ?? {}
  return {
    input_tokens: inputTokens - cachedTokens,
    ...(cachedTokens > 0 && { cache_read_input_tokens: cachedTokens, cache_creation_input_tokens: 0 }),
  }
}

function shell(head: AnswerHead): JsonObject {
  return { id: head.id, type: 'message', role: 'assistant', model: head.model }
}

/** This interface has no text form of arguments in whole answers: what is not an object is sent unchanged. */
function inputOf(call: Answer['calls'][number]): JsonValue {
  return isJsonObject(call.arguments) ? call.arguments : argumentText(call)
}

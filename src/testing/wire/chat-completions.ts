import type { JsonObject } from '../../kernel/index.ts'
import type { ReplyUsage, SeenMessage } from '../model-reply.ts'
import {
  type Answer,
  type AnswerHead,
  argumentPieces,
  argumentText,
  type Frame,
  objectsIn,
  openAiError,
  stringOf,
  textOf,
  type WireFormat,
} from './format.ts'

/** POST /v1/chat/completions, as OpenAI and most local servers speak it. */
export const chatCompletions: WireFormat = {
  messages: (body) => objectsIn(body.messages).map(toSeen),
  toolNames: (body) => objectsIn(body.tools).map((tool) => stringOf((tool.function as JsonObject | undefined)?.name)),
  frames,
  whole,
  error: openAiError,
}

function toSeen(message: Record<string, unknown>): SeenMessage {
  const role = message.role === 'developer' ? 'system' : (message.role as SeenMessage['role'])
  const toolCalls = objectsIn(message.tool_calls).map((call) => {
    const called = (call.function ?? {}) as Record<string, unknown>
    return { id: stringOf(call.id), name: stringOf(called.name), arguments: stringOf(called.arguments) }
  })
  const id = stringOf(message.tool_call_id)
  return { role, text: textOf(message.content), toolCalls, ...(id && { toolCallId: id }) }
}

const FINISH = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
} as const

function frames(head: AnswerHead, answer: Answer): Frame[] {
  const base = { id: head.id, object: 'chat.completion.chunk', created: head.createdAt, model: head.model }
  const choice = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const call = (index: number, more: JsonObject): Frame => ({ data: choice({ tool_calls: [{ index, ...more }] }) })
  return [
    { data: choice({ role: 'assistant', content: '' }) },
    ...answer.chunks.map((text): Frame => ({ data: choice({ content: text }), delta: true })),
    ...answer.calls.flatMap((each, index) => {
      const [first, second] = argumentPieces(each)
      return [
        call(index, { id: each.id, type: 'function', function: { name: each.name, arguments: first } }),
        call(index, { function: { arguments: second } }),
      ]
    }),
    { data: choice({}, FINISH[answer.finish]) },
    ...(answer.usage ? [{ data: { ...base, choices: [], usage: usage(answer.usage) } }] : []),
    { data: '[DONE]' },
  ]
}

function whole(head: AnswerHead, answer: Answer): JsonObject {
  const calls = answer.calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: argumentText(call) },
  }))
  const message = {
    role: 'assistant',
    content: answer.chunks.join('') || null,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.createdAt,
    model: head.model,
    choices: [{ index: 0, message, finish_reason: FINISH[answer.finish] }],
    ...(answer.usage && { usage: usage(answer.usage) }),
  }
}

function usage({ inputTokens, outputTokens, cachedTokens }: ReplyUsage): JsonObject {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
  }
}

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

/** POST /v1/responses, OpenAI's own interface. */
export const responses: WireFormat = {
  messages: (body) => [
    ...(typeof body.instructions === 'string'
      ? [{ role: 'system', text: body.instructions, toolCalls: [] } as const]
      : []),
    ...(typeof body.input === 'string' ? [{ role: 'user', text: body.input, toolCalls: [] } as const] : []),
    ...objectsIn(body.input).map(toSeen),
  ],
  toolNames: (body) => objectsIn(body.tools).map((tool) => stringOf(tool.name)),
  frames,
  whole,
  error: openAiError,
}

function toSeen(item: Record<string, unknown>): SeenMessage {
  const id = stringOf(item.call_id)
  if (item.type === 'function_call') {
    const call = { id, name: stringOf(item.name), arguments: stringOf(item.arguments) }
    return { role: 'assistant', text: '', toolCalls: [call] }
  }
  if (item.type === 'function_call_output')
    return { role: 'tool', text: textOf(item.output), toolCalls: [], toolCallId: id }
  const role = item.role === 'developer' ? 'system' : (item.role as SeenMessage['role'])
  return { role, text: textOf(item.content), toolCalls: [] }
}

function frames(head: AnswerHead, answer: Answer): Frame[] {
  const list: Frame[] = []
  const push = (type: string, data: JsonObject, delta = false): void => {
    list.push({ event: type, data: { type, sequence_number: list.length, ...data }, delta })
  }
  const response = { id: head.id, object: 'response', created_at: head.createdAt, model: head.model }
  push('response.created', { response: { ...response, status: 'in_progress', output: [] } })
  if (answer.chunks.length > 0) {
    const message = messageItem(head, answer)
    push('response.output_item.added', { output_index: 0, item: { ...message, status: 'in_progress', content: [] } })
    for (const text of answer.chunks)
      push('response.output_text.delta', { item_id: message.id, output_index: 0, content_index: 0, delta: text }, true)
    push('response.output_item.done', { output_index: 0, item: message })
  }
  answer.calls.forEach((call, position) => {
    const index = position + (answer.chunks.length > 0 ? 1 : 0)
    const item = callItem(call)
    push('response.output_item.added', { output_index: index, item: { ...item, arguments: '', status: 'in_progress' } })
    for (const piece of argumentPieces(call)) {
      push('response.function_call_arguments.delta', { item_id: item.id, output_index: index, delta: piece })
    }
    push('response.function_call_arguments.done', { item_id: item.id, output_index: index, arguments: item.arguments })
    push('response.output_item.done', { output_index: index, item })
  })
  const end =
    answer.finish === 'length' || answer.finish === 'content-filter' ? 'response.incomplete' : 'response.completed'
  push(end, { response: whole(head, answer) })
  return list
}

function whole(head: AnswerHead, answer: Answer): JsonObject {
  const cut = {
    length: 'max_output_tokens',
    'content-filter': 'content_filter',
    stop: undefined,
    'tool-calls': undefined,
  }[answer.finish]
  return {
    id: head.id,
    object: 'response',
    created_at: head.createdAt,
    model: head.model,
    status: cut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: cut ? { reason: cut } : null,
    output: [...(answer.chunks.length > 0 ? [messageItem(head, answer)] : []), ...answer.calls.map(callItem)],
    usage: answer.usage && usage(answer.usage),
  }
}

function usage({ inputTokens, outputTokens, cachedTokens }: ReplyUsage): JsonObject {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedTokens !== undefined && { input_tokens_details: { cached_tokens: cachedTokens } }),
  }
}

function messageItem(head: AnswerHead, answer: Answer) {
  const content = [{ type: 'output_text', text: answer.chunks.join(''), annotations: [] }]
  return { type: 'message', id: `msg_${head.id}`, role: 'assistant', status: 'completed', content } as const
}

function callItem(call: Answer['calls'][number]) {
  return {
    type: 'function_call',
    id: `fc_${call.id}`,
    call_id: call.id,
    name: call.name,
    arguments: argumentText(call),
    status: 'completed',
  } as const
}

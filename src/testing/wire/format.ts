import type { JsonObject } from '../../kernel/index.ts'
import type { ReplyCall, ReplyUsage, SeenMessage } from '../model-reply.ts'

/** One server-sent event. `delta` marks the events that carry a chunk of text. */
export interface Frame {
  readonly event?: string
  readonly data: JsonObject | '[DONE]'
  readonly delta?: boolean
}

/** The common part of the frames of one answer. */
export interface AnswerHead {
  readonly id: string
  readonly model: string
  /** Seconds since the epoch. */
  readonly createdAt: number
}

/** A whole answer, before it is put into the form of an interface. */
export interface Answer {
  readonly chunks: readonly string[]
  readonly calls: readonly Required<ReplyCall>[]
  readonly finish: 'stop' | 'length' | 'content-filter' | 'tool-calls'
  readonly usage: ReplyUsage | null
}

/** How one HTTP interface reads requests and writes answers. */
export interface WireFormat {
  messages(body: JsonObject): SeenMessage[]
  toolNames(body: JsonObject): string[]
  frames(head: AnswerHead, answer: Answer): Frame[]
  whole(head: AnswerHead, answer: Answer): JsonObject
  error(status: number, message: string): JsonObject
}

export function openAiError(status: number, message: string): JsonObject {
  return { error: { message, type: status === 429 ? 'rate_limit_error' : 'error', param: null, code: null } }
}

/** The arguments of a call as the text a model would write. */
export function argumentText(call: Pick<ReplyCall, 'arguments'>): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
}

/** The arguments in two pieces, as streaming models send them. */
export function argumentPieces(call: Pick<ReplyCall, 'arguments'>): [string, string] {
  const text = argumentText(call)
  const middle = Math.floor(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

/** The objects in a list that came from outside; anything else is left out. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value)
    ? value.filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null)
    : []
}

/** The text of a content field: a string, or the `text` of its parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return objectsIn(content)
    .map((part) => (typeof part.text === 'string' ? part.text : ''))
    .join('')
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

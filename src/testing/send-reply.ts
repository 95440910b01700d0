import type { ServerResponse } from 'node:http'
import { type JsonObject, systemClock } from '../kernel/index.ts'
import type { ModelRequest, Reply } from './model-reply.ts'
import type { Answer, Frame, WireFormat } from './wire/format.ts'

/** One request that waits for its answer. */
export interface Exchange {
  readonly seen: ModelRequest
  readonly response: ServerResponse
  readonly format: WireFormat
  /** Aborts when the connection is closed before the answer is complete, by either side. */
  readonly gone: AbortController
}

type ReplyOf<Type extends Reply['type']> = Extract<Reply, { type: Type }>

const DEFAULT_USAGE = { inputTokens: 10, outputTokens: 5 }

/** Says what the script wants said, in the words of the interface that was asked. */
export async function sendReply(reply: Reply, exchange: Exchange): Promise<void> {
  switch (reply.type) {
    case 'status':
      return sendStatus(reply, exchange)
    case 'invalid':
      return sendInvalid(reply, exchange)
    case 'disconnect':
      await sendStart(reply.text, exchange)
      // Our own doing: not an abort by the client.
      exchange.gone.abort()
      exchange.response.destroy()
      return
    case 'hang':
      return sendStart(reply.text, exchange)
    case 'text':
    case 'tool-calls':
      return sendAnswer(reply, exchange)
  }
}

/** Sends a JSON body and ends the response. */
export function sendJson(
  response: ServerResponse,
  body: JsonObject,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

function sendStatus(reply: ReplyOf<'status'>, { response, format }: Exchange): void {
  const { status, message = `status ${status}`, retryAfter, headers } = reply
  const retry: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  sendJson(response, format.error(status, message), status, { ...retry, ...headers })
}

function sendInvalid({ body }: ReplyOf<'invalid'>, { seen, response }: Exchange): void {
  response.writeHead(200, { 'content-type': seen.stream ? 'text/event-stream' : 'application/json' })
  response.end(body ?? (seen.stream ? 'data: {"choices": [}\n\n' : '{"choices": ['))
}

async function sendAnswer(reply: ReplyOf<'text' | 'tool-calls'>, exchange: Exchange): Promise<void> {
  const answer = toAnswer(reply, exchange.seen.index)
  if (!exchange.seen.stream) return sendJson(exchange.response, exchange.format.whole(headOf(exchange), answer))
  const delayMs = reply.type === 'text' ? (reply.delayMs ?? 0) : 0
  await sendFrames(exchange, exchange.format.frames(headOf(exchange), answer), delayMs)
  exchange.response.end()
}

/** Only up to the last piece of text, so that the answer stays unfinished. */
async function sendStart(text: string | undefined, exchange: Exchange): Promise<void> {
  if (text === undefined) return
  const frames = exchange.format.frames(headOf(exchange), toAnswer({ type: 'text', text }, exchange.seen.index))
  await sendFrames(exchange, frames.slice(0, frames.findLastIndex((frame) => frame.delta === true) + 1), 0)
}

async function sendFrames({ response, gone }: Exchange, frames: readonly Frame[], delayMs: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  for (const frame of frames) {
    if (frame.delta && delayMs > 0) await systemClock.sleep(delayMs)
    if (gone.signal.aborted) return
    const data = frame.data === '[DONE]' ? frame.data : JSON.stringify(frame.data)
    const text = `${frame.event === undefined ? '' : `event: ${frame.event}\n`}data: ${data}\n\n`
    // The bytes must be on their way before a later cut, else the client would see less than was said.
    await new Promise<void>((resolve) => {
      response.write(text, () => resolve())
    })
  }
}

function headOf({ seen }: Exchange) {
  return { id: `answer${seen.index}`, model: seen.model, createdAt: Math.floor(Date.now() / 1000) }
}

function toAnswer(reply: ReplyOf<'text' | 'tool-calls'>, turn: number): Answer {
  const usage = reply.usage === undefined ? DEFAULT_USAGE : reply.usage
  if (reply.type === 'text') {
    const chunks = typeof reply.text === 'string' ? [reply.text] : reply.text
    return { chunks, calls: [], finish: reply.finish ?? 'stop', usage }
  }
  const calls = reply.calls.map((call, index) => ({ id: `call_${turn}_${index}`, ...call }))
  return { chunks: reply.text === undefined ? [] : [reply.text], calls, finish: 'tool-calls', usage }
}

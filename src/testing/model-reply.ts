import type { JsonObject } from '../kernel/index.ts'

/** Tokens that a reply claims to have cost; null: the reply says nothing about them. */
export interface ReplyUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** The part of the input that came from the cache. */
  readonly cachedTokens?: number
}

/** One tool call in a reply. Arguments given as text are sent as they are, also when they are not JSON. */
export interface ReplyCall {
  readonly name: string
  readonly arguments: JsonObject | string
  /** Default `call_<turn>_<position>`. */
  readonly id?: string
}

/** The model server's answer to one request. */
export type Reply =
  | {
      readonly type: 'text'
      /** Sent whole, or chunk by chunk when it is a list. */
      readonly text: string | readonly string[]
      /** Pause before each chunk; default 0. */
      readonly delayMs?: number
      /** Why the answer ends; default `stop`. */
      readonly finish?: 'stop' | 'length' | 'content-filter'
      readonly usage?: ReplyUsage | null
    }
  | {
      readonly type: 'tool-calls'
      readonly calls: readonly ReplyCall[]
      /** Said before the calls. */
      readonly text?: string
      readonly usage?: ReplyUsage | null
    }
  /** An HTTP error such as 429 (with `retryAfter`), 500 or 401. */
  | {
      readonly type: 'status'
      readonly status: number
      readonly message?: string
      /** Value of the Retry-After header: seconds, or an HTTP date. */
      readonly retryAfter?: number | string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Sends `text` and then cuts the connection; without `text` it cuts before any byte. */
  | { readonly type: 'disconnect'; readonly text?: string }
  /** Sends `text` and then nothing more, until the client goes away. */
  | { readonly type: 'hang'; readonly text?: string }
  /** Status 200 with a body that is not a valid answer. */
  | { readonly type: 'invalid'; readonly body?: string }

/** The three HTTP interfaces that the server speaks. */
export type ModelApi = 'chat-completions' | 'responses' | 'messages'

/** A message of the request in one form for all interfaces. */
export interface SeenMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly text: string
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  /** The call that a message of role `tool` answers. */
  readonly toolCallId?: string
}

/** One request as the server got it. */
export interface ModelRequest {
  /** Position among all requests, from 0. */
  readonly index: number
  readonly api: ModelApi
  /** Lower-case names; credentials read `[redacted]`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
  readonly model: string
  readonly stream: boolean
  readonly messages: readonly SeenMessage[]
  readonly toolNames: readonly string[]
}

/** Replies in order, one a request, or a function that answers each request. */
export type ModelScript = readonly Reply[] | ((request: ModelRequest, turnIndex: number) => Reply | Promise<Reply>)

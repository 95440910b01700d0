import type { CutBy } from './context/cuts.ts'
import type { Decision, JsonObject, NexusError, Outcome, ProposedCommand } from '../../kernel/index.ts'

/** Tokens of one model answer, by the provider's own counts. */
export interface StepUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** How many of `totalTokens` are an estimate, because the provider did not report them; absent when none are. */
  readonly estimatedTokens?: number
  /** How many of `inputTokens` the provider read from its cache; absent when it reports none. */
  readonly cachedTokens?: number
  /** Money by `model.price`; absent without a price. */
  readonly cost?: number
}

/** Tokens of a whole turn, and how often the model was asked and answered. */
export interface TurnUsage extends StepUsage {
  readonly steps: number
  /** Milliseconds without the time in which people were asked or a place was waited for; absent when there were none. */
  readonly activeMs?: number
}

/** How a turn ended. */
export interface TurnResult {
  readonly turnId: string
  readonly sessionId: string
  /** The model's last answer; what had come of it when the turn was cancelled or failed. */
  readonly text: string
  /** `stopped`: a check before a step of it ended it, such as a budget. */
  readonly end: 'done' | 'cancelled' | 'max-iterations' | 'stopped' | 'failed'
  /** With `failed`: MODEL_FAILED, TIMEOUT, STORE_FAILED, or LEASE_LOST for a turn that was cut off. With `stopped`: LIMIT_EXCEEDED. */
  readonly error?: NexusError
  readonly usage: TurnUsage
}

/** Things worth a line on the screen that are no part of the conversation. */
export type NoticeCode =
  /** The turn before this one was cut off; its open calls are answered "outcome unknown". */
  | 'interrupted-turn'
  /** Another turn of the session runs, so the message waits; or the turn itself runs already. */
  | 'turn-waits'
  /** An ended process left a message in the session: each is named with the commands that run and cancel it. */
  | 'message-left'
  /** The model was not reached and is asked again after a pause. */
  | 'model-retry'
  /** The connection broke inside an answer: text of this step so far is void, the step starts again. */
  | 'step-restarted'
  /** The model repeats the same call with the same result. */
  | 'repeated-call'
  /** The answer was cut at the output limit, filtered, or empty. */
  | 'incomplete-answer'
  /** The skills are not those that the session was offered in its last turn. */
  | 'skills-changed'
  /** A `$skill-name` of the message cannot be used, or there are more than 8. */
  | 'skill-mention'
  /** Messages are no longer sent to the model, or a summary of them could not be had. */
  | 'context-cut'
  /** The provider does not support a setting. */
  | 'model-warning'

/** A call of one answer, with its id in the ledger. */
export interface BatchCall {
  readonly callId: string
  readonly tool: string
}

/** Events of a turn, in order. Every `tool-call` is followed by exactly one `tool-result` of the same `callId`. */
export type AgentEvent =
  /** The message is durable; the turn can be cancelled by its id from now on. */
  | { readonly type: 'turn-queued'; readonly turnId: string; readonly sessionId: string }
  /** The turn was taken. A turn that ended before, or that another caller runs, has no `turn-start`. */
  | { readonly type: 'turn-start'; readonly turnId: string; readonly sessionId: string; readonly model: string }
  | { readonly type: 'text-delta'; readonly text: string }
  /** The model begins or ends to reason, where its provider shows that. */
  | { readonly type: 'reasoning'; readonly isActive: boolean }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  /** The model began to write a call; `toolCallId` is its own id. The arguments are not there yet. */
  | { readonly type: 'tool-named'; readonly toolCallId: string; readonly tool: string }
  /** Messages of other agents that the model reads with its next step. */
  | { readonly type: 'messages-delivered'; readonly from: readonly string[] }
  /**
   * Messages that the model no longer reads, by their places in the history from 0; `to` is the first after them. They stay in the store.
   * Tokens of the next request before and after, by estimate.
   */
  | {
      readonly type: 'context-cut'
      readonly by: CutBy
      readonly from: number
      readonly to: number
      readonly messages: number
      readonly tokensBefore: number
      readonly tokensAfter: number
    }
  /** The calls of one answer begin, and are all answered. */
  | { readonly type: 'batch-start'; readonly calls: readonly BatchCall[]; readonly isParallel: boolean }
  /** A call failed, so those behind it do not run. */
  | { readonly type: 'batch-halt'; readonly callId: string }
  | { readonly type: 'batch-end'; readonly calls: readonly BatchCall[] }
  | {
      readonly type: 'tool-call'
      /** The call's id in the ledger. */
      readonly callId: string
      readonly tool: string
      readonly arguments: JsonObject
      /** The text of the model, when it is not a JSON object; `arguments` is empty then. */
      readonly unreadableArguments?: string
    }
  /** A person is asked about the call; `isOpen` is false when that is over. */
  | { readonly type: 'tool-asked'; readonly callId: string; readonly approvalId: string; readonly isOpen: boolean }
  | { readonly type: 'tool-decision'; readonly callId: string; readonly decision: Decision }
  | {
      readonly type: 'tool-output'
      readonly callId: string
      readonly stream: 'stdout' | 'stderr'
      readonly text: string
    }
  | {
      readonly type: 'tool-result'
      readonly callId: string
      readonly tool: string
      readonly outcome: Outcome
      readonly durationMs: number
    }
  | { readonly type: 'step-end'; readonly step: number; readonly usage: StepUsage }
  | { readonly type: 'notice'; readonly code: NoticeCode; readonly text: string; readonly proposal?: ProposedCommand }
  | { readonly type: 'turn-end'; readonly result: TurnResult }

/** Gets every event at once; must not throw. */
export type AgentListener = (event: AgentEvent) => void

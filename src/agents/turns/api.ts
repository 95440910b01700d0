/** api: an agent and its options, for those who use it. */
import type { Clock } from '../../kernel/index.ts'
import type { Store } from '../../store/index.ts'
import type { MessageAuthor } from './agent-messages.ts'
import type { AgentContext } from './context/read-context.ts'
import type { ContextSettings } from './context/settings.ts'
import type { AgentListener, TurnResult } from './events.ts'
import type { TurnHooks } from './hooks.ts'
import type { AgentLimits } from './limits.ts'
import type { ModelChoice } from './model/open-model.ts'
import type { TurnAgent } from './turn-context.ts'

/** A model with tools, skills and a history. */
export interface Agent {
  readonly id: string
  readonly sessionId: string
  /**
   * One turn. The message is queued durably, and runs when no earlier turn of its session does; its id is in the event
   * `turn-queued`. Resolves when the model answered or the turn ended otherwise; what went wrong on the way is in the result.
   * Rejects before the message is queued with INVALID_ARGUMENT (no content), CONFLICT (the queue is full, the session belongs to
   * another agent, or the request id was used for another message), or STORE_FAILED. Rejects after that only when the store keeps
   * failing: the error names the message, which is cancelled where the store still allows it.
   */
  send(content: string, options?: SendOptions): Promise<TurnResult>
  /** Runs a message that an ended process left in the queue, or goes on with a turn whose process ended while people were asked. Rejects with INVALID_ARGUMENT when this session has none of that id waiting. */
  resume(turnId: string, options?: Omit<SendOptions, 'requestId'>): Promise<TurnResult>
  /**
   * For whoever serves the agent: goes on with the turn whose process ended while people were asked, then runs the messages
   * that ended processes left, in order and before later ones. Resolves when none is left, or after an abort; rejects as `send`
   * does. What did not begin by then is left again, and is not cancelled. Two may call it at once.
   */
  takeOver(options?: Omit<SendOptions, 'requestId'>): Promise<readonly TurnResult[]>
  /** Cancels the message with the caller's own id. False when the session has none, or its turn is over. */
  cancel(requestId: string): Promise<boolean>
  /**
   * Gives the running turn a message of another agent. True: it is durable in the history, and the model reads it before its next
   * step. False: no turn of this agent runs in this process, and nothing was kept. Rejects with STORE_FAILED or LEASE_LOST.
   */
  deliver(content: string, from: MessageAuthor): Promise<boolean>
  /**
   * A turn in which the model sums up the whole history: later turns read the summary, with the loaded skills, in place of the messages,
   * which stay in the store. It is queued as a message is, and rejects as `send` does; the text of its result is the summary.
   */
  compact(options?: Omit<SendOptions, 'from'>): Promise<TurnResult>
  /** How much of its context the agent uses, by estimate, and what of its history is cut. The model is not asked. */
  context(): Promise<AgentContext>
  /** Stops the clock of the running turn while something outside is waited for, such as a person who is asked about a call of a child. Call the result once it is over. */
  pauseClock(): () => void
}

export interface SendOptions {
  /** The caller's own id, unique in the session. The same message with the same one runs once: a second `send` waits for its result. */
  readonly requestId?: string
  /** Ends the turn, also while it waits: the request to the model is closed, a running command is stopped, open calls are answered "cancelled". */
  readonly signal?: AbortSignal
  readonly onEvent?: AgentListener
  /** The message is another agent's: the model reads it in a boundary, never as words of the user. */
  readonly from?: MessageAuthor
}

export interface AgentOptions {
  /** The agent in its session, from `runtime.openAgent({ id, sessionId })`. The session is made when there is none. */
  readonly agent: TurnAgent
  /** The model, or how it is found at the begin of each turn. */
  readonly model: ModelChoice | (() => ModelChoice | Promise<ModelChoice>)
  /** Where the owner of the agent takes part in its turns, such as budgets and a place among those that ask at once. */
  readonly hooks?: TurnHooks
  /** The store of the runtime. */
  readonly store: Store
  /** The first part of the system prompt; the skills follow. */
  readonly instructions?: string
  readonly limits?: Partial<AgentLimits>
  /** How much of the history is sent, and what is left out when it is full. */
  readonly context?: Partial<ContextSettings> | undefined
  readonly clock?: Clock
  /** Events of all turns, each before the listener of its own turn gets it. */
  readonly onEvent?: AgentListener
}

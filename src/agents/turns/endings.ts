/** endings: how a turn ends, in its result and in its history. */
import { isNexusError, NexusError } from '../../kernel/index.ts'
import type { Sessions, StoredMessage, TurnRecord } from '../../store/index.ts'
import type { StepUsage, TurnResult } from './events.ts'
import { assistantMessage, CLOSING, repairHistory } from './history.ts'
import type { TurnStop } from './hooks.ts'
import { TURNS } from './messages.ts'
import type { StepAnswer } from './model-step.ts'
import type { UsageSum } from './tokens.ts'
import type { TurnContext } from './turn-context.ts'

/** The end of a turn. */
export interface FinishedTurn {
  readonly result: TurnResult
  /** The end of the history, which is written with the end of the turn. */
  readonly messages: readonly StoredMessage[]
  /** Tokens of the answer that is among them. */
  readonly tokens?: StepUsage | undefined
  /** Time since the last step. */
  readonly activeMs?: number
}

export type Ending = Pick<TurnResult, 'end' | 'text' | 'error'> & {
  readonly closing?: string
  /** The answer of the model, when it is not yet in the history. */
  readonly message?: StoredMessage
  readonly tokens?: StepUsage | undefined
  /** True when the history has the text already. */
  readonly isKept?: boolean
}

export function toResult(ending: Ending, about: Pick<TurnResult, 'turnId' | 'sessionId' | 'usage'>): TurnResult {
  const { closing: _closing, isKept: _isKept, message: _message, tokens: _tokens, ...ended } = ending
  return { ...about, ...ended }
}

/** The caller, or its time limit, ended it. `isKept`: the history has the text already. */
export function cancelled(text: string, isKept = false): Ending {
  return { end: 'cancelled', text, closing: CLOSING.cancelled, isKept }
}

/** The use of what had come joins that of the turn. */
export function unanswered(answer: Exclude<StepAnswer, { type: 'answer' }>, usage?: Pick<UsageSum, 'add'>): Ending {
  const { usage: tokens } = answer
  if (tokens) usage?.add(tokens)
  if (answer.type === 'aborted') return { ...cancelled(answer.text), tokens }
  return { tokens, end: 'failed', text: answer.text, error: answer.failure.error, closing: CLOSING.failed }
}

/** The words of the hook end the turn, for the model in its history and for people as the error. */
export function stopped({ message, fix, forModel = message }: TurnStop): Ending {
  const closing = `[${forModel}]`
  const error = new NexusError('LIMIT_EXCEEDED', message, { fix })
  return { end: 'stopped', text: closing, error, closing, isKept: true }
}

export function timedOut({ text, tokens, isKept = false }: Ending, timeoutMs: number): Ending {
  const { message, fix } = TURNS.timedOut(timeoutMs / 1000)
  const error = new NexusError('TIMEOUT', message, { fix })
  return { end: 'failed', text, error, closing: CLOSING['timed-out'], isKept, tokens }
}

/** A history that lacks an answer gets no end: the next turn repairs it. */
export async function toEnding(
  cause: unknown,
  { sessions, sessionId }: { readonly sessions: Pick<Sessions, 'messages'>; readonly sessionId: string },
): Promise<Ending> {
  const isWhole = await sessions.messages(sessionId).then(
    (messages) => repairHistory(messages).openCalls.length === 0,
    () => false,
  )
  return { end: 'failed', text: '', error: toFault(cause), closing: isWhole ? CLOSING.failed : undefined }
}

/** How the turn ends in the history. When it cannot be written, the next turn finds the history cut off and repairs it. */
export function lastMessages(ending: Ending, { agent }: Pick<TurnContext, 'agent'>): StoredMessage[] {
  const { closing, message, end, text, isKept = false } = ending
  if (message) return [message]
  if (closing === undefined) return []
  const said = isKept || end === 'max-iterations' || text === '' ? closing : `${text}\n\n${closing}`
  return [agent.redact(assistantMessage(said))]
}

/** The cause of the end of a turn, as an error for the caller. */
export function toFault(cause: unknown): NexusError {
  return isNexusError(cause) ? cause : new NexusError('INTERNAL', TURNS.fault().message, { cause })
}

/** The model was not asked: the store or the search for skills failed, or the caller cancelled first. */
export function notBegun(
  { id: turnId, sessionId, use }: TurnRecord,
  error: unknown,
  isCancelled: boolean,
): FinishedTurn {
  const result = { turnId, sessionId, text: '', usage: use }
  if (isCancelled) return { result: { ...result, end: 'cancelled' }, messages: [assistantMessage(CLOSING.cancelled)] }
  return { result: { ...result, end: 'failed', error: toFault(error) }, messages: [assistantMessage(CLOSING.failed)] }
}

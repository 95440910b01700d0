/** compaction: a turn that a person asks for, in which the model sums up the whole history. */
import type { StoredMessage } from '../../../store/index.ts'
import { cancelled, type Ending, type FinishedTurn, stopped, toResult, unanswered } from '../endings.ts'
import { NOTICES } from '../messages.ts'
import { notesOf } from '../stored-message.ts'
import { estimatePrompt, sumUsage } from '../tokens.ts'
import type { TurnUsage } from '../events.ts'
import { chooseCut } from './choose-cut.ts'
import { shownMessages } from './cuts.ts'
import { type RoomParts, summarize } from './room.ts'
import { windowOf } from './settings.ts'

/** The message of such a turn. It is in the queue, never in the history. */
export function compactionRequest(): StoredMessage {
  return { role: 'user', content: 'Compact the history.', providerOptions: { nexus: { does: 'compact' } } }
}

export function isCompactionRequest(message: StoredMessage): boolean {
  return notesOf(message).does === 'compact'
}

/** The part of the context that a summary with the kept texts of skills may take. */
const TARGET = 0.5

/** Sums up the whole history; the text of the result is the summary. Nothing joins the history unless there is one. */
export async function runCompaction(
  parts: Omit<RoomParts, 'timer' | 'live'> & {
    readonly messages: readonly StoredMessage[]
    readonly use: TurnUsage
    readonly live: { readonly timer: RoomParts['timer'] & { spentMs(): number } }
  },
): Promise<FinishedTurn> {
  const { turnId, sessionId, live, use, messages, hooks, model, emit, context, learned } = parts
  const usage = sumUsage(use, () => live.timer.spentMs())
  const end = (ending: Ending, message?: StoredMessage, tokens?: FinishedTurn['tokens']): FinishedTurn => {
    live.timer.pause()
    if (tokens) usage.add(tokens)
    const result = toResult(ending, { turnId, sessionId, usage: usage.total() })
    return { result, messages: message ? [message] : [], tokens, activeMs: usage.takeTime() }
  }
  const target = Math.floor(windowOf(context, model, learned).room * TARGET)
  const chosen = chooseCut(messages, { by: 'compaction', target, isAll: true })
  if (!chosen) return end({ end: 'done', text: NOTICES.nothingToCut() })
  const { activeMs = 0, ...spent } = usage.total()
  const stop = await hooks.beforeStep?.({ turnId, ...spent, activeMs })
  if (stop) return end(stopped(stop))
  const sizeOf = (history: readonly StoredMessage[]): number =>
    estimatePrompt({ instructions: '', tools: [], messages: shownMessages(history).map(({ message }) => message) })
      .total
  const made = await summarize({ ...parts, timer: live.timer }, messages, { chosen, target })
  if (made.type === 'empty') return end({ end: 'done', text: NOTICES.emptySummary() }, undefined, made.usage)
  if (made.type !== 'made') return end(parts.signal.aborted ? cancelled('') : unanswered(made), undefined, made.usage)
  const { by, from, to } = chosen.cut
  const [tokensBefore, tokensAfter] = [sizeOf(messages), sizeOf([...messages, made.message])]
  emit({ type: 'context-cut', by, from, to, messages: chosen.messages, tokensBefore, tokensAfter })
  return end({ end: 'done', text: made.text }, made.message, made.usage)
}
